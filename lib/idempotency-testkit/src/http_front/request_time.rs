//! The `time` of an event's request context: `12/Mar/2020:19:03:58 +0000`.

use std::time::Duration;

use crate::civil_time::CivilTime;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Formats a time since the Unix epoch the way Apache's common log format does, in UTC.
pub(super) fn common_log_time(since_epoch: Duration) -> String {
    let CivilTime { year, month, day, hour, minute, second, .. } = CivilTime::of(since_epoch);
    let month = usize::try_from(month - 1).ok().and_then(|index| MONTHS.get(index)).unwrap_or(&"Jan");
    format!("{day:02}/{month}/{year}:{hour:02}:{minute:02}:{second:02} +0000")
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
