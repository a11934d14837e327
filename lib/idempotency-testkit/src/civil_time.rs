//! Dates and times of day in UTC, for events and records.

use std::time::Duration;

const DAY: u64 = 86_400;

/// A time since the Unix epoch, in the parts that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CivilTime {
    pub(crate) year: u64,
    /// From 1.
    pub(crate) month: u64,
    /// From 1.
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    pub(crate) millisecond: u32,
}

impl CivilTime {
    pub(crate) fn of(since_epoch: Duration) -> Self {
        let seconds = since_epoch.as_secs();
        let (year, month, day) = civil_date(seconds / DAY);
        let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
        Self { year, month, day, hour, minute, second, millisecond: since_epoch.subsec_millis() }
    }

    /// `2020-03-04T19:03:58Z`, as in EventBridge's events.
    pub(crate) fn iso_seconds(self) -> String {
        let Self { year, month, day, hour, minute, second, .. } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// `2020-03-04T19:03:58.007Z`, as in Lambda's invocation records.
    pub(crate) fn iso_millis(self) -> String {
        let seconds = self.iso_seconds();
        format!("{}.{:03}Z", seconds.trim_end_matches('Z'), self.millisecond)
    }
}

/// Days since the epoch to year, month and day: Howard Hinnant's `civil_from_days`, for years from 1970.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of year 0, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        // Values of `date -u -d @N --iso-8601=seconds`.
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        ] {
            let time = CivilTime::of(Duration::from_millis(millis));
            assert_eq!(time.iso_millis(), expected);
            assert_eq!(time.iso_seconds(), format!("{}Z", &expected[..19]));
        }
    }
}
