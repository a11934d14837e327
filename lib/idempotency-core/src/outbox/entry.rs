//! A staged event as it is stored.

use std::fmt;

use super::{Destination, Event, EventId};
use crate::{EpochMillis, EpochSeconds, ExecutionId, IdempotencyKey, RecordKey};

/// An event that was staged with an effect, as it stands beside the effect's record: written with it, read from the table's stream
/// by the relay, and gone with the time to live.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The record of the operation that published it.
    pub record_key: RecordKey,
    /// The execution that published it.
    pub execution: ExecutionId,
    /// Its place among the events of the execution, from 0.
    pub ordinal: u32,
    /// What the receiver knows it by.
    pub id: EventId,
    /// The key that the receiver gets.
    pub key: IdempotencyKey,
    /// Where it goes.
    pub destination: Destination,
    /// The detail or the message's body: JSON text.
    pub body: String,
    /// When it was staged.
    pub created_at: EpochMillis,
    /// From when on it may be removed, sent or not.
    pub expires_at: EpochSeconds,
}

impl OutboxEntry {
    /// What the sort key of every entry begins with, and that of nothing else.
    pub const SORT_KEY_PREFIX: &str = "outbox#";

    /// The version of the stored layout. An entry with another version is never taken for absent.
    pub const SCHEMA: u32 = 1;

    /// The entry of an event with this place among those of an execution.
    pub fn new(
        record_key: &RecordKey,
        execution: ExecutionId,
        ordinal: u32,
        event: Event,
        created_at: EpochMillis,
        expires_at: EpochSeconds,
    ) -> Self {
        let Event { destination, body, key } = event;
        let id = EventId::new(record_key, execution, ordinal);
        let key = key.unwrap_or_else(|| id.to_key());
        Self { record_key: record_key.clone(), execution, ordinal, id, key, destination, body, created_at, expires_at }
    }

    /// Where it stands beside its record: `outbox#{execution}#{ordinal}`, so that entries of one execution are in order there.
    pub fn sort_key(&self) -> String {
        format!("{}{}#{:04}", Self::SORT_KEY_PREFIX, self.execution, self.ordinal)
    }

    /// The bytes of its item as DynamoDB counts them: names and values (Amazon DynamoDB Developer Guide, "DynamoDB item sizes and
    /// formats"). A transaction may have 4 MB of such, an item 400 KB.
    pub fn size(&self) -> usize {
        let destination = match &self.destination {
            Destination::EventBridge { source, detail_type } => {
                "to".len() + "eventbridge".len() + text("source", source) + text("detail_type", detail_type)
            }
            Destination::Queue { name } => "to".len() + "sqs".len() + text("queue", name),
        };
        [
            text("pk", self.record_key.as_str()),
            text("sk", &self.sort_key()),
            "execution".len() + self.execution.as_bytes().len(),
            text("event_id", self.id.as_str()),
            text("key", self.key.as_str()),
            destination,
            text("body", &self.body),
            number("created_at", self.created_at.get()),
            number("expires_at", self.expires_at.get()),
            number("schema", Self::SCHEMA),
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
    }
}

fn text(name: &str, value: &str) -> usize {
    name.len().saturating_add(value.len())
}

/// One byte for two digits, and one.
fn number(name: &str, value: impl ToString) -> usize {
    name.len() + value.to_string().len().div_ceil(2) + 1
}

/// Shows what it is and where it goes, not what it says: events are about customers and do not belong into logs.
impl fmt::Debug for OutboxEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxEntry")
            .field("record_key", &self.record_key)
            .field("sort_key", &self.sort_key())
            .field("id", &self.id)
            .field("destination", &self.destination)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ordinal: u32, event: Event) -> OutboxEntry {
        OutboxEntry::new(
            &RecordKey::from_stored("dev#charge#v1#abc"),
            ExecutionId::from_bytes([2; 16]),
            ordinal,
            event,
            EpochMillis::new(1_700_000_000_000),
            EpochSeconds::new(1_700_172_800),
        )
    }

    #[test]
    fn the_key_is_the_id_of_the_event_unless_one_is_given() {
        let event = Event::queue("q", &1).unwrap();
        let (first, second) = (entry(0, event.clone()), entry(1, event.clone()));
        assert_eq!(first.key.as_str(), first.id.as_str());
        assert_ne!(first.key, second.key);
        let key = IdempotencyKey::new("order-42").unwrap();
        let given = entry(0, event.with_key(&key));
        assert_eq!((given.key, given.id), (key, first.id));
    }

    #[test]
    fn entries_of_one_execution_are_sorted_as_they_were_published() {
        let keys: Vec<_> = [0, 9, 10, 99].map(|at| entry(at, Event::queue("q", &1).unwrap()).sort_key()).into();
        assert_eq!(keys[0], "outbox#AgICAgICAgICAgICAgICAg#0000");
        assert!(keys.is_sorted());
    }

    #[test]
    fn debug_does_not_show_the_body() {
        let shown = format!("{:?}", entry(0, Event::queue("q", "secret").unwrap()));
        assert!(shown.contains("outbox#") && !shown.contains("secret"), "{shown}");
    }
}
