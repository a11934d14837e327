use std::time::Duration;

use crate::sqs::SqsError;

/// An event source mapping could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The queue is gone.
    #[error(transparent)]
    Queue(#[from] SqsError),
    /// A batch cannot be that large.
    #[error("a batch of {size} is not 1 to {limit}: more than 10 need a standard queue and a batching window")]
    BatchSize {
        /// The configured size.
        size: usize,
        /// The limit for this queue.
        limit: usize,
    },
    /// Nothing would be invoked.
    #[error("the concurrency must be at least 1")]
    NoConcurrency,
    /// Messages would come back while the function still works on them.
    #[error(
        "the queue's visibility timeout of {visibility_timeout:?} is less than the function's timeout of \
         {function_timeout:?}: raise it, or allow it with `allow_short_visibility`"
    )]
    ShortVisibility {
        /// The queue's setting.
        visibility_timeout: Duration,
        /// The function's setting.
        function_timeout: Duration,
    },
}
