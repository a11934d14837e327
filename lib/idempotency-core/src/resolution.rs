//! What an operator may say about a key that nobody else can decide.

use std::time::Duration;

use crate::{EpochMillis, EpochSeconds, OwnerToken, Record, Status, StoredResult, record::Epoch};

/// What an operator says about a key: what has become of it, or that it is to be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// The effect happened: later requests get a result.
    Completed,
    /// The operation failed for good, and nothing is left to be undone: later requests get a failure.
    Failed,
    /// The next request goes on: it runs the handler, or (where the failure is stored already) undoes what is left.
    Rerun,
}

/// Why a record is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolvable {
    /// An attempt may be at work.
    #[error("an attempt may still be running, for {left:?} at most: ask again when its lease is over")]
    LeaseRuns {
        /// The rest of its lease.
        left: Duration,
    },
    /// The operation has ended. An ended record does not change before it expires.
    #[error(
        "the operation has ended, and an ended record does not change before it expires; evict it to make its key new"
    )]
    Ended,
    /// The record counts for nothing any more.
    #[error("the record has expired: its key is new, and the next request runs")]
    Expired,
    /// There is nothing to wait for: the next request goes on already.
    #[error("nothing stands in the way: the next request with this key goes on by itself")]
    GoesOn,
}

impl Resolution {
    /// For how long at least a result that an operator has stored is kept.
    pub const KEPT: Duration = Duration::from_secs(24 * 3600);

    /// Whether this may be said about a record now.
    ///
    /// # Errors
    ///
    /// [`Unresolvable`] says why not.
    pub fn check(self, found: &Record, now: EpochMillis) -> Result<(), Unresolvable> {
        removable(found, now)?;
        match (found.status, self) {
            (Status::Completed | Status::Failed, _) => Err(Unresolvable::Ended),
            _ if now >= found.expires_at.to_millis() => Err(Unresolvable::Expired),
            (Status::Released | Status::Compensating, Self::Rerun) => Err(Unresolvable::GoesOn),
            _ => Ok(()),
        }
    }

    /// The record that takes the place of `found`: of the same generation, and another version, so that nothing that a lost attempt
    /// still sends meets it.
    ///
    /// `owner` is a token drawn for this call. A `result` says what later requests get; without one, what is stored (of a failure that is
    /// being undone) stays, and its owner with it, under whom its parts stand. A result is kept for [`KEPT`](Self::KEPT) at least; but one in
    /// parts that stays, for as long as its parts: read it, and give it anew.
    ///
    /// ```
    /// # use idempotency_core::*;
    /// # let found = Record {
    /// #     key: RecordKey::from_stored("dev#charge#v1#…"), status: Status::InFlight, owner: OwnerToken::from_bytes([1; 16]),
    /// #     execution: ExecutionId::from_bytes([2; 16]), epoch: Epoch::new(7), attempt: AttemptNumber::FIRST,
    /// #     lease_until: EpochMillis::new(2_000), expires_at: EpochSeconds::new(90_000), fingerprint: Fingerprint::from_bytes([3; 32]), result: None, renewed: false, resolved_at: None,
    /// # };
    /// let now = EpochMillis::new(5_000);
    /// assert_eq!(Resolution::Rerun.check(&found, now), Ok(()));
    /// let record = Resolution::Rerun.apply(&found, None, OwnerToken::from_bytes([9; 16]), now);
    /// assert_eq!(record.status, Status::Released);
    /// assert_ne!(record.version(), found.version());
    /// ```
    pub fn apply(self, found: &Record, result: Option<StoredResult>, owner: OwnerToken, now: EpochMillis) -> Record {
        let keeps_result = result.is_none() && found.result.is_some();
        let stands_beside = keeps_result && matches!(found.result, Some(StoredResult::Parts(_)));
        // Parts of a result expire with the record that they were written for.
        let ended_until = if stands_beside { found.expires_at } else { kept(found, now) };
        let anew = Record {
            owner: if keeps_result { found.owner } else { owner },
            epoch: Epoch::next(Some(found.epoch), now),
            result: result.or_else(|| found.result.clone()),
            lease_until: found.lease_until.min(now),
            ..found.clone()
        };
        match self {
            Self::Completed => Record { status: Status::Completed, expires_at: ended_until, ..anew },
            Self::Failed => Record { status: Status::Failed, expires_at: ended_until, ..anew },
            // What was undone so far stays so, and the handler does not run again.
            Self::Rerun if found.status == Status::Stuck => Record { status: Status::Compensating, ..anew },
            Self::Rerun => Record { status: Status::Released, resolved_at: Some(now), ..anew },
        }
    }
}

/// Whether a record may be removed now, which makes its key new.
///
/// # Errors
///
/// [`Unresolvable::LeaseRuns`] while an attempt may be at work.
pub fn removable(found: &Record, now: EpochMillis) -> Result<(), Unresolvable> {
    match found.status.is_leased() && now < found.lease_until {
        true => Err(Unresolvable::LeaseRuns { left: found.lease_until.saturating_since(now) }),
        false => Ok(()),
    }
}

/// What an operator has said must not be forgotten before its callers ask again.
fn kept(found: &Record, now: EpochMillis) -> EpochSeconds {
    (now + Resolution::KEPT).ceil_seconds().max(found.expires_at)
}

#[cfg(test)]
mod tests;
