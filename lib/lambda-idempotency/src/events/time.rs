//! Whether there is time for one more record.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use idempotency_core::EpochMillis;

/// The time of one invocation.
#[derive(Debug)]
pub(super) struct Time {
    began: EpochMillis,
    deadline: EpochMillis,
    /// How long the longest record has taken, in milliseconds.
    longest: AtomicU64,
}

/// What is kept of an invocation's time for its answer: a tenth, up to this.
const LONGEST_RESERVE: Duration = Duration::from_secs(5);

impl Time {
    pub(super) const fn new(began: EpochMillis, deadline: EpochMillis) -> Self {
        Self { began, deadline, longest: AtomicU64::new(0) }
    }

    pub(super) const fn deadline(&self) -> EpochMillis {
        self.deadline
    }

    /// How long the invocation may take; `None` where its deadline had passed when it began, as on local hosts whose deadlines
    /// lie in 1970: it says nothing then.
    pub(super) fn total(&self) -> Option<Duration> {
        Some(self.deadline.saturating_since(self.began)).filter(|total| !total.is_zero())
    }

    /// A record took this long.
    pub(super) fn took(&self, time: Duration) {
        self.longest.fetch_max(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether another record may begin: it would probably end in time, as long as none takes longer than the longest so far.
    pub(super) fn suffices(&self, now: EpochMillis) -> bool {
        let Some(total) = self.total() else { return true };
        let longest = Duration::from_millis(self.longest.load(Ordering::Relaxed));
        let reserve = (total / 10).min(LONGEST_RESERVE);
        self.deadline.saturating_since(now) > longest.saturating_add(reserve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_record_begins_only_if_one_like_the_longest_would_end_in_time() {
        let began = EpochMillis::new(1_000_000);
        let time = Time::new(began, began + 30 * SECOND);
        assert!(time.suffices(began));
        assert!(time.suffices(began + 26 * SECOND));
        assert!(!time.suffices(began + 27 * SECOND), "a tenth is kept");
        time.took(10 * SECOND);
        time.took(2 * SECOND);
        assert!(time.suffices(began + 16 * SECOND));
        assert!(!time.suffices(began + 17 * SECOND));
        assert!(!time.suffices(began + 31 * SECOND));
    }

    #[test]
    fn a_deadline_that_had_passed_says_nothing() {
        let began = EpochMillis::new(1_000_000);
        let time = Time::new(began, EpochMillis::new(600_000));
        assert!(time.suffices(began + 3600 * SECOND));
        assert_eq!(time.total(), None);
    }
}
