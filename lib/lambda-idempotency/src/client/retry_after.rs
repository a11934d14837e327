//! What `Retry-After` says.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{
    HeaderMap, HeaderName,
    header::{DATE, RETRY_AFTER},
};
use idempotency_core::EpochMillis;

/// How long the sender of an answer asks to wait: seconds, or a date (RFC 9110 section 10.2.3). A date is compared with the answer's own
/// `Date` if there is one, so that the two machines' clocks need not agree; else with `now`. What is neither says nothing.
pub(super) fn retry_after(headers: &HeaderMap, now: EpochMillis) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than fit are longer than anybody waits.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    let sent = date(headers, DATE).unwrap_or_else(|| system_time(now));
    Some(at.duration_since(sent).unwrap_or_default())
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

/// A time as the standard library has it. What is before 1970 is 1970.
pub(super) fn system_time(time: EpochMillis) -> SystemTime {
    let since_epoch = Duration::from_millis(u64::try_from(time.get()).unwrap_or_default());
    UNIX_EPOCH.checked_add(since_epoch).unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 10:00:00.500 UTC.
    const NOW: EpochMillis = EpochMillis::new(1_796_032_800_500);

    fn said(fields: &[(HeaderName, &str)]) -> Option<Duration> {
        let headers = fields.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        retry_after(&headers, NOW)
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        assert_eq!(said(&[(RETRY_AFTER, "0")]), Some(Duration::ZERO));
        assert_eq!(said(&[(RETRY_AFTER, " 120 ")]), Some(Duration::from_secs(120)));
        assert_eq!(said(&[(RETRY_AFTER, "Mon, 30 Nov 2026 10:00:07 GMT")]), Some(Duration::from_millis(6500)));
    }

    #[test]
    fn a_date_counts_from_the_answers_own() {
        let answer = [(RETRY_AFTER, "Mon, 30 Nov 2026 08:00:07 GMT"), (DATE, "Mon, 30 Nov 2026 08:00:00 GMT")];
        assert_eq!(said(&answer), Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_date_that_is_over_asks_for_no_wait() {
        assert_eq!(said(&[(RETRY_AFTER, "Mon, 30 Nov 2026 09:59:59 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn more_seconds_than_fit_are_not_taken_for_none() {
        assert_eq!(said(&[(RETRY_AFTER, "99999999999999999999")]), Some(Duration::from_secs(u64::MAX)));
    }

    #[test]
    fn what_is_neither_says_nothing() {
        for value in ["", "soon", "-1", "+1", "1.5", "0x10"] {
            assert_eq!(said(&[(RETRY_AFTER, value)]), None, "{value}");
        }
        assert_eq!(said(&[]), None);
    }
}
