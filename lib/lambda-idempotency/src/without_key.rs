//! Shadow mode's stand-in for a request that has no usable key.

use idempotency_core::{EpochMillis, Fingerprint, Operation, Request, Scope, TokenError};

use crate::Idempotency;

/// In place of a request that has no usable key or scope: one under a key that nobody else has.
pub(crate) fn without_key<S>(
    idempotency: &Idempotency<S>,
    operation: &Operation,
    deadline: EpochMillis,
) -> Result<Request, TokenError> {
    Ok(Request {
        namespace: idempotency.namespace().clone(),
        operation: operation.clone(),
        scope: Scope::none(),
        key: idempotency.engine().draw_key()?,
        fingerprint: Fingerprint::builder().finish(),
        deadline,
    })
}
