//! The one place that holds policy: what to do about a key, given what is stored under it.

use std::time::Duration;

use crate::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OnAbandoned, OwnerToken, Policy, Record,
    RecordKey, Status, Version, Window,
};

/// One claim call: identity and deadline of the attempt that wants to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimRequest {
    /// The record's place.
    pub key: RecordKey,
    /// The request's fingerprint.
    pub fingerprint: Fingerprint,
    /// The claim's owner token, drawn for this call.
    pub token: OwnerToken,
    /// The generation to start, should this claim start one.
    pub execution: ExecutionId,
    /// When the platform ends this attempt. May be in the past.
    pub deadline: EpochMillis,
}

/// What to do about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is stored: write this record if that is still so.
    Insert(Record),
    /// The owner's lease is over (`rerun`): write this record over the one observed.
    TakeOver {
        /// The record observed.
        from: Version,
        /// The record to write.
        record: Record,
    },
    /// The last attempt said that its effect did not happen: write this record over the one observed.
    Resume {
        /// The record observed.
        from: Version,
        /// The record to write.
        record: Record,
    },
    /// The stored record has expired, so the key is new: write this record, of a new generation, over it.
    Expired {
        /// The record observed.
        from: Version,
        /// The record to write.
        record: Record,
    },
    /// The stored record is this claim's own: an earlier transmission landed and its reply was lost.
    Own,
    /// The operation ended: answer with the stored result.
    Replay,
    /// Another attempt may be running.
    Conflict {
        /// When to ask again.
        retry_after: Duration,
        /// The rest of the other attempt's lease: after that it cannot be running any more.
        lease_left: Duration,
    },
    /// The key was used with another request.
    Mismatch,
    /// An attempt was lost and nobody knows whether its effect happened (`reject`).
    Uncertain,
    /// An attempt was lost, and the outside world can be asked whether its effect happened (`probe`): if it did not, write this
    /// record over the one observed and run; if it did, write this record as completed over the one observed.
    Probe {
        /// The record observed.
        from: Version,
        /// The record to write.
        record: Record,
    },
    /// The operation failed for good, and whoever was undoing what it did before is gone: write this record over the one observed and
    /// go on undoing.
    Compensate {
        /// The record observed.
        from: Version,
        /// The record to write.
        record: Record,
    },
    /// The operation failed for good, and something that it did before could not be undone: an operator must act.
    Stuck,
}

/// Decides what to do about a key. Pure: no clock, no store, no randomness.
///
/// `existing` must be what the store answered, never a cached or assumed record.
///
/// The order of the checks is the protocol: one's own record first, so that a lost reply never blocks its own claim;
/// then expiry, because an expired record counts for nothing (it could as well have been deleted); then the
/// fingerprint, so that a mismatch is told at every stage; then the state.
///
/// ```
/// use idempotency_core::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = EpochMillis::new(1_000_000);
/// let request = ClaimRequest {
///     key: RecordKey::from_stored("dev#charge#v1#…"),
///     fingerprint: Fingerprint::builder().bytes("body", b"{}").finish(),
///     token: OwnerToken::from_bytes([1; 16]),
///     execution: ExecutionId::from_bytes([2; 16]),
///     deadline: now + std::time::Duration::from_secs(10),
/// };
/// let Decision::Insert(record) = decide(None, &request, now, &Policy::new(Window::http())) else { unreachable!() };
/// assert_eq!(record.lease_until, request.deadline + Policy::MARGIN);
/// # Ok(()) }
/// ```
pub fn decide(existing: Option<&Record>, request: &ClaimRequest, now: EpochMillis, policy: &Policy) -> Decision {
    let Some(old) = existing else {
        return Decision::Insert(first(request, None, now, policy));
    };
    let lease_runs = old.status.is_leased() && now < old.lease_until;
    if old.owner == request.token && old.status.is_leased() {
        return Decision::Own;
    }
    // A running lease always counts, so that a record with a bad expiry cannot admit a second attempt beside the first.
    if now >= old.expires_at.to_millis() && !lease_runs {
        return Decision::Expired { from: old.version(), record: first(request, Some(old), now, policy) };
    }
    if old.fingerprint != request.fingerprint {
        return Decision::Mismatch;
    }
    match old.status {
        Status::Completed | Status::Failed => Decision::Replay,
        Status::Released => Decision::Resume { from: old.version(), record: next(request, old, now, policy) },
        Status::Stuck => Decision::Stuck,
        Status::InFlight | Status::Compensating if lease_runs => {
            let lease_left = old.lease_until.saturating_since(now);
            Decision::Conflict { retry_after: retry_after(lease_left), lease_left }
        }
        // Undoing was begun and has its own keys, so it goes on whatever is chosen for effects that were lost.
        Status::Compensating => {
            let mut record = next(request, old, now, policy);
            (record.status, record.result) = (Status::Compensating, old.result.clone());
            // What is not undone yet must not be forgotten with the window.
            record.expires_at = record.expires_at.max(old.expires_at);
            Decision::Compensate { from: old.version(), record }
        }
        Status::InFlight => match policy.abandoned() {
            OnAbandoned::Rerun => Decision::TakeOver { from: old.version(), record: next(request, old, now, policy) },
            OnAbandoned::Reject => Decision::Uncertain,
            OnAbandoned::Probe => Decision::Probe { from: old.version(), record: next(request, old, now, policy) },
        },
    }
}

impl Decision {
    /// The record to be written before (or, atomic, with) a run of the operation; the decision itself where it does not run.
    pub(crate) fn into_run(self) -> Result<Record, Box<Self>> {
        match self {
            Self::Insert(record)
            | Self::TakeOver { record, .. }
            | Self::Resume { record, .. }
            | Self::Expired { record, .. } => Ok(record),
            other => Err(Box::new(other)),
        }
    }
}

/// When an ended record is forgotten.
pub(crate) fn forget_at(lease_until: EpochMillis, now: EpochMillis, policy: &Policy) -> EpochSeconds {
    (now + policy.window().storage_ttl()).max(lease_until + policy.margin()).ceil_seconds()
}

/// The record of a new generation.
fn first(request: &ClaimRequest, expired: Option<&Record>, now: EpochMillis, policy: &Policy) -> Record {
    // Remaining time can be zero or negative: on local hosts whose deadlines lie in 1970, and in sandboxes that were frozen. How
    // long such an attempt goes on is not known, so the lease covers the longest run.
    let ends_by = if request.deadline > now { request.deadline } else { now + policy.window().longest_run() };
    // A deadline beyond all reason must not make a lease, and so a row, that never ends.
    let ends_by = ends_by.min(now + Window::MAX_STORAGE_TTL);
    let lease_until = ends_by + policy.margin();
    Record {
        key: request.key.clone(),
        status: Status::InFlight,
        owner: request.token,
        execution: request.execution,
        renewed: expired.is_some(),
        resolved_at: None,
        epoch: Epoch::next(expired.map(|record| record.epoch), now),
        attempt: AttemptNumber::FIRST,
        lease_until,
        expires_at: forget_at(lease_until, now, policy),
        fingerprint: request.fingerprint,
        result: None,
    }
}

/// The record of the next attempt in `old`'s generation.
fn next(request: &ClaimRequest, old: &Record, now: EpochMillis, policy: &Policy) -> Record {
    let (execution, renewed, resolved_at, attempt) = (old.execution, old.renewed, old.resolved_at, old.attempt.next());
    Record { execution, renewed, resolved_at, attempt, ..first(request, Some(old), now, policy) }
}

/// The rest of a lease, between one second (the unit of HTTP's `Retry-After`) and [`Policy::MAX_RETRY_AFTER`].
fn retry_after(lease_left: Duration) -> Duration {
    lease_left.clamp(Duration::from_secs(1), Policy::MAX_RETRY_AFTER)
}

#[cfg(test)]
mod tests;
