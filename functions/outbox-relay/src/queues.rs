//! The queues.

use std::collections::BTreeMap;

use aws_sdk_sqs::{
    Client,
    types::{MessageAttributeValue, SendMessageBatchRequestEntry},
};
use idempotency_core::{EventId, OutboxEntry, RecordKey};
use lambda_idempotency::propagation::{KEY_NAME, WithKey as _};

use crate::send_error::SendError;

/// The longest message group id (Amazon SQS API Reference, "SendMessage").
const LONGEST_GROUP: usize = 128;

/// The queues that messages are sent to, by the names that handlers know them by.
#[derive(Debug)]
pub(crate) struct Queues {
    client: Client,
    urls: BTreeMap<String, String>,
}

impl Queues {
    pub(crate) const fn new(client: Client, urls: BTreeMap<String, String>) -> Self {
        Self { client, urls }
    }

    /// The URL of a queue.
    pub(crate) fn url(&self, name: &str) -> Option<&str> {
        self.urls.get(name).map(String::as_str)
    }

    /// Sends messages to one queue. What became of each is in their order.
    ///
    /// # Errors
    ///
    /// When the request as a whole failed: of each of its messages it is unknown whether it was sent, unless it was refused.
    pub(crate) async fn send(
        &self,
        url: &str,
        messages: Vec<SendMessageBatchRequestEntry>,
    ) -> Result<Vec<Result<(), SendError>>, SendError> {
        let ids: Vec<_> = messages.iter().map(|message| message.id().to_owned()).collect();
        let request = self.client.send_message_batch().queue_url(url).set_entries(Some(messages));
        let sent = request.send().await.map_err(SendError::of_request)?;
        let result = |id: &String| {
            let failed = sent.failed().iter().find(|failed| failed.id() == id);
            match failed {
                None if sent.successful().iter().any(|taken| taken.id() == id) => Ok(()),
                None => Err(SendError::of_entry(None, None)),
                Some(failed) => Err(SendError::of_entry(Some(failed.code()), failed.message())),
            }
        };
        Ok(ids.iter().map(result).collect())
    }
}

/// The entry of `SendMessageBatch` for an event. `place` is its place in the request.
pub(crate) fn message(url: &str, place: usize, entry: &OutboxEntry) -> Result<SendMessageBatchRequestEntry, SendError> {
    let failed = |error: aws_sdk_sqs::error::BuildError| SendError::Failed(error.to_string());
    let id = MessageAttributeValue::builder().data_type("String").string_value(entry.id.as_str()).build();
    let message = SendMessageBatchRequestEntry::builder()
        .id(place.to_string())
        .message_body(&entry.body)
        .message_attributes(EventId::ATTRIBUTE, id.map_err(failed)?)
        .idempotency_key(&entry.key);
    let message = if url.ends_with(".fifo") {
        message.message_group_id(group(&entry.record_key)).message_deduplication_id(entry.id.as_str())
    } else {
        message
    };
    message.build().map_err(failed)
}

/// The bytes of a message: its body and its attributes' names, types and values (Amazon SQS Developer Guide, "Amazon SQS message
/// quotas").
pub(crate) fn size(entry: &OutboxEntry) -> usize {
    let attribute = |name: &str, value: &str| name.len() + "String".len() + value.len();
    entry.body.len() + attribute(KEY_NAME, entry.key.as_str()) + attribute(EventId::ATTRIBUTE, entry.id.as_str())
}

/// What is in order in a FIFO queue: the events of one record. The hash at the end of its key stands for a key that is too long; if
/// two records had the same, their events would be in order with one another, too.
fn group(record_key: &RecordKey) -> &str {
    let key = record_key.as_str();
    if key.len() <= LONGEST_GROUP { key } else { key.rsplit('#').next().unwrap_or(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_the_record_and_fits() {
        let short = RecordKey::from_stored("dev#charge#v1#abc");
        assert_eq!(group(&short), "dev#charge#v1#abc");
        let hash = "Ha316Il6OKsAWPsSzQQPRfJgSFyKkBCly_IgVimuCnM";
        let long = RecordKey::from_stored(format!("{}#{}#v1#{hash}", "n".repeat(64), "o".repeat(64)));
        assert_eq!(group(&long), hash);
    }
}
