//! The `time` of an event's request context: `12/Mar/2020:19:03:58 +0000`.

use std::time::Duration;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY: u64 = 86_400;

/// Formats a time since the Unix epoch the way Apache's common log format does, in UTC.
pub(super) fn common_log_time(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = civil_date(seconds / DAY);
    let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
    let month = usize::try_from(month - 1).ok().and_then(|index| MONTHS.get(index)).unwrap_or(&"Jan");
    format!("{day:02}/{month}/{year}:{hour:02}:{minute:02}:{second:02} +0000")
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
        // Values of `date -u -d @N`.
        for (seconds, expected) in [
            (0, "01/Jan/1970:00:00:00 +0000"),
            (951_782_400, "29/Feb/2000:00:00:00 +0000"),
            (1_583_348_638, "04/Mar/2020:19:03:58 +0000"),
            (1_709_251_199, "29/Feb/2024:23:59:59 +0000"),
            (4_102_444_799, "31/Dec/2099:23:59:59 +0000"),
        ] {
            assert_eq!(common_log_time(Duration::from_secs(seconds)), expected);
        }
    }
}
