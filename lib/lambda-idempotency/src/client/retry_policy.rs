//! How often and how long a caller repeats a request.

use std::time::Duration;

use http::Method;
use idempotency_core::Window;

use super::{CircuitBreaker, OtherConflict, RetryBudget, RetryPolicyError};

/// How often and how long a caller repeats a request; checked by [`Idempotent::new`](super::Idempotent::new).
///
/// ```
/// use std::time::Duration;
/// use lambda_idempotency::client::{Idempotent, RetryPolicy};
///
/// # fn main() -> Result<(), lambda_idempotency::client::RetryPolicyError> {
/// let policy = RetryPolicy::new()
///     .horizon(Duration::from_secs(20))
///     .attempt_timeout(Duration::from_secs(5))
///     .waits(Duration::from_millis(100), Duration::from_secs(2));
/// let layer = Idempotent::new(policy)?;
///
/// // The callee remembers keys for two days and promises one of them to its callers. This would outlast the promise.
/// let policy = RetryPolicy::new().horizon(Duration::from_secs(24 * 3600));
/// assert!(Idempotent::new(policy).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RetryPolicy {
    pub(super) window: Window,
    pub(super) horizon: Duration,
    pub(super) attempt_timeout: Duration,
    pub(super) attempts: u32,
    pub(super) first_wait: Duration,
    pub(super) longest_wait: Duration,
    pub(super) methods: Vec<Method>,
    pub(super) other_conflict: OtherConflict,
    pub(super) retry_budget: Option<RetryBudget>,
    pub(super) circuit_breaker: Option<CircuitBreaker>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryPolicy {
    /// For a callee with [`Window::http`]: up to 16 attempts of at most 10 s each, begun within 1 minute; waits with full jitter from 200 ms
    /// on, doubled up to 5 s; [`RetryBudget`] and [`CircuitBreaker`] as they are by default.
    pub fn new() -> Self {
        Self {
            window: Window::http(),
            horizon: Duration::from_secs(60),
            attempt_timeout: Duration::from_secs(10),
            attempts: 16,
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(5),
            methods: vec![Method::POST, Method::PATCH],
            other_conflict: OtherConflict::default(),
            retry_budget: Some(RetryBudget::default()),
            circuit_breaker: Some(CircuitBreaker::default()),
        }
    }

    /// The callee's window. Its request TTL is how long a repetition is recognised.
    pub fn window(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// No attempt begins later than this after the first one. With the last attempt's timeout, this is the longest that a request takes.
    pub fn horizon(self, horizon: Duration) -> Self {
        Self { horizon, ..self }
    }

    /// How long one attempt may take, the answer's body included. A shorter timeout of the request or the client goes before.
    ///
    /// It may be shorter than the callee's longest run: the next attempt gets the first one's result, or is told to come again.
    pub fn attempt_timeout(self, attempt_timeout: Duration) -> Self {
        Self { attempt_timeout, ..self }
    }

    /// How many attempts there are at most, the first included.
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Before the second attempt a random time up to `first` is waited, and up to twice as long before each one after it, up to `longest`
    /// (AWS Architecture Blog, "Exponential Backoff And Jitter": full jitter). Where the callee says `Retry-After`, it is added to that.
    pub fn waits(self, first: Duration, longest: Duration) -> Self {
        Self { first_wait: first, longest_wait: longest, ..self }
    }

    /// The methods whose requests get a key; `POST` and `PATCH` by default, as on the callee's side. Of the others, those that are
    /// idempotent by definition (RFC 9110 section 9.2.2) are repeated without one, and the rest are sent once.
    pub fn methods(self, methods: impl IntoIterator<Item = Method>) -> Self {
        Self { methods: methods.into_iter().collect(), ..self }
    }

    /// What a 409 means that does not say it.
    pub fn other_conflict(self, other_conflict: OtherConflict) -> Self {
        Self { other_conflict, ..self }
    }

    /// How many repetitions there may be in proportion to requests; `None` for no limit but each request's own.
    pub fn retry_budget(self, retry_budget: impl Into<Option<RetryBudget>>) -> Self {
        Self { retry_budget: retry_budget.into(), ..self }
    }

    /// When to stop sending to a callee that fails; `None` for never.
    pub fn circuit_breaker(self, circuit_breaker: impl Into<Option<CircuitBreaker>>) -> Self {
        Self { circuit_breaker: circuit_breaker.into(), ..self }
    }

    /// Checks every choice against the others.
    pub(super) fn check(&self) -> Result<(), RetryPolicyError> {
        let (latest, request_ttl) = (self.horizon.saturating_add(self.attempt_timeout), self.window.request_ttl());
        if self.horizon.is_zero() {
            Err(RetryPolicyError::NoHorizon)
        } else if self.attempt_timeout.is_zero() {
            Err(RetryPolicyError::NoAttemptTimeout)
        } else if self.attempts == 0 {
            Err(RetryPolicyError::NoAttempts)
        } else if self.first_wait.is_zero() {
            Err(RetryPolicyError::NoWait)
        } else if self.first_wait > self.longest_wait {
            Err(RetryPolicyError::FirstWaitLongerThanLongest)
        } else if self.longest_wait > self.horizon {
            Err(RetryPolicyError::WaitBeyondHorizon)
        } else if latest > request_ttl {
            Err(RetryPolicyError::HorizonBeyondWindow { latest, request_ttl })
        } else {
            self.retry_budget.as_ref().map_or(Ok(()), RetryBudget::check)?;
            self.circuit_breaker.as_ref().map_or(Ok(()), CircuitBreaker::check)
        }
    }
}
