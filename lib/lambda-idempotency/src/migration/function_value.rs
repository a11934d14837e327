//! What an old function returned, as the value of the function that took its place.

use bytes::Bytes;
use idempotency_core::Outcome;

use super::exact::keeps_its_numbers;
use crate::function::stored_json;

/// What to store of what an old function returned (JSON): that very text. One with a number that a type might read as another is stored as one
/// that cannot be read: the operation has ended, and nothing runs it again.
pub(crate) fn outcome(returned: &str) -> Outcome {
    if keeps_its_numbers(returned) {
        return stored_json(returned);
    }
    tracing::error!(
        "what an old function returned has a number that might be read as another, so its replays cannot be read"
    );
    Outcome::new(Bytes::new())
}
