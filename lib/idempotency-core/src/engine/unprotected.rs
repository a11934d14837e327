//! Attempts without a claim, where protection is switched off.

use std::sync::Arc;

use super::{Engine, Request};
use crate::{
    Attempt, AttemptNumber, Epoch, ExecutionId, IdempotencyKey, OwnerToken, Policy, TokenError, attempt::Effects,
};

impl<S> Engine<S> {
    /// What a handler sees of a request that runs without a claim, because protection is switched off. It proves nothing: other
    /// attempts at the same key may run at the same time. Its steps are made and not stored; what it stages is written by
    /// [`apply`](Self::apply). Makes no request.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn unprotected_attempt(&self, request: &Request, policy: &Policy) -> Result<Attempt, TokenError> {
        self.attempt_without_claim(request, policy, false)
    }

    /// As [`unprotected_attempt`](Self::unprotected_attempt), for a request under a key that was [drawn](Self::draw_key) for it: nobody
    /// else has the keys of its steps, so that what they did is its own.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn keyless_attempt(&self, request: &Request, policy: &Policy) -> Result<Attempt, TokenError> {
        self.attempt_without_claim(request, policy, true)
    }

    fn attempt_without_claim(&self, request: &Request, policy: &Policy, is_alone: bool) -> Result<Attempt, TokenError> {
        // Events that it publishes have ids of its own.
        let execution = ExecutionId::from_bytes(self.tokens.draw()?);
        Ok(Attempt {
            namespace: request.namespace.clone(),
            operation: request.operation.clone(),
            scope: request.scope.clone(),
            key: request.key.clone(),
            record_key: request.record_key(),
            epoch: Epoch::next(None, self.now()),
            number: AttemptNumber::FIRST,
            deadline: request.deadline,
            clock: Arc::clone(&self.clock),
            effects: Arc::new(Effects::unprotected(policy.atomic(false), execution, is_alone)),
        })
    }

    /// A key that no request has, for one that runs unprotected and brings none: nothing that it is passed on to will take two
    /// requests for one.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn draw_key(&self) -> Result<IdempotencyKey, TokenError> {
        Ok(IdempotencyKey::of_token(&OwnerToken::from_bytes(self.tokens.draw()?)))
    }
}
