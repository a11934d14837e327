//! What only FIFO queues have: sequence numbers, the memory of deduplication ids, and groups that wait.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::stored::{MessageState, Stored};
use super::{Message, Sent, SqsError};

/// "Using the Amazon SQS message deduplication ID" in the SQS Developer Guide: the deduplication interval is 5 minutes.
const DEDUPLICATION_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// A number of the guide's examples; sequence numbers have 20 digits and do not follow each other closely.
const FIRST_SEQUENCE_NUMBER: u128 = 18_849_496_460_467_696_128;
const SEQUENCE_STEP: u128 = 256;

#[derive(Debug, Default)]
pub(super) struct Fifo {
    numbered: u128,
    /// What was sent in the last five minutes, deleted or not.
    recent: HashMap<String, (Duration, Sent)>,
}

impl Fifo {
    pub(super) fn next_sequence_number(&mut self) -> String {
        self.numbered += 1;
        (FIRST_SEQUENCE_NUMBER + self.numbered * SEQUENCE_STEP).to_string()
    }

    /// What a message of this deduplication id was answered within the interval.
    pub(super) fn sent_before(&mut self, deduplication_id: &str, now: Duration) -> Option<Sent> {
        self.recent.retain(|_, (at, _)| now.saturating_sub(*at) < DEDUPLICATION_INTERVAL);
        self.recent.get(deduplication_id).map(|(_, sent)| sent.clone())
    }

    pub(super) fn remember(&mut self, deduplication_id: String, now: Duration, sent: Sent) {
        self.recent.insert(deduplication_id, (now, sent));
    }
}

/// The deduplication id of a message, as a FIFO queue asks for one.
pub(super) fn deduplication_id(message: &Message, content_based: bool) -> Result<String, SqsError> {
    if message.group.is_none() {
        return Err(SqsError::MissingParameter { name: "MessageGroupId" });
    }
    if message.delay.is_some_and(|delay| !delay.is_zero()) {
        return Err(SqsError::InvalidParameter { name: "DelaySeconds", why: "a FIFO queue delays all or none" });
    }
    match &message.deduplication_id {
        Some(id) => Ok(id.clone()),
        // Of the body only, not of the attributes.
        None if content_based => Ok(hex(&Sha256::digest(&message.body))),
        None => Err(SqsError::InvalidParameter {
            name: "MessageDeduplicationId",
            why: "the queue needs one, or ContentBasedDeduplication",
        }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The groups of which nothing is handed out now: one of their messages is in flight.
pub(super) fn groups_in_flight<'a>(messages: impl IntoIterator<Item = &'a Stored>, now: Duration) -> HashSet<String> {
    let in_flight = messages.into_iter().filter(|message| message.state(now) == MessageState::InFlight);
    in_flight.filter_map(|message| message.group.clone()).collect()
}
