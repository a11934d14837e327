//! Who is asking: the tenant or caller that a key belongs to.

use std::fmt;

/// The tenant or caller that a key belongs to. Two scopes never share a record, whatever their keys.
///
/// ```
/// use idempotency_core::Scope;
///
/// assert_ne!(Scope::tenant("tenant-7").unwrap(), Scope::none());
/// assert!(Scope::tenant("  ").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Scope(Option<String>);

/// The tenant's name is empty or all blank, so it would be shared by every caller that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scope is empty; use `Scope::none()` when all callers share one key space on purpose")]
pub struct ScopeError;

impl Scope {
    /// The scope of one tenant, caller or account.
    ///
    /// # Errors
    ///
    /// When the name is empty or all blank.
    pub fn tenant(tenant: impl Into<String>) -> Result<Self, ScopeError> {
        let tenant = tenant.into();
        if tenant.trim().is_empty() { Err(ScopeError) } else { Ok(Self(Some(tenant))) }
    }

    /// No scope: all callers share one key space, and one caller's key can replay another's result.
    pub const fn none() -> Self {
        Self(None)
    }

    /// The tenant's name, unless there is no scope.
    pub fn as_tenant(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Shows whether there is a tenant, not which.
impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Scope(tenant)" } else { "Scope(none)" })
    }
}
