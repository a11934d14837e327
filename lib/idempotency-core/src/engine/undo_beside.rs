//! Undoing that goes on with a request which is not the one that failed.

use std::{error::Error, future::Future};

use super::{ClaimError, Engine, Request};
use crate::{Claim, Decision, OwnerToken, Policy, Replaced, Status, Store, Undo, Undone, decide};

impl<S: Store> Engine<S> {
    /// Goes on undoing what a lost attempt had begun to undo, for a request of the same key and scope that will not be carried out: it is
    /// another one, or cannot be read. A request that was half done in one deployment may look so in the next, and then nobody could ever
    /// come for what is left.
    ///
    /// Nothing of what is stored is told, so what the request gets is its own affair. One read where nothing is to be undone, or
    /// somebody is at it; no request for an operation without an undo, or away from
    /// the key's home region.
    ///
    /// Dropping the future leaves the rest to the next request after the lease is over.
    pub async fn undo_beside<F>(&self, request: &Request, policy: &Policy, undo: impl Fn(Undo) -> F)
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        if !policy.undoes() || self.at_home(&request.scope).is_err() {
            return;
        }
        match Box::pin(self.claim_undoing(request, policy)).await {
            Ok(None) => {}
            Ok(Some(claim)) => {
                let _ = self.resume_compensation(claim, undo).await;
            }
            Err(error) => {
                tracing::warn!(operation = %request.operation, error = &error as &dyn Error, "it is not known whether something is to be undone");
            }
        }
    }

    /// Claims a key for undoing, and for nothing else.
    async fn claim_undoing(&self, request: &Request, policy: &Policy) -> Result<Option<Claim>, ClaimError> {
        let within = self.timeouts.for_call(request.deadline, self.now());
        let stored = self.store.get(&request.record_key(), within).await?;
        let Some(stored) = stored.filter(|stored| stored.status == Status::Compensating) else { return Ok(None) };
        let token = OwnerToken::from_bytes(self.tokens.draw()?);
        // The record stays that of the request that failed.
        let failed = Request { fingerprint: stored.fingerprint, ..request.clone() };
        let asked = self.claim_request(&failed, stored.key.clone(), token)?;
        let Decision::Compensate { from, record } = decide(Some(&stored), &asked, self.now(), policy) else {
            return Ok(None);
        };
        let record = self.with_parts(from, record, within).await?;
        match self.store.replace(from, &record, within).await {
            Ok(Replaced::Replaced) => Ok(Some(Claim::new(self.attempt(&failed, &record, policy), record))),
            // Whoever was quicker is at it.
            Ok(Replaced::Differs(_)) => Ok(None),
            Err(error) => Err(self.give_up(&failed, record, error).await),
        }
    }
}
