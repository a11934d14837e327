//! Where the current time comes from.

use crate::EpochMillis;

/// A source of wall-clock time.
///
/// Leases and expiry are wall-clock times because several machines compare them. The protocol tolerates a
/// difference between two machines' clocks of up to [`Policy::margin`](crate::Policy::margin).
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> EpochMillis;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> EpochMillis {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        EpochMillis::new(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}
