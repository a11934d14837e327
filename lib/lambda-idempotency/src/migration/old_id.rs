//! Under which id an old function kept its row.

use idempotency_core::{IdempotencyKey, Scope};
use serde_json::{Map, Value};

/// The id of the row that the old function would have written for a request, and what it would have compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldId {
    pub(super) id: String,
    pub(super) validation: Option<String>,
}

impl OldId {
    /// The whole id: the prefix, `#` and the hash.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), validation: None }
    }

    /// The same id, with the hash of what the old function was told to compare (`payload_validation_jmespath`). A row with another one was
    /// written for another request: that is a mismatch. A row without one is not compared.
    #[must_use]
    pub fn validation(self, hash: impl Into<String>) -> Self {
        Self { validation: Some(hash.into()), ..self }
    }
}

/// What is known of a call when the old row's id is computed.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub(crate) key: &'a IdempotencyKey,
    pub(crate) scope: &'a Scope,
    pub(crate) arguments: Option<&'a Map<String, Value>>,
}

impl Asked<'_> {
    /// The call's key.
    pub const fn key(&self) -> &IdempotencyKey {
        self.key
    }

    /// Whose key it is.
    pub const fn scope(&self) -> &Scope {
        self.scope
    }

    /// An argument by its name; `None` where there is none, and for all records of queues, streams and buses.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments?.get(name)
    }
}
