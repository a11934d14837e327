//! Times as people read them.

use std::time::Duration;

use idempotency_core::{EpochMillis, EpochSeconds};

const DAY: i64 = 86_400;

/// `2026-11-30T12:00:00Z`.
pub(crate) fn utc(time: EpochMillis) -> String {
    let seconds = time.get().div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest % 3600 / 60, rest % 60)
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

/// Days since 1970 to year, month and day: Howard Hinnant's `civil_from_days`.
fn civil_date(days: i64) -> (i64, i64, i64) {
    // Counted from 1 March of year 0, so that the leap day is the last day of a year.
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
