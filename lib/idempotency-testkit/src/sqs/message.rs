use std::collections::BTreeMap;
use std::time::Duration;

use super::{MessageAttribute, SqsError};

/// "Amazon SQS message quotas": up to 10 attributes.
const MOST_ATTRIBUTES: usize = 10;
/// "Amazon SQS message quotas": group and deduplication ids have up to 128 characters.
const LONGEST_ID: usize = 128;
/// "Amazon SQS message quotas", message timer.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

/// A message to be sent.
///
/// ```
/// use idempotency_testkit::sqs::Message;
///
/// let message = Message::new(r#"{"claim":17}"#).attribute("Idempotency-Key", "claim-17");
/// assert_eq!(message.body, r#"{"claim":17}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The body: text, from 1 byte to 1 MiB together with the attributes.
    pub body: String,
    /// Message attributes by name, up to 10.
    pub attributes: BTreeMap<String, MessageAttribute>,
    /// The message group, which FIFO queues ask for.
    pub group: Option<String>,
    /// The deduplication id, for FIFO queues only.
    pub deduplication_id: Option<String>,
    /// How long it stays invisible at first. `None` is as long as the queue says. Standard queues only, up to 15 minutes.
    pub delay: Option<Duration>,
}

impl Message {
    /// A message without attributes.
    pub fn new(body: impl Into<String>) -> Self {
        let body = body.into();
        Self { body, attributes: BTreeMap::new(), group: None, deduplication_id: None, delay: None }
    }

    /// Sets a message attribute; text becomes a `String`.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<MessageAttribute>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// Sets [`Self::group`](field@Self::group).
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Sets [`Self::deduplication_id`](field@Self::deduplication_id).
    #[must_use]
    pub fn deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.deduplication_id = Some(id.into());
        self
    }

    /// Sets [`Self::delay`](field@Self::delay).
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Bytes that count against the limit: the body and the names, types and values of the attributes.
    pub(super) fn size(&self) -> usize {
        let attributes = self.attributes.iter().map(|(name, attribute)| name.len() + attribute.size());
        self.body.len() + attributes.sum::<usize>()
    }

    /// What holds for every queue.
    pub(super) fn check(&self, limit: usize) -> Result<(), SqsError> {
        if self.body.is_empty() {
            return Err(SqsError::EmptyBody);
        }
        if self.size() > limit {
            return Err(SqsError::TooLarge { size: self.size(), limit });
        }
        if !self.body.chars().all(is_allowed) {
            return Err(SqsError::InvalidContent);
        }
        if self.attributes.len() > MOST_ATTRIBUTES {
            return Err(SqsError::TooManyAttributes { count: self.attributes.len() });
        }
        for (name, attribute) in &self.attributes {
            check_attribute(name, attribute)?;
        }
        if self.delay.is_some_and(|delay| delay > LONGEST_DELAY) {
            return Err(SqsError::InvalidParameter { name: "DelaySeconds", why: "it must be 0 to 900" });
        }
        check_id("MessageGroupId", self.group.as_deref())?;
        check_id("MessageDeduplicationId", self.deduplication_id.as_deref())
    }
}

/// "Amazon SQS message quotas", message content: the characters of XML 1.0.
fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// "Amazon SQS message metadata" in the SQS Developer Guide, "Message attribute components".
fn check_attribute(name: &str, attribute: &MessageAttribute) -> Result<(), SqsError> {
    let invalid = |why| Err(SqsError::InvalidAttribute { name: name.to_owned(), why });
    let characters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if name.is_empty() || name.len() > 256 || !characters {
        return invalid("a name has 1 to 256 letters, digits, underscores, hyphens and periods");
    }
    if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return invalid("a name has no period at its ends and no two in a row");
    }
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("aws.") || lower.starts_with("amazon.") {
        return invalid("a name must not begin with `AWS.` or `Amazon.`");
    }
    if attribute.is_empty() { invalid("a value must not be empty") } else { Ok(()) }
}

fn check_id(name: &'static str, id: Option<&str>) -> Result<(), SqsError> {
    let Some(id) = id else { return Ok(()) };
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(|c| c.is_ascii_graphic()) {
        return Err(SqsError::InvalidParameter { name, why: "it must have 1 to 128 visible ASCII characters" });
    }
    Ok(())
}
