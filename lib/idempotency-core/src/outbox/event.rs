//! What a handler publishes.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::{EventId, IdempotencyKey, operation::is_plain_name};

/// The member of a detail that carries the key.
const KEY_MEMBER: &str = "idempotencyKey";

/// The longest source (Amazon EventBridge User Guide, "Event structure reference") and detail type (Amazon EventBridge API
/// Reference, "PutEventsRequestEntry"), in characters.
const MAX_SOURCE: usize = 256;
const MAX_DETAIL_TYPE: usize = 128;

/// The longest name of a queue without `.fifo` (Amazon SQS API Reference, "CreateQueue").
const MAX_QUEUE: usize = 80;

/// An event to be sent once the effect that it tells of has happened: to EventBridge, or to an SQS queue.
///
/// ```
/// use idempotency_core::{Event, EventError};
/// use serde_json::json;
///
/// let charged = Event::eventbridge("com.example.payments", "Charged", &json!({ "charge": "ch_1", "amount": 1200 }))?;
/// let receipt = Event::queue("receipts", &json!({ "charge": "ch_1" }))?;
///
/// let refused = Event::eventbridge("com.example.payments", "Charged", &["ch_1"]);
/// assert!(matches!(refused, Err(EventError::NoObject)));
/// # Ok::<_, EventError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    pub(crate) destination: Destination,
    pub(crate) body: String,
    pub(crate) key: Option<IdempotencyKey>,
}

/// Where an event goes. Which bus and which queue that is, the relay's environment says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// To the event bus.
    EventBridge {
        /// Who publishes it.
        source: String,
        /// What it tells of.
        detail_type: String,
    },
    /// To a queue.
    Queue {
        /// The queue's logical name.
        name: String,
    },
}

/// Why something is no event that could be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The value has no JSON form.
    #[error("the event cannot be written as JSON")]
    NotJson(#[source] serde_json::Error),
    /// The detail is JSON, and no object.
    #[error("the detail of an EventBridge event must be a JSON object; wrap the value in one")]
    NoObject,
    /// The detail has a member that the relay sets.
    #[error(
        "the detail has a member {member:?}, which the relay sets; give it another name, or set the key by `with_key`"
    )]
    Reserved {
        /// The member's name.
        member: &'static str,
    },
    /// The source is none.
    #[error(
        "an event's source must be 1 to {MAX_SOURCE} characters and not begin with \"aws.\", which EventBridge keeps to AWS itself"
    )]
    Source,
    /// The detail type is none.
    #[error("an event's detail type must be 1 to {MAX_DETAIL_TYPE} characters")]
    DetailType,
    /// The queue's name is none.
    #[error(
        "a queue's name must be 1 to {MAX_QUEUE} characters out of letters, digits, '-' and '_'; its URL stands in the relay's environment"
    )]
    QueueName,
    /// There is more of it than every bus and queue takes.
    #[error("the event has {size} bytes, the limit is {limit}; store the data elsewhere and publish where it is")]
    TooLarge {
        /// Bytes of the body, and for EventBridge of source and detail type too.
        size: usize,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl Event {
    /// The most bytes of an event: 256 KiB without 1 KiB that is left for the key and the id.
    ///
    /// This is what every bus and queue takes, whenever it was set up. Both services take up to 1 MiB by now (`PutEvents` and
    /// `SendMessage` in their API references), of which a DynamoDB item of 400 KB would not leave much; but a queue may be set to less
    /// (`MaximumMessageSize`, before 2025 at most 256 KiB) and so may what an event passes through later.
    pub const MAX_SIZE: usize = 255 * 1024;

    /// An event for EventBridge.
    ///
    /// The relay adds two members to the detail: `idempotencyKey`, and `outboxEventId` ([`EventId::MEMBER`]).
    ///
    /// # Errors
    ///
    /// [`EventError`] when the detail is no JSON object or too large, or a name is not what EventBridge takes.
    pub fn eventbridge(
        source: impl Into<String>,
        detail_type: impl Into<String>,
        detail: &(impl Serialize + ?Sized),
    ) -> Result<Self, EventError> {
        let (source, detail_type) = (source.into(), detail_type.into());
        if source.starts_with("aws.") || !has_length(&source, MAX_SOURCE) {
            return Err(EventError::Source);
        }
        if !has_length(&detail_type, MAX_DETAIL_TYPE) {
            return Err(EventError::DetailType);
        }
        let Value::Object(detail) = serde_json::to_value(detail).map_err(EventError::NotJson)? else {
            return Err(EventError::NoObject);
        };
        if let Some(member) = [KEY_MEMBER, EventId::MEMBER].into_iter().find(|member| detail.contains_key(*member)) {
            return Err(EventError::Reserved { member });
        }
        let body = Value::Object(detail).to_string();
        let size = source.len().saturating_add(detail_type.len()).saturating_add(body.len());
        Self { destination: Destination::EventBridge { source, detail_type }, body, key: None }.within_limit(size)
    }

    /// A message for the queue that the relay's environment knows by this name.
    ///
    /// The body is the value as JSON. The key and the id ([`EventId::ATTRIBUTE`]) are attributes of the message.
    ///
    /// # Errors
    ///
    /// [`EventError`] when the body has no JSON form or is too large, or the name is none.
    pub fn queue(name: impl Into<String>, body: &(impl Serialize + ?Sized)) -> Result<Self, EventError> {
        let name = name.into();
        if !is_plain_name(&name, MAX_QUEUE) || name.contains('.') {
            return Err(EventError::QueueName);
        }
        let body = without_noncharacters(serde_json::to_string(body).map_err(EventError::NotJson)?);
        let size = body.len();
        Self { destination: Destination::Queue { name }, body, key: None }.within_limit(size)
    }

    /// Replaces the key that the receiver gets. Without it that is the event's own id, by which a receiver can tell two events of one
    /// operation apart; a key of your own must do that too.
    #[must_use]
    pub fn with_key(mut self, key: &IdempotencyKey) -> Self {
        self.key = Some(key.clone());
        self
    }

    /// Where it goes.
    pub const fn destination(&self) -> &Destination {
        &self.destination
    }

    /// The detail or the message's body: JSON text.
    pub fn body(&self) -> &str {
        &self.body
    }

    fn within_limit(self, size: usize) -> Result<Self, EventError> {
        if size > Self::MAX_SIZE { Err(EventError::TooLarge { size, limit: Self::MAX_SIZE }) } else { Ok(self) }
    }
}

fn has_length(text: &str, max: usize) -> bool {
    !text.is_empty() && text.chars().count() <= max
}

/// SQS refuses messages with U+FFFE or U+FFFF for good (Amazon SQS API Reference, "SendMessage"); JSON can spell them in ASCII. In
/// JSON text they stand inside of strings only, so replacing them changes no value.
fn without_noncharacters(json: String) -> String {
    if !json.contains(['\u{FFFE}', '\u{FFFF}']) {
        return json;
    }
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}

/// Shows where it goes and how much it is, not what it says: events are about customers and do not belong into logs.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("destination", &self.destination)
            .field("bytes", &self.body.len())
            .field("key", &self.key)
            .finish()
    }
}

#[cfg(test)]
mod tests;
