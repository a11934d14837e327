//! Where a caller's key comes from.

use idempotency_core::IdempotencyKey;
use uuid::Uuid;

/// A new key: a UUID of version 7 (RFC 9562 section 5.7), so 74 random bits behind the time in milliseconds. Nobody can guess a response
/// that is stored under it, and keys sort by when they were made.
///
/// [`Idempotent`](super::Idempotent) calls it for every request without a key. Call it yourself to store the key *before* you send: then a
/// process that crashes between two attempts, or between the answer and what it does with it, goes on with the same key.
///
/// ```
/// use lambda_idempotency::{client::mint_key, propagation};
///
/// let key = mint_key();
/// // Store it with the order, and then:
/// let (name, value) = propagation::http_header(&key);
/// assert_eq!((name.as_str(), value.len()), ("idempotency-key", 36));
/// ```
pub fn mint_key() -> IdempotencyKey {
    let (key, mut buffer) = (Uuid::now_v7(), Uuid::encode_buffer());
    // A UUID's text is 36 characters of visible ASCII, so this ends at once.
    IdempotencyKey::new(&*key.hyphenated().encode_lower(&mut buffer)).unwrap_or_else(|_| mint_key())
}
