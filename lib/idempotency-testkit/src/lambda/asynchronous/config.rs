use std::num::NonZeroU32;
use std::time::Duration;

use crate::sqs::Queue;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The settings of an [`super::AsyncInvoker`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AsyncConfig {
    /// The waits before the retries of a function error; their number is `MaximumRetryAttempts`. Default: 1 and 2 minutes.
    pub retry_waits: Vec<Duration>,
    /// How old an event may get (`MaximumEventAgeInSeconds`). Default: 6 hours.
    pub maximum_event_age: Duration,
    /// The wait after the first throttle or system error; it doubles with each. Default: 1 s.
    pub throttle_wait: Duration,
    /// What that wait doubles to at most. Default: 5 minutes.
    pub longest_throttle_wait: Duration,
    /// The function's dead-letter queue: gets the event itself.
    pub dead_letter: Option<Queue>,
    /// The destination of failed events: gets a record of the invocation.
    pub on_failure: Option<Queue>,
    /// Every how many events one is invoked twice under the same request id, as Lambda may at any time. Default: never. Not a
    /// setting of AWS.
    pub duplicate_every: Option<NonZeroU32>,
}

impl Default for AsyncConfig {
    fn default() -> Self {
        Self {
            retry_waits: vec![Duration::from_secs(60), Duration::from_secs(120)],
            maximum_event_age: 6 * HOUR,
            throttle_wait: Duration::from_secs(1),
            longest_throttle_wait: Duration::from_secs(300),
            dead_letter: None,
            on_failure: None,
            duplicate_every: None,
        }
    }
}

impl AsyncConfig {
    /// Lambda's defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Self::retry_waits`](field@Self::retry_waits): none means no retries.
    #[must_use]
    pub fn retry_waits(mut self, waits: impl IntoIterator<Item = Duration>) -> Self {
        self.retry_waits = waits.into_iter().collect();
        self
    }

    /// Sets [`Self::maximum_event_age`](field@Self::maximum_event_age).
    #[must_use]
    pub fn maximum_event_age(mut self, age: Duration) -> Self {
        self.maximum_event_age = age;
        self
    }

    /// Sets [`Self::throttle_wait`](field@Self::throttle_wait) and
    /// [`Self::longest_throttle_wait`](field@Self::longest_throttle_wait).
    #[must_use]
    pub fn throttle_waits(mut self, first: Duration, longest: Duration) -> Self {
        self.throttle_wait = first;
        self.longest_throttle_wait = longest;
        self
    }

    /// Sets [`Self::dead_letter`](field@Self::dead_letter).
    #[must_use]
    pub fn dead_letter(mut self, queue: Queue) -> Self {
        self.dead_letter = Some(queue);
        self
    }

    /// Sets [`Self::on_failure`](field@Self::on_failure).
    #[must_use]
    pub fn on_failure(mut self, queue: Queue) -> Self {
        self.on_failure = Some(queue);
        self
    }

    /// Invokes every `nth` event twice: see [`Self::duplicate_every`](field@Self::duplicate_every). With 1, all.
    #[must_use]
    pub fn duplicate_every(mut self, nth: NonZeroU32) -> Self {
        self.duplicate_every = Some(nth);
        self
    }
}
