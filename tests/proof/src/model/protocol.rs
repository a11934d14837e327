//! What an attempt does next: the production functions, or a mutant of them.

use std::time::Duration;

use idempotency_core::{
    ClaimRequest, Decision, Epoch, EpochMillis, ExecutionId, Fingerprint, OnAbandoned, OwnerToken, Policy, Record,
    RecordKey, Status, Window, decide,
};

use super::{
    Model, Phase, Told,
    attempt::{Write, WriteKind},
    state::{State, Stored},
};
use crate::Mutant;

/// How long an attempt may run, in seconds.
pub(super) const RUN: i64 = 1;

const SECOND: Duration = Duration::from_secs(1);

/// The shortest window, so that expiry comes within few ticks: the lease and its margin set it.
const WINDOW: Window = match Window::custom(SECOND, Duration::from_secs(2), SECOND) {
    Ok(window) => window,
    Err(_) => Window::http(),
};

impl Model {
    pub(super) fn policy(&self) -> Policy {
        Policy::new(WINDOW).on_abandoned(self.on_abandoned).undo(self.work.has_steps())
    }

    /// The claim of an attempt.
    pub(super) fn request(&self, attempt: usize, deadline: EpochMillis) -> ClaimRequest {
        let identity = u8::try_from(attempt).unwrap_or(u8::MAX);
        let token = if self.mutant == Mutant::TokenIsRequestId { 0 } else { identity };
        ClaimRequest {
            key: RecordKey::from_stored("k"),
            fingerprint: self.fingerprint(attempt),
            token: OwnerToken::from_bytes([token; 16]),
            execution: ExecutionId::from_bytes([identity; 16]),
            deadline,
        }
    }

    pub(super) fn fingerprint(&self, attempt: usize) -> Fingerprint {
        let other = self.other_request && attempt + 1 == self.attempts;
        Fingerprint::from_bytes([u8::from(other); 32])
    }

    /// What an attempt does, given what a reply has just shown it.
    pub(super) fn claim_step(&self, state: &State, attempt: usize, shown: &Stored, deadline: EpochMillis) -> Phase {
        let existing = match shown {
            Stored::Nothing => None,
            Stored::Record(record) => Some(record),
            Stored::Unreadable if self.mutant == Mutant::UndecodableTakenForAbsent => None,
            Stored::Unreadable => return Phase::Told(Told::StoreError),
        };
        let request = self.request(attempt, deadline);
        let now = state.local_time(attempt);
        let decision = self.mutated(decide(existing, &request, now, &self.policy()), existing, &request, now);
        let is_atomic = self.work.is_atomic(attempt);
        let write = |expected, record| Phase::Claiming(Write { by: attempt, expected, record, kind: WriteKind::Claim });
        match decision {
            Decision::Insert(record) if is_atomic => Phase::Drafting { record, observed: None },
            Decision::TakeOver { record, .. } | Decision::Resume { record, .. } | Decision::Expired { record, .. }
                if is_atomic =>
            {
                Phase::Drafting { record, observed: existing.map(Record::version) }
            }
            Decision::Insert(record) => write(None, record),
            Decision::TakeOver { from, record }
            | Decision::Resume { from, record }
            | Decision::Expired { from, record }
            | Decision::Compensate { from, record } => write(Some(from), record),
            Decision::Own => match existing {
                Some(own) => Phase::Running { record: own.clone(), proven: true },
                None => Phase::Told(Told::StoreError),
            },
            Decision::Replay => Phase::Told(Told::Replay),
            Decision::Conflict { .. } => match existing {
                Some(other) if self.waits => Phase::Waiting(other.clone()),
                _ => Phase::Told(Told::Conflict),
            },
            Decision::Mismatch => Phase::Told(Told::Mismatch),
            Decision::Uncertain => Phase::Told(Told::Uncertain),
            Decision::Stuck => Phase::Told(Told::Stuck),
            Decision::Probe { from, record } => Phase::Probing { observed: from, record },
        }
    }

    fn mutated(
        &self,
        decision: Decision,
        existing: Option<&Record>,
        request: &ClaimRequest,
        now: EpochMillis,
    ) -> Decision {
        let policy = self.policy();
        let over = |record: &Record| match decide(None, request, now, &policy) {
            Decision::Insert(fresh) => Decision::TakeOver { from: record.version(), record: fresh },
            other => other,
        };
        match (self.mutant, decision, existing) {
            (Mutant::NoSelfRecognition, Decision::Own, Some(record)) => {
                // As if the record were another's.
                let stranger = Record { owner: OwnerToken::from_bytes([99; 16]), ..record.clone() };
                decide(Some(&stranger), request, now, &policy)
            }
            (Mutant::MarginZero, decision, _) => with_record(decision, |record| {
                record.lease_until = record.lease_until - policy.margin();
            }),
            (Mutant::ExpiryShorterThanLease, Decision::Conflict { .. }, Some(record))
                if now >= record.expires_at.to_millis() =>
            {
                over(record)
            }
            (Mutant::ExpiryShorterThanLease, decision, _) => with_record(decision, |record| {
                record.expires_at = (now + SECOND).ceil_seconds();
            }),
            (Mutant::FingerprintNotComparedInFlight, Decision::Mismatch, Some(record))
                if record.status == Status::InFlight =>
            {
                let same = Record { fingerprint: request.fingerprint, ..record.clone() };
                decide(Some(&same), request, now, &policy)
            }
            (Mutant::DuplicateThatWrites, Decision::Conflict { .. }, Some(record)) => {
                let longer = Record { lease_until: record.lease_until + SECOND, ..record.clone() };
                Decision::TakeOver { from: record.version(), record: longer }
            }
            (Mutant::EpochIsTheClock, decision, _) => with_record(decision, |record| {
                record.epoch = Epoch::new(now.get());
            }),
            (Mutant::CompensatingLeaseIgnored, Decision::Conflict { .. }, Some(record))
                if record.status == Status::Compensating =>
            {
                let over = Record { lease_until: now, ..record.clone() };
                decide(Some(&over), request, now, &policy)
            }
            (Mutant::CompensatingRunsTheHandler, Decision::Compensate { from, record }, _) => {
                Decision::TakeOver { from, record: Record { status: Status::InFlight, ..record } }
            }
            (Mutant::FailedIsUndoneAgain, Decision::Replay, Some(record))
            | (Mutant::StuckIsUndoneAgain, Decision::Stuck, Some(record))
                if record.status != Status::Completed =>
            {
                let over = Record { status: Status::Compensating, lease_until: now, ..record.clone() };
                match decide(Some(&over), request, now, &policy) {
                    Decision::Compensate { record: next, .. } => {
                        Decision::Compensate { from: record.version(), record: next }
                    }
                    other => other,
                }
            }
            (Mutant::TerminalIsReplaced, Decision::Replay, Some(record)) => over(record),
            (_, decision, _) => decision,
        }
    }

    /// Whether a write's condition holds, by the store's contract or a mutant of it.
    pub(super) fn holds(&self, write: &Write, stored: &Stored) -> bool {
        let claims = write.kind == WriteKind::Claim;
        let ends = |status| !claims && write.record.status == status;
        let (completes, releases) = (ends(Status::Completed) || ends(Status::Failed), ends(Status::Released));
        match self.mutant {
            Mutant::CommitWithoutCondition if write.kind == WriteKind::Commit => return true,
            Mutant::CompleteUnconditionally if completes => return true,
            Mutant::ReleaseUnconditionally if releases => return true,
            Mutant::TakeoverWithoutCompareAndSwap if claims && write.expected.is_some() => return true,
            Mutant::UndecodableTakenForAbsent if claims && *stored == Stored::Unreadable => return true,
            _ => {}
        }
        match (stored, write.expected) {
            (Stored::Nothing, expected) => expected.is_none(),
            (Stored::Record(record), Some(expected)) => {
                let any_owner = (self.mutant == Mutant::CompleteWithoutOwner && completes)
                    || (self.mutant == Mutant::ReleaseWithoutOwner && releases);
                let any_epoch = any_owner || self.mutant == Mutant::VersionWithoutEpoch;
                record.status == expected.status
                    && (any_owner || record.owner == expected.owner)
                    && (any_epoch || record.epoch == expected.epoch)
            }
            (Stored::Record(_) | Stored::Unreadable, _) => false,
        }
    }

    /// Whether the outside world is asked about a lost attempt.
    pub(super) const fn probes(&self) -> bool {
        matches!(self.on_abandoned, OnAbandoned::Probe)
    }

    /// Whether a lost attempt's effect may be repeated.
    pub(super) const fn reruns(&self) -> bool {
        matches!(self.on_abandoned, OnAbandoned::Rerun)
    }
}

fn with_record(decision: Decision, change: impl FnOnce(&mut Record)) -> Decision {
    match decision {
        Decision::Insert(mut record) => {
            change(&mut record);
            Decision::Insert(record)
        }
        Decision::TakeOver { from, mut record } => {
            change(&mut record);
            Decision::TakeOver { from, record }
        }
        Decision::Resume { from, mut record } => {
            change(&mut record);
            Decision::Resume { from, record }
        }
        Decision::Expired { from, mut record } => {
            change(&mut record);
            Decision::Expired { from, record }
        }
        Decision::Compensate { from, mut record } => {
            change(&mut record);
            Decision::Compensate { from, record }
        }
        Decision::Probe { from, mut record } => {
            change(&mut record);
            Decision::Probe { from, record }
        }
        other => other,
    }
}
