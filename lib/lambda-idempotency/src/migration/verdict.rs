//! What an old row means. Pure: no clock, no store.

use std::time::Duration;

use idempotency_core::{EpochMillis, Policy};
use idempotency_dynamodb::{PowertoolsRow, PowertoolsStatus};

/// What an old row means to a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing was done that counts.
    New,
    /// It was done, with this result.
    Done(String),
    /// The old function may be at it, for so long at the longest.
    Running(Duration),
    /// The old function was at it, and cannot be any more from this moment on. Nobody knows what it did.
    Lost(EpochMillis),
    /// It is the row of another request.
    Other,
}

/// Decides. `validation` is the request's own hash of what the old function compared.
///
/// Expiry comes first, as Powertools has it: an expired row counts for nothing, whatever it says. A row in progress of which nothing says how
/// long blocks until then.
pub(super) fn verdict(row: Option<PowertoolsRow>, validation: Option<&str>, now: EpochMillis) -> Verdict {
    let Some(row) = row else { return Verdict::New };
    // `expiration < now`, in whole seconds, is what Powertools takes for expired.
    let expires_at = row.expiration.to_millis() + Duration::from_secs(1);
    if now >= expires_at {
        return Verdict::New;
    }
    if let (Some(theirs), Some(own)) = (row.validation.as_deref(), validation)
        && theirs != own
    {
        return Verdict::Other;
    }
    match (row.status, row.in_progress_expiration) {
        (PowertoolsStatus::Completed, _) => Verdict::Done(row.data),
        (PowertoolsStatus::InProgress, None) => Verdict::Running(expires_at.saturating_since(now)),
        (PowertoolsStatus::InProgress, Some(until)) => {
            // It is the end of the old invocation by the old function's clock.
            let until = until + Policy::MARGIN;
            if now < until { Verdict::Running(until.saturating_since(now)) } else { Verdict::Lost(until) }
        }
    }
}

#[cfg(test)]
mod tests {
    use idempotency_core::EpochSeconds;

    use super::*;

    const NOW: EpochMillis = EpochMillis::new(1_000_000_000);

    fn row(status: PowertoolsStatus, in_progress: Option<i64>) -> PowertoolsRow {
        PowertoolsRow {
            status,
            expiration: EpochSeconds::new(1_000_060),
            in_progress_expiration: in_progress.map(|millis| EpochMillis::new(NOW.get() + millis)),
            data: "true".into(),
            validation: Some("a".into()),
        }
    }

    fn of(row: PowertoolsRow) -> Verdict {
        verdict(Some(row), None, NOW)
    }

    #[test]
    fn no_row_is_new_and_a_completed_one_is_done() {
        assert_eq!(verdict(None, Some("a"), NOW), Verdict::New);
        assert_eq!(of(row(PowertoolsStatus::Completed, Some(-1))), Verdict::Done("true".into()));
    }

    #[test]
    fn a_row_in_progress_is_running_until_its_end_and_a_margin_and_then_lost() {
        let left = |in_progress| of(row(PowertoolsStatus::InProgress, in_progress));
        assert_eq!(left(Some(1)), Verdict::Running(Duration::from_millis(3_001)));
        assert_eq!(left(Some(-2_999)), Verdict::Running(Duration::from_millis(1)));
        assert_eq!(left(Some(-3_000)), Verdict::Lost(NOW));
        assert_eq!(left(None), Verdict::Running(Duration::from_secs(61)), "nothing says how long it may run");
    }

    #[test]
    fn an_expired_row_counts_for_nothing_whatever_it_says() {
        for status in [PowertoolsStatus::Completed, PowertoolsStatus::InProgress] {
            let expiring = |at: i64| PowertoolsRow { expiration: EpochSeconds::new(at), ..row(status, Some(60_000)) };
            assert_eq!(verdict(Some(expiring(999_999)), Some("b"), NOW), Verdict::New);
            assert_ne!(of(expiring(1_000_000)), Verdict::New, "the second itself still counts");
        }
    }

    #[test]
    fn another_validation_hash_is_another_request_if_both_are_known() {
        let compare = |theirs: Option<&str>, own| {
            let row = PowertoolsRow { validation: theirs.map(Into::into), ..row(PowertoolsStatus::Completed, None) };
            verdict(Some(row), own, NOW) == Verdict::Other
        };
        assert!(compare(Some("a"), Some("b")));
        assert!(![(Some("a"), Some("a")), (None, Some("b")), (Some("a"), None)].iter().any(|(a, b)| compare(*a, *b)));
    }
}
