//! When the next attempt begins, if there is one.

use std::{sync::Arc, time::Duration};

use idempotency_core::{Clock, EpochMillis, SystemClock};
use retry_policies::{Jitter, RetryDecision, RetryPolicy as _, policies::ExponentialBackoff};
use tokio::time::Instant;

use super::{RetryPolicy, Stopped, retry_after::system_time};

/// When the next attempt of a request begins, if there is one.
pub(super) struct Pace {
    clock: Arc<dyn Clock>,
    began: Instant,
    began_at: EpochMillis,
    horizon: Duration,
    attempts: u32,
    made: u32,
    backoff: ExponentialBackoff,
}

impl Pace {
    /// Begins with the first attempt.
    pub(super) fn begin(policy: &RetryPolicy, attempts: u32, clock: Arc<dyn Clock>) -> Self {
        let backoff = ExponentialBackoff::builder()
            .retry_bounds(policy.first_wait, policy.longest_wait)
            .jitter(Jitter::Full)
            .base(2)
            // How many there may be is this type's own to say.
            .build_with_max_retries(u32::MAX);
        let (began, began_at) = (Instant::now(), clock.now());
        Self { clock, began, began_at, horizon: policy.horizon, attempts, made: 0, backoff }
    }

    /// How many attempts were made.
    pub(super) const fn made(&self) -> u32 {
        self.made
    }

    /// Counts an attempt.
    pub(super) const fn count(&mut self) {
        self.made = self.made.saturating_add(1);
    }

    /// How long to wait before the next attempt, where the callee asks for this wait.
    pub(super) fn wait(&self, asked: Option<Duration>) -> Result<Duration, Stopped> {
        if self.made >= self.attempts {
            return Err(Stopped::Attempts);
        }
        let left = self.horizon.saturating_sub(self.elapsed());
        let asked = asked.unwrap_or_default();
        if asked > left {
            return Err(Stopped::RetryAfter(asked));
        }
        match asked.saturating_add(self.jitter()) {
            wait if wait < left => Ok(wait),
            // There is time for what was asked, if not for a part of the jitter too.
            _ if !asked.is_zero() && asked < left => Ok(asked),
            _ => Err(Stopped::Horizon),
        }
    }

    /// Whether an attempt may still begin, after a wait.
    pub(super) fn check(&self) -> Result<(), Stopped> {
        // A sandbox may have been frozen while it waited.
        if self.elapsed() > self.horizon { Err(Stopped::Horizon) } else { Ok(()) }
    }

    /// The time since the first attempt, by the clock that saw more of it: the monotonic one stands still in a machine that is
    /// suspended, and the callee's window does not.
    fn elapsed(&self) -> Duration {
        self.began.elapsed().max(self.clock.now().saturating_since(self.began_at))
    }

    /// A random part of the next step of the exponential backoff.
    fn jitter(&self) -> Duration {
        // The policies speak in times of day. What is left of a wait is asked for afterwards: before, a pause of this thread would be part of
        // it. A clock that is set back between two lines must not make a wait of it that is longer than any.
        match self.backoff.should_retry(system_time(SystemClock.now()), self.made.saturating_sub(1)) {
            RetryDecision::Retry { execute_after } => {
                let left = execute_after.duration_since(system_time(SystemClock.now())).unwrap_or_default();
                left.min(self.backoff.max_retry_interval)
            }
            RetryDecision::DoNotRetry => self.backoff.max_retry_interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace(policy: RetryPolicy) -> Pace {
        Pace::begin(&policy, policy.attempts, Arc::new(SystemClock))
    }

    #[tokio::test(start_paused = true)]
    async fn jitter_is_full_and_its_bound_doubles_up_to_the_longest() {
        let mut pace = pace(RetryPolicy::new().waits(SECOND, 5 * SECOND));
        pace.count();
        for bound in [1, 2, 4, 5, 5] {
            // Within a bound, and in its lower and upper third sooner or later: 2 * (2/3)^200 is 10^-35.
            let waits: Vec<_> = (0..200).map(|_| pace.jitter()).collect();
            assert!(waits.iter().all(|wait| *wait <= bound * SECOND), "{bound}");
            assert!(waits.iter().any(|wait| *wait < bound * SECOND / 3), "{bound}");
            assert!(waits.iter().any(|wait| *wait > bound * SECOND * 2 / 3), "{bound}");
            pace.count();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_callee_asks_for_is_the_least() {
        let pace = pace(RetryPolicy::new().waits(SECOND, SECOND));
        for _ in 0..100 {
            let wait = pace.wait(Some(7 * SECOND)).unwrap();
            assert!(wait >= 7 * SECOND && wait <= 8 * SECOND, "{wait:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_beyond_the_horizon_is_none() {
        let pace = pace(RetryPolicy::new().horizon(60 * SECOND).waits(SECOND, 5 * SECOND));
        assert_eq!(pace.wait(Some(61 * SECOND)), Err(Stopped::RetryAfter(61 * SECOND)));
        let for_ever = Duration::from_secs(u64::MAX);
        assert_eq!(pace.wait(Some(for_ever)), Err(Stopped::RetryAfter(for_ever)));
        tokio::time::advance(57 * SECOND).await;
        assert_eq!(pace.wait(Some(Duration::from_millis(2900))).unwrap().as_secs(), 2);
        tokio::time::advance(3 * SECOND).await;
        assert_eq!(pace.wait(None), Err(Stopped::Horizon));
        assert_eq!(pace.wait(Some(Duration::ZERO)), Err(Stopped::Horizon));
    }
}
