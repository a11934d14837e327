//! Shadow mode's stand-in for a request that has no usable key.

use idempotency_core::{Attempt, EpochMillis, Fingerprint, Operation, Policy, Request, Scope, TokenError};

use crate::Idempotency;

/// The attempt of a request that has no usable key or scope: under a key that nobody else has.
pub(crate) fn without_key<S>(
    idempotency: &Idempotency<S>,
    operation: &Operation,
    policy: &Policy,
    deadline: EpochMillis,
) -> Result<Attempt, TokenError> {
    let engine = idempotency.engine();
    let request = Request {
        namespace: idempotency.namespace().clone(),
        operation: operation.clone(),
        scope: Scope::none(),
        key: engine.draw_key()?,
        fingerprint: Fingerprint::builder().finish(),
        deadline,
    };
    engine.keyless_attempt(&request, policy)
}
