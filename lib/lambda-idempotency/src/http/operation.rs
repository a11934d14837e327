//! What a handler does, for the HTTP wrapper.

use std::borrow::Cow;

use http::Method;
use idempotency_core::{OnAbandoned, Operation, Policy, Window};

use super::ScopeSource;

/// An operation over HTTP: what it is called, whose keys it gets, which methods need a key, and its policy.
///
/// ```
/// use lambda_idempotency::{OnAbandoned, Operation, http::{HttpOperation, scope}};
///
/// let charge = HttpOperation::new(Operation::declare("create-charge", 1), scope::jwt_claim("sub"))
///     .on_abandoned(OnAbandoned::Reject);
/// ```
#[derive(Clone, Debug)]
pub struct HttpOperation {
    pub(super) operation: Operation,
    pub(super) scope: ScopeSource,
    pub(super) policy: Policy,
    methods: Cow<'static, [Method]>,
}

impl HttpOperation {
    /// An operation that needs a key on `POST` and `PATCH`, lets other methods pass, remembers keys for [`Window::http`] and
    /// runs again after a lost attempt ([`OnAbandoned::Rerun`]).
    pub fn new(operation: Operation, scope: ScopeSource) -> Self {
        Self {
            operation,
            scope,
            policy: Policy::new(Window::http()),
            methods: Cow::Borrowed(&[Method::POST, Method::PATCH]),
        }
    }

    /// The same operation with another choice for abandoned attempts.
    #[must_use]
    pub fn on_abandoned(self, on_abandoned: OnAbandoned) -> Self {
        Self { policy: self.policy.on_abandoned(on_abandoned), ..self }
    }

    /// The same operation with another window.
    #[must_use]
    pub fn window(self, window: Window) -> Self {
        Self { policy: Policy::new(window).on_abandoned(self.policy.abandoned()), ..self }
    }

    /// The same operation, needing a key on these methods and letting others pass.
    ///
    /// # Panics
    ///
    /// If the list is empty: nothing would be protected.
    #[must_use]
    pub fn methods(self, methods: impl Into<Vec<Method>>) -> Self {
        let methods = methods.into();
        assert!(!methods.is_empty(), "an operation without protected methods protects nothing");
        Self { methods: Cow::Owned(methods), ..self }
    }

    pub(super) fn protects(&self, method: &Method) -> bool {
        self.methods.contains(method)
    }

    /// The protected methods, as an `Allow` header lists them.
    pub(super) fn allow(&self) -> String {
        self.methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ")
    }
}
