/// What an [`super::AsyncInvoker`] has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsyncCounts {
    /// Events that were taken.
    pub accepted: u64,
    /// Events, with their duplicates, that are neither done nor given up.
    pub pending: u64,
    /// Invocations that reached the function, whatever they came to.
    pub attempts: u64,
    /// Tries for which no sandbox was free, or none could be started.
    pub throttled: u64,
    /// Events that succeeded.
    pub succeeded: u64,
    /// Events that were given up.
    pub failed: u64,
    /// Failed events that a dead-letter queue or destination did not take (`DeadLetterErrors`, `DestinationDeliveryFailures`).
    pub undelivered: u64,
    /// Events that were pending when the function was shut down. Lambda has no such thing.
    pub lost: u64,
}

/// An event is larger than an asynchronous invocation may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of {size} bytes is over the limit of {limit} bytes of asynchronous invocations")]
pub struct AsyncTooLarge {
    /// Its size.
    pub size: usize,
    /// The limit it is over.
    pub limit: usize,
}
