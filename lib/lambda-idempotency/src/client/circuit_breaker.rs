//! When to stop sending to a callee that fails.

use std::time::Duration;

use recloser::{AsyncRecloser, Error, Recloser};

use super::RetryPolicyError;

/// The longest time that a circuit stays open.
const LONGEST_OPEN: Duration = Duration::from_secs(24 * 3600);

/// When to stop sending to a callee that fails. All requests of one [`Idempotent`](super::Idempotent) and its clones share it, so make one
/// per callee.
///
/// An attempt failed if there was no answer, or a transient one (`429`, `5xx` and what else is retried by itself). A conflict, a mismatch,
/// a `4xx` and every stored answer are signs of a callee that is well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircuitBreaker {
    attempts: usize,
    failure_rate: f32,
    open_for: Duration,
}

impl CircuitBreaker {
    /// Once more than `attempts` attempts have ended, the circuit opens when `failure_rate` of the last `attempts` failed. For
    /// `open_for` nothing is sent; then two attempts decide whether it closes.
    pub const fn new(attempts: usize, failure_rate: f32, open_for: Duration) -> Self {
        Self { attempts, failure_rate, open_for }
    }

    pub(super) fn check(&self) -> Result<(), RetryPolicyError> {
        let rate = self.failure_rate > 0.0 && self.failure_rate <= 1.0;
        let time = !self.open_for.is_zero() && self.open_for <= LONGEST_OPEN;
        if self.attempts > 0 && rate && time { Ok(()) } else { Err(RetryPolicyError::CircuitBreaker) }
    }
}

/// Half of the last 20 attempts, for 5 seconds.
impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::new(20, 0.5, Duration::from_secs(5))
    }
}

/// The circuit is open: nothing was sent.
#[derive(Debug)]
pub(super) struct Open;

/// Whether a callee is sent to.
#[derive(Debug)]
pub(super) struct Circuit(Option<AsyncRecloser>);

impl Circuit {
    pub(super) fn new(breaker: Option<CircuitBreaker>) -> Self {
        Self(breaker.map(|breaker| {
            let recloser = Recloser::custom()
                .error_rate(breaker.failure_rate)
                .closed_len(breaker.attempts)
                // A ring of one decides when it is written a second time.
                .half_open_len(1)
                .open_wait(breaker.open_for);
            AsyncRecloser::from(recloser.build())
        }))
    }

    /// Makes an attempt unless the circuit is open, and counts how it went.
    ///
    /// A future that is dropped counts as nothing.
    pub(super) async fn attempt<T>(
        &self,
        attempt: impl Future<Output = T>,
        failed: impl Fn(&T) -> bool,
    ) -> Result<T, Open> {
        let Some(recloser) = &self.0 else { return Ok(attempt.await) };
        let counted = async {
            let outcome = attempt.await;
            if failed(&outcome) { Err(outcome) } else { Ok(outcome) }
        };
        match recloser.call(counted).await {
            Ok(outcome) | Err(Error::Inner(outcome)) => Ok(outcome),
            Err(Error::Rejected) => Err(Open),
        }
    }
}
