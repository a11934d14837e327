//! What follows an attempt. Pure.

use std::time::Duration;

use super::AsyncConfig;
use crate::lambda::InvokeError;

/// What an event has been through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct History {
    /// Attempts that reached the function and failed.
    pub(super) failures: usize,
    /// Tries that did not reach it, since the last one that did.
    pub(super) throttles: u32,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Again { after: Duration },
    GiveUp(Condition),
}

/// Why an event is given up: `requestContext.condition` of an invocation record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    RetriesExhausted,
    EventAgeExceeded,
}

impl Condition {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RetriesExhausted => "RetriesExhausted",
            Self::EventAgeExceeded => "EventAgeExceeded",
        }
    }
}

/// Whether the function was not reached: a throttle (429) or an error of the system (500).
pub(super) fn is_not_reached(error: &InvokeError) -> bool {
    matches!(error, InvokeError::Throttled { .. } | InvokeError::Spawn(_))
}

impl AsyncConfig {
    /// "How Lambda handles errors and retries with asynchronous invocation": function errors are retried twice, after one and
    /// two minutes; throttles and system errors until the event is too old, after waits that double from 1 s to 5 minutes.
    pub(super) fn next(&self, history: &mut History, error: &InvokeError, age: Duration) -> Next {
        let wait = if is_not_reached(error) {
            let doubled = self.throttle_wait.saturating_mul(2_u32.saturating_pow(history.throttles));
            history.throttles += 1;
            doubled.min(self.longest_throttle_wait)
        } else {
            let wait = self.retry_waits.get(history.failures).copied();
            *history = History { failures: history.failures + 1, throttles: 0 };
            let Some(wait) = wait else { return Next::GiveUp(Condition::RetriesExhausted) };
            wait
        };
        if age + wait > self.maximum_event_age {
            return Next::GiveUp(Condition::EventAgeExceeded);
        }
        Next::Again { after: wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failure() -> InvokeError {
        InvokeError::TimedOut { after: SECOND }
    }

    fn throttle() -> InvokeError {
        InvokeError::Throttled { concurrency: 1 }
    }

    fn again(seconds: u32) -> Next {
        Next::Again { after: seconds * SECOND }
    }

    #[test]
    fn a_function_error_is_retried_twice_after_one_and_two_minutes() {
        let (config, mut history) = (AsyncConfig::new(), History::default());
        let next = [(); 3].map(|()| config.next(&mut history, &failure(), SECOND));
        assert_eq!(next, [again(60), again(120), Next::GiveUp(Condition::RetriesExhausted)]);
    }

    #[test]
    fn throttles_wait_longer_and_longer_and_do_not_count_as_attempts() {
        let (config, mut history) = (AsyncConfig::new(), History::default());
        let waits = [(); 11].map(|()| config.next(&mut history, &throttle(), SECOND));
        let expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map(again);
        assert_eq!(waits, expected);
        assert_eq!(history.failures, 0);
        assert_eq!(config.next(&mut history, &failure(), SECOND), again(60));
        assert_eq!(config.next(&mut history, &throttle(), SECOND), again(1), "waits begin anew after an attempt");
    }

    #[test]
    fn an_event_that_would_be_too_old_is_given_up() {
        let config = AsyncConfig::new().maximum_event_age(100 * SECOND);
        let age_exceeded = Next::GiveUp(Condition::EventAgeExceeded);
        assert_eq!(config.next(&mut History::default(), &failure(), 40 * SECOND), again(60));
        assert_eq!(config.next(&mut History::default(), &failure(), 41 * SECOND), age_exceeded);
        assert_eq!(config.next(&mut History::default(), &throttle(), 100 * SECOND), age_exceeded);
    }
}
