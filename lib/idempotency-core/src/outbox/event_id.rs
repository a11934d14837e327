//! The identity of a staged event.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{ExecutionId, IdempotencyKey, RecordKey, hash::PartsHasher};

/// What a receiver knows a staged event by, however often it is sent: 43 characters of URL-safe base64.
///
/// A hash of the record's key, the execution and the event's place among those of the execution. So it is the same in every attempt
/// of one execution, and another one for every other event; as a deduplication id of a FIFO queue (at most 128 characters) it fits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(String);

impl EventId {
    /// The member of an EventBridge event's detail that has the id.
    pub const MEMBER: &str = "outboxEventId";

    /// The attribute of an SQS message that has the id.
    pub const ATTRIBUTE: &str = "Outbox-Event-Id";

    /// The id of the event with this place among those of an execution.
    pub fn new(record_key: &RecordKey, execution: ExecutionId, ordinal: u32) -> Self {
        let hash = PartsHasher::new("idempotency-outbox-event-id-v1")
            .part(record_key.as_str().as_bytes())
            .part(execution.as_bytes())
            .part(&ordinal.to_be_bytes())
            .finish();
        Self(URL_SAFE_NO_PAD.encode(hash))
    }

    /// Takes an id as it is stored in the table. It is not computed again, so a later release may compute it in another way.
    pub fn from_stored(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as the key that the receiver of the event gets.
    pub(crate) fn to_key(&self) -> IdempotencyKey {
        IdempotencyKey::from_hash(self.0.clone())
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventId({})", self.0)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_the_same_place_of_the_same_execution_of_the_same_record_has_the_same_id(
            a in ("[a#]{1,2}", 0..2_u8, 0..3_u32),
            b in ("[a#]{1,2}", 0..2_u8, 0..3_u32),
        ) {
            let id = |(pk, execution, ordinal): &(String, u8, u32)| {
                EventId::new(&RecordKey::from_stored(pk), ExecutionId::from_bytes([*execution; 16]), *ordinal)
            };
            prop_assert_eq!(id(&a) == id(&b), a == b);
            prop_assert_eq!(IdempotencyKey::new(id(&a).as_str()), Ok(id(&a).to_key()));
        }
    }

    #[test]
    fn the_id_never_changes() {
        // An event that is sent again after an upgrade must be known by the id that it was first sent with: a promise.
        let id = EventId::new(&RecordKey::from_stored("dev#charge#v1#abc"), ExecutionId::from_bytes([2; 16]), 1);
        assert_eq!(id.as_str(), "Lrr5ir99EYSjXz-C2gU40BTgQjRdiWGWvjW7fli0294");
    }
}
