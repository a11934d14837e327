//! The only place in this crate that reads the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time since the Unix epoch. A clock set before 1970 reads as 0 rather than failing a test run.
#[expect(clippy::disallowed_methods, reason = "this is the crate's clock")]
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Milliseconds since the Unix epoch, as Lambda's deadline header carries them.
pub(crate) fn epoch_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
