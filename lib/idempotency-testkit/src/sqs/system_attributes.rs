use std::collections::BTreeMap;

use super::Received;
use super::shared::arn;
use crate::clock::epoch_millis;
use crate::local::ACCESS_KEY_ID;

impl Received {
    /// What SQS says about the message: the SQS API Reference, "ReceiveMessage", `MessageSystemAttributeNames`.
    #[must_use]
    pub fn system_attributes(&self) -> BTreeMap<&'static str, String> {
        let always = [
            ("ApproximateReceiveCount", Some(self.receive_count.to_string())),
            ("ApproximateFirstReceiveTimestamp", Some(epoch_millis(self.first_received).to_string())),
            ("SentTimestamp", Some(epoch_millis(self.sent).to_string())),
            ("SenderId", Some(ACCESS_KEY_ID.to_owned())),
        ];
        let sometimes = [
            ("MessageGroupId", self.group.clone()),
            ("MessageDeduplicationId", self.deduplication_id.clone()),
            ("SequenceNumber", self.sequence_number.clone()),
            ("DeadLetterQueueSourceArn", self.dead_letter_source.as_deref().map(arn)),
        ];
        always.into_iter().chain(sometimes).filter_map(|(name, value)| Some((name, value?))).collect()
    }
}
