//! Points in time with their unit in the type, so that seconds are never compared with milliseconds.

use std::{
    fmt,
    ops::{Add, Sub},
    time::Duration,
};

/// Milliseconds since 1970-01-01T00:00:00Z. Leases and deadlines use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochMillis(i64);

/// Whole seconds since 1970-01-01T00:00:00Z. DynamoDB's time to live accepts only this unit, and only
/// integers (DynamoDB Developer Guide, "Using time to live in DynamoDB").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochSeconds(i64);

impl EpochMillis {
    /// The point `millis` milliseconds after the epoch.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero when `earlier` is not earlier.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The first whole second that is not before `self`, so that rounding never shortens a lifetime.
    pub const fn ceil_seconds(self) -> EpochSeconds {
        let seconds = self.0.div_euclid(1000);
        if self.0.rem_euclid(1000) == 0 { EpochSeconds(seconds) } else { EpochSeconds(seconds.saturating_add(1)) }
    }
}

impl EpochSeconds {
    /// The point `seconds` seconds after the epoch.
    pub const fn new(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The same point in milliseconds.
    pub const fn to_millis(self) -> EpochMillis {
        EpochMillis(self.0.saturating_mul(1000))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Add<Duration> for EpochMillis {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl Sub<Duration> for EpochMillis {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

impl fmt::Display for EpochMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

impl fmt::Display for EpochSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_seconds_never_shortens() {
        assert_eq!(EpochMillis::new(1_000).ceil_seconds(), EpochSeconds::new(1));
        assert_eq!(EpochMillis::new(1_001).ceil_seconds(), EpochSeconds::new(2));
        assert_eq!(EpochMillis::new(-1).ceil_seconds(), EpochSeconds::new(0));
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let end = EpochMillis::new(i64::MAX - 1) + Duration::from_secs(u64::MAX);
        assert_eq!(end, EpochMillis::new(i64::MAX));
        assert_eq!(EpochSeconds::new(i64::MAX).to_millis(), EpochMillis::new(i64::MAX));
        assert_eq!(EpochMillis::new(1).saturating_since(EpochMillis::new(2)), Duration::ZERO);
    }
}
