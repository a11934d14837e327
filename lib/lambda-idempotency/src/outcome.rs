//! The outcome of a claim, by name.

use idempotency_core::{ClaimError, Claimed};

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
        Ok(Claimed::Fresh(_)) => "fresh",
        Ok(Claimed::Replay(_)) => "replay",
        Ok(Claimed::Conflict { .. }) => "conflict",
        Ok(Claimed::Mismatch) => "mismatch",
        Ok(Claimed::Uncertain) => "uncertain",
        Ok(Claimed::Abandoned(_)) => "abandoned",
        Ok(Claimed::Compensating(_)) => "compensating",
        Ok(Claimed::Stuck) => "stuck",
        Err(_) => "not_claimed",
    }
}
