use std::time::Duration;

use super::MappingError;
use crate::sqs::QueueConfig;

/// "Lambda quotas" and "Create an event source mapping": the largest batch of a standard queue.
const LARGEST_BATCH: usize = 10_000;
/// The largest batch of a FIFO queue, and of any queue without a batching window.
const LARGEST_PLAIN_BATCH: usize = 10;

/// The settings of an [`super::EventSourceMapping`].
///
/// ```
/// use idempotency_testkit::sqs::MappingConfig;
///
/// let config = MappingConfig::new().batch_size(1).concurrency(4);
/// assert!(config.report_batch_item_failures);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappingConfig {
    /// The most messages that an event has. Default: 10. More than 10 need a batching window, and a standard queue.
    pub batch_size: usize,
    /// How long to gather a batch after its first message. Default: 0, which takes what is there.
    pub batching_window: Duration,
    /// How many batches are worked on at once. Default: 5, as many pollers as Lambda begins with.
    pub concurrency: usize,
    /// Whether the function's answer may name the messages that failed (`ReportBatchItemFailures`). Default: true, unlike
    /// Lambda's.
    pub report_batch_item_failures: bool,
    /// The wait between two tries of an invocation that is throttled. Default: 100 ms.
    pub throttle_wait: Duration,
    /// Whether the queue's visibility timeout may be shorter than the function's timeout, which Lambda refuses. Default: false.
    pub short_visibility: bool,
}

impl Default for MappingConfig {
    fn default() -> Self {
        Self {
            batch_size: LARGEST_PLAIN_BATCH,
            batching_window: Duration::ZERO,
            concurrency: 5,
            report_batch_item_failures: true,
            throttle_wait: Duration::from_millis(100),
            short_visibility: false,
        }
    }
}

impl MappingConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Self::batch_size`](field@Self::batch_size).
    #[must_use]
    pub fn batch_size(mut self, messages: usize) -> Self {
        self.batch_size = messages;
        self
    }

    /// Sets [`Self::batching_window`](field@Self::batching_window).
    #[must_use]
    pub fn batching_window(mut self, window: Duration) -> Self {
        self.batching_window = window;
        self
    }

    /// Sets [`Self::concurrency`](field@Self::concurrency).
    #[must_use]
    pub fn concurrency(mut self, batches: usize) -> Self {
        self.concurrency = batches;
        self
    }

    /// Sets [`Self::report_batch_item_failures`](field@Self::report_batch_item_failures).
    #[must_use]
    pub fn report_batch_item_failures(mut self, report: bool) -> Self {
        self.report_batch_item_failures = report;
        self
    }

    /// Sets [`Self::throttle_wait`](field@Self::throttle_wait).
    #[must_use]
    pub fn throttle_wait(mut self, wait: Duration) -> Self {
        self.throttle_wait = wait;
        self
    }

    /// Allows a visibility timeout below the function's timeout: messages then come back while the function still works on
    /// them, which is how a test makes two attempts at once.
    #[must_use]
    pub fn allow_short_visibility(mut self) -> Self {
        self.short_visibility = true;
        self
    }

    /// What Lambda checks when a mapping is made.
    pub(super) fn check(&self, queue: &QueueConfig, function_timeout: Duration) -> Result<(), MappingError> {
        let plain = queue.is_fifo() || self.batching_window.is_zero();
        let limit = if plain { LARGEST_PLAIN_BATCH } else { LARGEST_BATCH };
        if !(1..=limit).contains(&self.batch_size) {
            return Err(MappingError::BatchSize { size: self.batch_size, limit });
        }
        if self.concurrency == 0 {
            return Err(MappingError::NoConcurrency);
        }
        if !self.short_visibility && queue.visibility_timeout < function_timeout {
            let visibility_timeout = queue.visibility_timeout;
            return Err(MappingError::ShortVisibility { visibility_timeout, function_timeout });
        }
        Ok(())
    }
}
