//! The outcome of a claim and of its end, by name: what is counted, and the lines about it in the log.

use idempotency_core::{Claim, ClaimError, Claimed, Compensated, Completion, Operation, Policy, RecordKey, Request};

use crate::{
    Mode,
    metrics::{Metric, count},
};

/// Counts what a claim gave, and says it in the log. Of an atomic operation nothing is known yet when its handler is to run, because
/// nothing is claimed: [`Ending`] says it when it has ended.
pub(crate) fn claimed(request: &Request, claimed: &Result<Claimed, ClaimError>, policy: &Policy) {
    let operation = &request.operation;
    count(operation, Metric::Requests);
    if is_open(claimed, policy) {
        return;
    }
    count_claimed(operation, claimed);
    let (outcome, attempt) = (name(claimed), attempt(claimed));
    tracing::info!(%operation, outcome, attempt, record = %request.record_key(), "idempotency");
}

/// The same after a lost attempt was asked about.
pub(crate) fn claimed_after_probe(request: &Request, claimed: &Result<Claimed, ClaimError>) {
    let operation = &request.operation;
    count_claimed(operation, claimed);
    let (outcome, attempt) = (name(claimed), attempt(claimed));
    tracing::info!(%operation, outcome, attempt, record = %request.record_key(), "idempotency after a probe");
}

/// Counts that the outside world knows a lost attempt's effect, so that its result is the answer, and says it in the log.
pub(crate) fn proven(request: &Request) {
    let operation = &request.operation;
    count(operation, Metric::Replay);
    tracing::info!(%operation, outcome = "replay", record = %request.record_key(), "idempotency after a probe");
}

/// Counts what a claim gave in shadow mode. What would have been the answer is counted as if it were.
pub(crate) fn claimed_in_shadow(operation: &Operation, claimed: &Result<Claimed, ClaimError>, policy: &Policy) {
    count(operation, Metric::Requests);
    if !is_open(claimed, policy) {
        count_claimed(operation, claimed);
    }
}

/// Counts a request that has no usable key or scope.
pub(crate) fn refused(operation: &Operation) {
    count(operation, Metric::InvalidKey);
}

/// Counts a run without protection.
pub(crate) fn unprotected(operation: &Operation) {
    count(operation, Metric::Unprotected);
}

/// Whether a claim is one of an atomic operation that is to run.
fn is_open(claimed: &Result<Claimed, ClaimError>, policy: &Policy) -> bool {
    policy.is_atomic() && matches!(claimed, Ok(Claimed::Fresh(_)))
}

fn count_claimed(operation: &Operation, claimed: &Result<Claimed, ClaimError>) {
    match claimed {
        Ok(claimed) => count_settled(operation, claimed),
        Err(ClaimError::NotHome(_)) => count(operation, Metric::Misdirected),
        Err(_) => count(operation, Metric::StoreUnavailable),
    }
}

fn count_settled(operation: &Operation, claimed: &Claimed) {
    let metric = match claimed {
        Claimed::Fresh(claim) => {
            if claim.took_over() {
                count(operation, Metric::Takeover);
            }
            Metric::Fresh
        }
        Claimed::Replay(_) => Metric::Replay,
        Claimed::Conflict { .. } => Metric::Conflict,
        Claimed::Mismatch => Metric::Mismatch,
        Claimed::Uncertain => Metric::Uncertain,
        Claimed::Stuck => Metric::CompensationStuck,
        // Nothing is settled: the outside world is asked, or undoing goes on.
        Claimed::Abandoned(_) | Claimed::Compensating(_) => return,
    };
    count(operation, metric);
}

/// How an attempt ended that had a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It has a result.
    Completed,
    /// It failed for good.
    Failed,
    /// It failed, and nothing happened.
    Retryable,
    /// Its response is not to be kept.
    NotRetained,
    /// It failed, and nobody knows what happened.
    Abandoned,
}

impl Ended {
    const fn name(self) -> &'static str {
        match self {
            Self::Completed => "fresh",
            Self::Failed => "failed",
            Self::Retryable => "retryable",
            Self::NotRetained => "not-retained",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What is counted when a claim's attempt has ended, and what the log says of an atomic one.
#[derive(Debug)]
pub(crate) struct Ending {
    operation: Operation,
    record: RecordKey,
    attempt: u32,
    is_atomic: bool,
    mode: Mode,
}

impl Ending {
    pub(crate) fn of(claim: &Claim, policy: &Policy, mode: Mode) -> Self {
        let attempt = claim.attempt();
        let (operation, attempt) = (attempt.operation().clone(), attempt.number().get());
        Self { operation, record: claim.record().key.clone(), attempt, is_atomic: policy.is_atomic(), mode }
    }

    /// Counts what became of the end of the claim, and gives it back. `own` is what it is unless another attempt was quicker.
    pub(crate) fn log(&self, own: Ended, completion: Completion) -> Completion {
        self.count(own, &completion);
        match &completion {
            // The claim stands, and another end follows.
            Completion::Refused(_) => {}
            Completion::Stored => self.line(own.name(), true),
            Completion::Vanished | Completion::Unconfirmed => self.line("unconfirmed", true),
            Completion::Uncommitted => self.line("uncommitted", true),
            Completion::CommitRefused => self.line("commit-refused", true),
            Completion::Superseded(Some(_)) => self.line("replay", false),
            Completion::Superseded(None) => self.line("conflict", false),
            Completion::Instead(claimed) => self.line(name_of(claimed), false),
        }
        completion
    }

    /// Counts what became of an operation that failed for good and has steps to undo, and gives it back.
    pub(crate) fn undone(&self, compensated: Compensated) -> Compensated {
        match &compensated {
            Compensated::Failed { completion, .. } | Compensated::Ended(completion) => {
                self.count(Ended::Failed, completion);
            }
            Compensated::Later => count(&self.operation, Metric::CompensationPending),
            Compensated::Stuck => count(&self.operation, Metric::CompensationStuck),
        }
        compensated
    }

    fn count(&self, own: Ended, completion: &Completion) {
        let metric = match (completion, own) {
            (Completion::Refused(_), _) => return,
            // That it ran is counted where it was claimed.
            (Completion::Stored, Ended::Completed) if !self.is_atomic => return,
            (Completion::Stored, Ended::Completed) => Metric::Fresh,
            (Completion::Stored, Ended::Failed) => Metric::Failed,
            (Completion::Stored, Ended::Retryable | Ended::NotRetained) => Metric::Released,
            (Completion::Stored, Ended::Abandoned) => Metric::Abandoned,
            (Completion::Vanished | Completion::Unconfirmed, Ended::Completed | Ended::Failed) => {
                Metric::CompletionUnconfirmed
            }
            // It has no result to lose. Its key may be busy until the lease is over.
            (Completion::Vanished | Completion::Unconfirmed, _) => Metric::Abandoned,
            (Completion::Uncommitted, _) => Metric::Uncommitted,
            (Completion::CommitRefused, _) => Metric::CommitRefused,
            // Of an atomic operation nothing has happened twice: it is an ordinary duplicate.
            (Completion::Superseded(Some(_)), _) if self.is_atomic => Metric::Replay,
            (Completion::Superseded(None), _) if self.is_atomic => Metric::Conflict,
            (Completion::Superseded(_), _) => Metric::Superseded,
            (Completion::Instead(claimed), _) => return count_settled(&self.operation, claimed),
        };
        count(&self.operation, metric);
    }

    fn line(&self, outcome: &str, is_own: bool) {
        // Of another its claim has said it.
        if !self.is_atomic {
            return;
        }
        let (operation, attempt, record) = (&self.operation, self.attempt, &self.record);
        if self.mode != Mode::Shadow {
            tracing::info!(%operation, outcome, attempt = is_own.then_some(attempt), %record, "idempotency");
        } else if !is_own {
            tracing::warn!(%operation, would_be = outcome, %record, "shadow mode: the handler ran all the same");
        }
    }
}

/// Which attempt a claim has begun, for logs: more than 1 is a lost or failed attempt taken up again.
fn attempt(claimed: &Result<Claimed, ClaimError>) -> Option<u32> {
    match claimed {
        Ok(Claimed::Fresh(claim)) => Some(claim.attempt().number().get()),
        _ => None,
    }
}

/// The outcome's name, for logs: the one that [`events::Outcome`](crate::events::Outcome) has for it, where there is one.
pub(crate) const fn name(claimed: &Result<Claimed, ClaimError>) -> &'static str {
    match claimed {
        Ok(claimed) => name_of(claimed),
        Err(ClaimError::NotHome(_)) => "misdirected",
        Err(_) => "not-protected",
    }
}

const fn name_of(claimed: &Claimed) -> &'static str {
    match claimed {
        Claimed::Fresh(_) => "fresh",
        Claimed::Replay(_) => "replay",
        Claimed::Conflict { .. } => "conflict",
        Claimed::Mismatch => "mismatch",
        Claimed::Uncertain => "uncertain",
        Claimed::Abandoned(_) => "abandoned",
        Claimed::Compensating(_) => "compensating",
        Claimed::Stuck => "stuck",
    }
}

#[cfg(test)]
mod tests;
