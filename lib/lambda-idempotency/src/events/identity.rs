//! Whose record it is, and by what it is known.

use idempotency_core::{IdempotencyKey, Scope, ScopeError};

use crate::function::{IntoKey, IntoScope, InvalidKey};

/// What a function says about the identity of its records: whose they are, and their business key if they have one.
///
/// ```
/// use lambda_idempotency::{Operation, Scope, events::Identity, key};
///
/// const INTAKE: Operation = Operation::declare("take-in-claim", 1);
/// let claim_id = "claim-7".to_owned();
///
/// let by_the_platform = Identity::new(Scope::none());
/// let by_the_claim = Identity::new(Scope::tenant("tenant-7")).key(key!(INTAKE; claim_id));
/// ```
#[derive(Clone, Debug)]
pub struct Identity {
    pub(super) scope: Result<Scope, ScopeError>,
    pub(super) key: Option<Result<IdempotencyKey, InvalidKey>>,
}

impl Identity {
    /// A record of this scope. Without a [`key`](Self::key) it is known by the key that travels with it, and if there is none by
    /// the id that its platform gave it.
    pub fn new(scope: impl IntoScope) -> Self {
        Self { scope: scope.into_scope(), key: None }
    }

    /// The same record, with a business key for where none travels with it.
    #[must_use]
    pub fn key(self, key: impl IntoKey) -> Self {
        Self { key: Some(key.into_key()), ..self }
    }
}
