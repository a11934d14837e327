use std::collections::BTreeMap;
use std::time::Duration;

use super::{Message, MessageAttribute, Receipt};

/// A message in a queue.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) body: String,
    pub(super) attributes: BTreeMap<String, MessageAttribute>,
    pub(super) group: Option<String>,
    pub(super) deduplication_id: Option<String>,
    /// FIFO only.
    pub(super) sequence_number: Option<String>,
    pub(super) sent: Duration,
    /// From when its retention counts.
    pub(super) kept_from: Duration,
    pub(super) first_received: Option<Duration>,
    /// In all queues, as `ApproximateReceiveCount` counts.
    pub(super) receive_count: u32,
    /// In this queue, as its redrive policy counts.
    pub(super) receives_here: u32,
    pub(super) visible_at: Duration,
    /// The number of its last delivery in this queue.
    pub(super) delivery: Option<u64>,
    /// The queue whose dead letter it is.
    pub(super) came_from: Option<String>,
    /// The second copy of a message that is delivered twice.
    pub(super) is_copy: bool,
}

impl Stored {
    pub(super) fn new(message: Message, id: String, now: Duration, visible_at: Duration) -> Self {
        let Message { body, attributes, group, deduplication_id, .. } = message;
        Self {
            id,
            body,
            attributes,
            group,
            deduplication_id,
            sequence_number: None,
            sent: now,
            kept_from: now,
            first_received: None,
            receive_count: 0,
            receives_here: 0,
            visible_at,
            delivery: None,
            came_from: None,
            is_copy: false,
        }
    }

    pub(super) fn is_visible(&self, now: Duration) -> bool {
        self.visible_at <= now
    }

    pub(super) fn state(&self, now: Duration) -> MessageState {
        match (self.is_visible(now), self.delivery) {
            (true, _) => MessageState::Visible,
            (false, Some(_)) => MessageState::InFlight,
            (false, None) => MessageState::Delayed,
        }
    }

    pub(super) fn show(&self, now: Duration) -> QueuedMessage {
        QueuedMessage {
            id: self.id.clone(),
            body: self.body.clone(),
            attributes: self.attributes.clone(),
            group: self.group.clone(),
            deduplication_id: self.deduplication_id.clone(),
            receive_count: self.receive_count,
            dead_letter_source: self.came_from.clone(),
            state: self.state(now),
        }
    }

    pub(super) fn received(&self, receipt: Receipt) -> Received {
        Received {
            id: self.id.clone(),
            receipt,
            body: self.body.clone(),
            attributes: self.attributes.clone(),
            group: self.group.clone(),
            deduplication_id: self.deduplication_id.clone(),
            sequence_number: self.sequence_number.clone(),
            sent: self.sent,
            first_received: self.first_received.unwrap_or_default(),
            receive_count: self.receive_count,
            dead_letter_source: self.came_from.clone(),
        }
    }
}

/// Where a message is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageState {
    /// The next receive may have it.
    Visible,
    /// Received, and neither deleted nor back.
    InFlight,
    /// Sent with a delay that is not over.
    Delayed,
}

/// A message as it lies in its queue. Looking at it is not receiving it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuedMessage {
    /// The message id.
    pub id: String,
    /// The body.
    pub body: String,
    /// The message attributes.
    pub attributes: BTreeMap<String, MessageAttribute>,
    /// The message group.
    pub group: Option<String>,
    /// The deduplication id.
    pub deduplication_id: Option<String>,
    /// How often it was received, in all queues.
    pub receive_count: u32,
    /// The name of the queue whose dead letter it is.
    pub dead_letter_source: Option<String>,
    /// Where it is in its life.
    pub state: MessageState,
}

/// A message as a receive gives it out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The message id: the same at every delivery.
    pub id: String,
    /// The receipt handle: another one at every delivery.
    pub receipt: Receipt,
    /// The body.
    pub body: String,
    /// The message attributes.
    pub attributes: BTreeMap<String, MessageAttribute>,
    /// The message group.
    pub group: Option<String>,
    /// The deduplication id.
    pub deduplication_id: Option<String>,
    /// FIFO only: grows with every message, 20 digits.
    pub sequence_number: Option<String>,
    /// When it was sent, since the Unix epoch.
    pub sent: Duration,
    /// When it was received first, since the Unix epoch.
    pub first_received: Duration,
    /// How often it was received, with this time, in all queues.
    pub receive_count: u32,
    /// The name of the queue whose dead letter it is.
    pub dead_letter_source: Option<String>,
}
