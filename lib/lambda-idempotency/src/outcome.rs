//! The outcome of a claim, by name, and the lines about it in the log.

use idempotency_core::{Claim, ClaimError, Claimed, Completion, Operation, Policy};

use crate::Mode;

/// Says in the log what a claim gave. Of an atomic operation nothing is known yet when its handler is to run, because nothing is
/// claimed: [`AtomicEnd`] says it when it has ended.
pub(crate) fn log_claimed(operation: &Operation, claimed: &Result<Claimed, ClaimError>, policy: &Policy) {
    if !(policy.is_atomic() && matches!(claimed, Ok(Claimed::Fresh(_)))) {
        tracing::info!(%operation, outcome = name(claimed), attempt = attempt(claimed), "idempotency");
    }
}

/// What the log says when an atomic operation has ended.
#[derive(Debug)]
pub(crate) struct AtomicEnd {
    /// `None` for an operation that is not atomic: its claim has said it.
    of: Option<(Operation, u32)>,
    mode: Mode,
}

impl AtomicEnd {
    pub(crate) fn of(claim: &Claim, policy: &Policy, mode: Mode) -> Self {
        let attempt = claim.attempt();
        let of = policy.is_atomic().then(|| (attempt.operation().clone(), attempt.number().get()));
        Self { of, mode }
    }

    /// Says what became of the end of the claim, and gives it back. `own` is what it is unless another attempt was quicker.
    pub(crate) fn log(&self, own: &'static str, completion: Completion) -> Completion {
        match &completion {
            // The claim stands, and another end follows.
            Completion::Refused(_) => {}
            Completion::Stored => self.line(own, true),
            Completion::Vanished | Completion::Unconfirmed => self.line("unconfirmed", true),
            Completion::Uncommitted => self.line("uncommitted", true),
            Completion::CommitRefused => self.line("commit_refused", true),
            Completion::Superseded(Some(_)) => self.line("replay", false),
            Completion::Superseded(None) => self.line("conflict", false),
            Completion::Instead(claimed) => self.line(name_of(claimed), false),
        }
        completion
    }

    fn line(&self, outcome: &str, is_own: bool) {
        let Some((operation, attempt)) = &self.of else { return };
        if self.mode != Mode::Shadow {
            tracing::info!(%operation, outcome, attempt = is_own.then_some(*attempt), "idempotency");
        } else if !is_own {
            tracing::warn!(%operation, would_be = outcome, "shadow mode: the handler ran all the same");
        }
    }
}

/// Which attempt a claim has begun, for logs: more than 1 is a lost or failed attempt taken up again.
pub(crate) fn attempt(claimed: &Result<Claimed, ClaimError>) -> Option<u32> {
    match claimed {
        Ok(Claimed::Fresh(claim)) => Some(claim.attempt().number().get()),
        _ => None,
    }
}

/// The outcome's name, for logs and metrics.
pub(crate) const fn name(claimed: &Result<Claimed, ClaimError>) -> &'static str {
    match claimed {
        Ok(claimed) => name_of(claimed),
        Err(_) => "not_claimed",
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
