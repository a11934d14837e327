//! Why a retry policy is none.

use std::time::Duration;

/// Why a [`RetryPolicy`](super::RetryPolicy) cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryPolicyError {
    /// A repetition could arrive when the callee no longer knows the key, and would be carried out a second time.
    #[error(
        "an attempt could end {latest:?} after the first (the horizon and one attempt's timeout), and the callee's window lets callers \
         retry for {request_ttl:?}: shorten the horizon, or say which window the callee has"
    )]
    HorizonBeyondWindow {
        /// When the last attempt may end, counted from the first.
        latest: Duration,
        /// How long the callee's window lets callers retry.
        request_ttl: Duration,
    },
    /// The horizon is zero.
    #[error("the horizon must be more than zero; for a single attempt, set `attempts(1)`")]
    NoHorizon,
    /// The attempts' timeout is zero.
    #[error("an attempt's timeout must be more than zero")]
    NoAttemptTimeout,
    /// There is no attempt.
    #[error("there must be at least one attempt")]
    NoAttempts,
    /// The first wait is zero, and so is twice as much.
    #[error("the first wait must be more than zero")]
    NoWait,
    /// The first wait is longer than the longest.
    #[error("the longest wait must be at least as long as the first")]
    FirstWaitLongerThanLongest,
    /// A wait could outlast the horizon.
    #[error("the longest wait must not be longer than the horizon")]
    WaitBeyondHorizon,
    /// The retry budget's ratio is no ratio.
    #[error("a retry budget's ratio must be from 0 to 1000, and its retries per second below 2,147,483,647")]
    RetryBudget,
    /// The circuit breaker could never open, or never close.
    #[error(
        "a circuit breaker needs at least one attempt to look at, a failure rate above 0 and at most 1, and a time to stay open that is \
         more than zero and at most a day"
    )]
    CircuitBreaker,
}
