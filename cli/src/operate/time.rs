//! Times as people read them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use idempotency_core::{EpochMillis, EpochSeconds};

/// `2026-11-30T12:00:00Z`.
pub(crate) fn utc(time: EpochMillis) -> String {
    let time = DateTime::from_timestamp_millis(time.get()).unwrap_or(DateTime::<Utc>::MAX_UTC);
    time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The same of a time in seconds.
pub(crate) fn utc_seconds(time: EpochSeconds) -> String {
    utc(time.to_millis())
}

/// `in 3 min` or `5 h ago`: the two largest units.
pub(crate) fn relative(time: EpochMillis, now: EpochMillis) -> String {
    match time > now {
        true => format!("in {}", span(time.saturating_since(now))),
        false => format!("{} ago", span(now.saturating_since(time))),
    }
}

/// A length of time in its two largest units.
pub(crate) fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

fn two(large: u64, unit: &str, small: u64, smaller: &str) -> String {
    match small {
        0 => format!("{large} {unit}"),
        small => format!("{large} {unit} {small} {smaller}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00Z"),
            (1_796_040_723_999, "2026-11-30T12:12:03Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(EpochMillis::new(millis)), text);
        }
        // The ends of what a record can hold are no panic.
        let _ = (utc(EpochMillis::new(i64::MAX)), utc_seconds(EpochSeconds::new(i64::MIN)));
    }

    #[test]
    fn lengths_have_their_two_largest_units() {
        let rows = [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_661, "1 h 1 min"), (176_400, "2 d 1 h")];
        for (seconds, text) in rows {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
        let at = EpochMillis::new;
        assert_eq!(
            (relative(at(5_000), at(1_000)), relative(at(1_000), at(5_000))),
            ("in 4 s".into(), "4 s ago".into())
        );
    }
}
