//! How long the engine waits for its store.

use std::time::Duration;

use crate::EpochMillis;

/// How long the engine waits for its store, always capped by what is left of the invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The longest wait for one call, the store's own repetitions included.
    pub call: Duration,
    /// The longest time spent on storing a result whose store does not answer.
    pub completion: Duration,
    /// The wait for a call when the platform's deadline has passed: on a local host whose clock starts in 1970, or in a
    /// sandbox that was frozen and thawed. Waiting not at all would turn both into an outage.
    pub overdue: Duration,
    /// What is kept of the invocation's time for answering, up to half of what is left. Waiting to the very end would turn
    /// every slow store into a killed invocation without an answer.
    pub reserve: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(3),
            completion: Duration::from_secs(10),
            overdue: Duration::from_secs(1),
            reserve: Duration::from_millis(250),
        }
    }
}

impl Timeouts {
    /// The longest wait for one call now.
    pub(crate) fn for_call(&self, deadline: EpochMillis, now: EpochMillis) -> Duration {
        self.capped(self.call, deadline, now)
    }

    /// The longest time to spend on storing a result now.
    pub(crate) fn for_completion(&self, deadline: EpochMillis, now: EpochMillis) -> Duration {
        self.capped(self.completion, deadline, now)
    }

    /// The longest wait for another attempt, when `max` is asked for.
    pub(crate) fn for_wait(&self, max: Duration, deadline: EpochMillis, now: EpochMillis) -> Duration {
        self.capped(max, deadline, now).min(max)
    }

    fn capped(&self, limit: Duration, deadline: EpochMillis, now: EpochMillis) -> Duration {
        let remaining = deadline.saturating_since(now);
        if remaining.is_zero() {
            return self.overdue;
        }
        limit.min(remaining.saturating_sub(self.reserve).max(remaining / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_capped_by_the_remaining_time_and_never_zero() {
        let (timeouts, now) = (Timeouts::default(), EpochMillis::new(1_000_000));
        assert_eq!(timeouts.for_call(now + Duration::from_secs(60), now), Duration::from_secs(3));
        assert_eq!(timeouts.for_call(now + Duration::from_secs(2), now), Duration::from_millis(1750));
        assert_eq!(timeouts.for_call(now + Duration::from_millis(6), now), Duration::from_millis(3));
        assert_eq!(timeouts.for_call(now, now), timeouts.overdue);
        assert_eq!(timeouts.for_call(EpochMillis::new(600_000), now), timeouts.overdue);
        assert_eq!(timeouts.for_completion(now + Duration::from_secs(60), now), Duration::from_secs(10));
    }
}
