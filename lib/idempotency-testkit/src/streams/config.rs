use std::time::Duration;

use serde_json::Value;

use super::StreamError;
use super::filter::Filter;
use crate::sqs::Queue;

/// "Create an event source mapping": the largest batch of a stream.
const LARGEST_BATCH: usize = 10_000;

/// The settings of a [`super::StreamMapping`].
///
/// ```
/// use idempotency_testkit::streams::StreamConfig;
///
/// let config = StreamConfig::new().batch_size(10).maximum_retry_attempts(3).bisect_batch_on_function_error(true);
/// assert!(config.report_batch_item_failures);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamConfig {
    /// The most records that an event has. Default: 100, as in Lambda.
    pub batch_size: usize,
    /// How often a batch that failed is tried again before it is given up. Default: `None`, for ever, as in Lambda.
    pub maximum_retry_attempts: Option<u32>,
    /// Whether a batch that failed as a whole is tried again in two halves, which does not count as a retry. Default: false.
    pub bisect_batch_on_function_error: bool,
    /// Whether the function's answer may name the record to go on from (`ReportBatchItemFailures`). Default: true, unlike Lambda's.
    pub report_batch_item_failures: bool,
    /// Patterns, one of which a record must fit. Default: none, which lets all pass.
    pub filters: Vec<Value>,
    /// The queue that is told of what was given up.
    pub on_failure: Option<Queue>,
    /// The wait before a retry. Default: 100 ms.
    pub retry_wait: Duration,
    /// The wait after a read that found nothing. Default: 50 ms; Lambda's is a quarter of a second.
    pub poll_wait: Duration,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            batch_size: 100,
            maximum_retry_attempts: None,
            bisect_batch_on_function_error: false,
            report_batch_item_failures: true,
            filters: Vec::new(),
            on_failure: None,
            retry_wait: Duration::from_millis(100),
            poll_wait: Duration::from_millis(50),
        }
    }
}

impl StreamConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Self::batch_size`](field@Self::batch_size).
    #[must_use]
    pub fn batch_size(mut self, records: usize) -> Self {
        self.batch_size = records;
        self
    }

    /// Sets [`Self::maximum_retry_attempts`](field@Self::maximum_retry_attempts).
    #[must_use]
    pub fn maximum_retry_attempts(mut self, retries: u32) -> Self {
        self.maximum_retry_attempts = Some(retries);
        self
    }

    /// Sets [`Self::bisect_batch_on_function_error`](field@Self::bisect_batch_on_function_error).
    #[must_use]
    pub fn bisect_batch_on_function_error(mut self, bisect: bool) -> Self {
        self.bisect_batch_on_function_error = bisect;
        self
    }

    /// Sets [`Self::report_batch_item_failures`](field@Self::report_batch_item_failures).
    #[must_use]
    pub fn report_batch_item_failures(mut self, report: bool) -> Self {
        self.report_batch_item_failures = report;
        self
    }

    /// Adds a pattern, as one of `FilterCriteria` has it: "Using event filtering with a DynamoDB event source" in the Lambda Developer
    /// Guide. Of the comparisons, equality with a string, number, boolean or null, `prefix` and `exists` are understood.
    #[must_use]
    pub fn filter(mut self, pattern: Value) -> Self {
        self.filters.push(pattern);
        self
    }

    /// Sets [`Self::on_failure`](field@Self::on_failure).
    #[must_use]
    pub fn on_failure(mut self, queue: Queue) -> Self {
        self.on_failure = Some(queue);
        self
    }

    /// Sets [`Self::retry_wait`](field@Self::retry_wait).
    #[must_use]
    pub fn retry_wait(mut self, wait: Duration) -> Self {
        self.retry_wait = wait;
        self
    }

    /// What Lambda checks when a mapping is made.
    pub(super) fn check(&self) -> Result<Vec<Filter>, StreamError> {
        if !(1..=LARGEST_BATCH).contains(&self.batch_size) {
            return Err(StreamError::BatchSize { size: self.batch_size, limit: LARGEST_BATCH });
        }
        self.filters.iter().cloned().map(Filter::new).collect()
    }
}
