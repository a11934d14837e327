//! What a call's scope may come from.

use idempotency_core::{Scope, ScopeError};

/// What a call's scope may come from: a scope, or the attempt to make one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no scope",
    label = "expected a scope",
    note = "say whose keys a call uses: `scope = tenant(&invoice.tenant)`; if there is only one caller, `scope = none`"
)]
pub trait IntoScope {
    /// The scope.
    ///
    /// # Errors
    ///
    /// [`ScopeError`] when the tenant's name is empty. It is never replaced by a shared scope.
    fn into_scope(self) -> Result<Scope, ScopeError>;
}

impl IntoScope for Scope {
    fn into_scope(self) -> Result<Scope, ScopeError> {
        Ok(self)
    }
}

impl IntoScope for &Scope {
    fn into_scope(self) -> Result<Scope, ScopeError> {
        Ok(self.clone())
    }
}

impl IntoScope for Result<Scope, ScopeError> {
    fn into_scope(self) -> Result<Scope, ScopeError> {
        self
    }
}

impl IntoScope for &Result<Scope, ScopeError> {
    fn into_scope(self) -> Result<Scope, ScopeError> {
        self.clone()
    }
}
