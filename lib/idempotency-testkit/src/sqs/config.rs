use std::num::NonZeroU32;
use std::time::Duration;

use super::SqsError;
use super::message::LONGEST_DELAY;

/// "Amazon SQS message quotas": 1 MiB with all attributes.
pub(super) const LARGEST_MESSAGE: usize = 1_048_576;
/// "Amazon SQS message quotas", message visibility timeout.
pub(super) const LONGEST_VISIBILITY_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A queue's settings. Its kind is in its name: `….fifo` is a FIFO queue.
///
/// Durations may be shorter than the whole seconds that AWS allows, so that tests need not wait for long. Over the wire they
/// are seconds, rounded up.
///
/// ```
/// use std::time::Duration;
/// use idempotency_testkit::sqs::QueueConfig;
///
/// let config = QueueConfig::new("claims").visibility_timeout(Duration::from_secs(90)).dead_letter("claims-dlq", 5);
/// assert!(!config.is_fifo());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueConfig {
    /// Up to 80 letters, digits, hyphens and underscores, and `.fifo` for a FIFO queue.
    pub name: String,
    /// How long a received message stays invisible. Default: 30 s. At most 12 hours.
    pub visibility_timeout: Duration,
    /// How long a new message stays invisible. Default: 0. At most 15 minutes.
    pub delay: Duration,
    /// How long a message is kept. Default: 4 days. At most 14 days.
    pub retention: Duration,
    /// How long a receive call waits for a message if it does not say. Default: 0. At most 20 s.
    pub receive_wait: Duration,
    /// The largest message in bytes. Default and maximum: 1 MiB.
    pub largest_message: usize,
    /// Where messages go that were received too often.
    pub dead_letter: Option<DeadLetter>,
    /// FIFO only: a message without a deduplication id gets the SHA-256 of its body.
    pub content_based_deduplication: bool,
    /// Standard only: every how many deliveries a message is delivered once more, although it is in flight or deleted, as a
    /// standard queue may at any time. Default: never. Not a setting of AWS.
    pub duplicate_every: Option<NonZeroU32>,
}

/// The redrive policy of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The name of the dead-letter queue.
    pub queue: String,
    /// How often a message is received before it goes there.
    pub max_receive_count: u32,
}

impl QueueConfig {
    /// A queue with SQS's defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            visibility_timeout: Duration::from_secs(30),
            delay: Duration::ZERO,
            retention: 4 * DAY,
            receive_wait: Duration::ZERO,
            largest_message: LARGEST_MESSAGE,
            dead_letter: None,
            content_based_deduplication: false,
            duplicate_every: None,
        }
    }

    /// Sets [`Self::visibility_timeout`](field@Self::visibility_timeout).
    #[must_use]
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.visibility_timeout = timeout;
        self
    }

    /// Sets [`Self::delay`](field@Self::delay).
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets [`Self::retention`](field@Self::retention).
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Sets [`Self::receive_wait`](field@Self::receive_wait).
    #[must_use]
    pub fn receive_wait(mut self, wait: Duration) -> Self {
        self.receive_wait = wait;
        self
    }

    /// Sets [`Self::dead_letter`](field@Self::dead_letter): after `max_receive_count` receives a message goes to the queue of
    /// that name, which must be there already and of the same kind.
    #[must_use]
    pub fn dead_letter(mut self, queue: impl Into<String>, max_receive_count: u32) -> Self {
        self.dead_letter = Some(DeadLetter { queue: queue.into(), max_receive_count });
        self
    }

    /// Turns [`Self::content_based_deduplication`](field@Self::content_based_deduplication) on.
    #[must_use]
    pub fn content_based_deduplication(mut self) -> Self {
        self.content_based_deduplication = true;
        self
    }

    /// Delivers every `nth` message twice: see [`Self::duplicate_every`](field@Self::duplicate_every). With 1, all.
    #[must_use]
    pub fn duplicate_every(mut self, nth: NonZeroU32) -> Self {
        self.duplicate_every = Some(nth);
        self
    }

    /// Whether it is a FIFO queue.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.name.ends_with(".fifo")
    }

    /// The limits of the SQS API Reference, "SetQueueAttributes".
    pub(super) fn check(&self) -> Result<(), SqsError> {
        let stem = self.name.strip_suffix(".fifo").unwrap_or(&self.name);
        let characters = stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if stem.is_empty() || self.name.len() > 80 || !characters {
            return Err(SqsError::InvalidName { name: self.name.clone() });
        }
        let setting = |ok: bool, name, why| if ok { Ok(()) } else { Err(SqsError::InvalidSetting { name, why }) };
        let timeout = self.visibility_timeout <= LONGEST_VISIBILITY_TIMEOUT;
        setting(timeout, "VisibilityTimeout", "it is at most 12 hours")?;
        setting(self.delay <= LONGEST_DELAY, "DelaySeconds", "it is at most 15 minutes")?;
        setting(self.retention <= 14 * DAY, "MessageRetentionPeriod", "it is at most 14 days")?;
        let wait = self.receive_wait <= Duration::from_secs(20);
        setting(wait, "ReceiveMessageWaitTimeSeconds", "it is at most 20 seconds")?;
        let size = (1024..=LARGEST_MESSAGE).contains(&self.largest_message);
        setting(size, "MaximumMessageSize", "it is from 1 KiB to 1 MiB")?;
        let receives = self.dead_letter.as_ref().is_none_or(|to| (1..=1000).contains(&to.max_receive_count));
        setting(receives, "RedrivePolicy", "maxReceiveCount is from 1 to 1,000")?;
        let fifo_only = self.is_fifo() || !self.content_based_deduplication;
        setting(fifo_only, "ContentBasedDeduplication", "it is for FIFO queues only")?;
        let standard_only = !self.is_fifo() || self.duplicate_every.is_none();
        setting(standard_only, "duplicate_every", "a FIFO queue does not deliver twice")
    }
}
