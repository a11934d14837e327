//! The event bus.

use aws_sdk_eventbridge::{Client, primitives::DateTime, types::PutEventsRequestEntry};
use idempotency_core::{EventId, OutboxEntry};
use lambda_idempotency::propagation;
use serde_json::Value;

use crate::send_error::SendError;

/// The bus that events are put on.
#[derive(Debug)]
pub(crate) struct Bus {
    client: Client,
    name: String,
}

impl Bus {
    pub(crate) const fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    /// The entry of `PutEvents` for an event.
    ///
    /// # Errors
    ///
    /// When the body is not a JSON object, which it was when it was staged.
    pub(crate) fn entry(
        &self,
        source: &str,
        detail_type: &str,
        entry: &OutboxEntry,
    ) -> Result<PutEventsRequestEntry, SendError> {
        Ok(PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(source)
            .detail_type(detail_type)
            .detail(detail(entry)?)
            // The same however often it is sent.
            .time(DateTime::from_millis(entry.created_at.get()))
            .build())
    }

    /// Puts events on the bus. What became of each is in their order.
    ///
    /// # Errors
    ///
    /// When the request as a whole failed: of each of its events it is unknown whether it was sent, unless it was refused.
    pub(crate) async fn put(
        &self,
        entries: Vec<PutEventsRequestEntry>,
    ) -> Result<Vec<Result<(), SendError>>, SendError> {
        let count = entries.len();
        let put = self.client.put_events().set_entries(Some(entries)).send().await.map_err(SendError::of_request)?;
        let results = put.entries().iter().map(|result| match result.event_id() {
            Some(_) => Ok(()),
            None => Err(SendError::of_entry(result.error_code(), result.error_message())),
        });
        Ok(results.chain(std::iter::repeat_with(|| Err(SendError::of_entry(None, None)))).take(count).collect())
    }
}

/// Bytes as EventBridge counts them (Amazon EventBridge User Guide, "Calculating Amazon EventBridge PutEvents event entry size").
pub(crate) fn size(entry: &PutEventsRequestEntry) -> usize {
    let texts = [entry.source(), entry.detail_type(), entry.detail()];
    14 + texts.into_iter().flatten().map(str::len).sum::<usize>()
}

fn detail(entry: &OutboxEntry) -> Result<String, SendError> {
    let detail = serde_json::from_str::<Value>(&entry.body).map_err(|_| SendError::Detail)?;
    let mut detail = propagation::into_json(detail, &entry.key).map_err(|_| SendError::Detail)?;
    if let Some(members) = detail.as_object_mut() {
        members.insert(EventId::MEMBER.to_owned(), Value::from(entry.id.as_str()));
    }
    Ok(detail.to_string())
}

#[cfg(test)]
mod tests {
    use idempotency_core::{EpochMillis, EpochSeconds, Event, ExecutionId, RecordKey};
    use serde_json::json;

    use super::*;

    #[test]
    fn no_member_that_the_relay_sets_can_be_staged() {
        for member in [propagation::KEY_MEMBER, EventId::MEMBER] {
            assert!(Event::eventbridge("s", "d", &json!({ member: 1 })).is_err(), "{member}");
        }
    }

    #[test]
    fn the_largest_event_has_room_for_the_longest_key_and_stays_below_the_limit() {
        let key = lambda_idempotency::IdempotencyKey::new("\"".repeat(255)).unwrap();
        let detail_of = |bytes: usize| json!({ "m": "a".repeat(bytes - 2 - 8) });
        let event = Event::eventbridge("s", "d", &detail_of(Event::MAX_SIZE)).unwrap().with_key(&key);
        let (record, execution) = (RecordKey::from_stored("dev#a#v1#h"), ExecutionId::from_bytes([1; 16]));
        let entry =
            OutboxEntry::new(&record, execution, 0, event, EpochMillis::new(i64::MAX), EpochSeconds::new(i64::MAX));
        assert!(detail(&entry).unwrap().len() + 2 + 14 < 256 * 1024);
        assert!(entry.size() < 400_000);
    }
}
