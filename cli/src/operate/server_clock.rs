//! What time it is, by the more cautious of two clocks.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use aws_sdk_dynamodb::{
    config::{ConfigBag, Intercept, RuntimeComponents, interceptors::BeforeDeserializationInterceptorContextRef},
    error::BoxError,
    primitives::{DateTime, DateTimeFormat},
};
use idempotency_core::{Clock, EpochMillis, SystemClock};

/// The `Date` of an answer has whole seconds, rounded down (RFC 9110, section 5.6.7).
const ROUNDED: Duration = Duration::from_secs(1);

/// The clock of this machine, unless the store's answers say that it is ahead: whether a lease is over must not be decided by a clock that an
/// operator's machine has wrong. (Requests are taken with clocks that are wrong by five minutes: "Troubleshoot Signature Version 4 signing".)
/// Clones are the same clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerClock(Arc<Mutex<Duration>>);

impl ServerClock {
    /// The time by which leases are judged.
    pub(crate) fn now(&self) -> EpochMillis {
        SystemClock.now() - self.ahead()
    }

    /// By how much this machine's clock is known to be ahead.
    pub(crate) fn ahead(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self, date: &str, now: EpochMillis) {
        let Some(date) = DateTime::from_str(date, DateTimeFormat::HttpDate).ok().and_then(|date| date.to_millis().ok())
        else {
            return;
        };
        let latest = EpochMillis::new(date) + ROUNDED;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now.saturating_since(latest);
    }
}

impl Intercept for ServerClock {
    fn name(&self) -> &'static str {
        "ServerClock"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(date) = context.response().headers().get("date") {
            self.heard(date, SystemClock.now());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_of_the_stores_is_known_and_one_that_is_behind_is_believed() {
        // 1994-11-06T08:49:37Z
        let (date, at) = ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000);
        let ahead = |milliseconds: i64| {
            let clock = ServerClock::default();
            clock.heard(date, EpochMillis::new(at + milliseconds));
            clock.ahead()
        };
        assert_eq!(ahead(0), Duration::ZERO);
        assert_eq!(ahead(1_000), Duration::ZERO, "the second of the date is not over");
        assert_eq!(ahead(61_000), Duration::from_secs(60));
        assert_eq!(ahead(-300_000), Duration::ZERO);
        let clock = ServerClock::default();
        clock.heard("yesterday", EpochMillis::new(at));
        assert_eq!(clock.ahead(), Duration::ZERO);
    }
}
