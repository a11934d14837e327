//! What a handler does, for the HTTP wrapper.

use std::borrow::Cow;

use http::Method;
use idempotency_core::{JsonPointer, OnAbandoned, Operation, Policy, Window};

use super::{InFlight, ReplayHeader, Retain, ScopeSource, replayed_headers::ReplayedHeaders};

/// A method and a path, as they are part of an operation's identity.
pub(super) fn route(method: &Method, path: &str) -> String {
    format!("{method} {path}")
}

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
    pub(super) in_flight: InFlight,
    pub(super) retain: Retain,
    pub(super) fingerprint_exclude: Vec<JsonPointer>,
    pub(super) replayed_headers: ReplayedHeaders,
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
            in_flight: InFlight::Conflict,
            retain: Retain::ALL,
            fingerprint_exclude: Vec::new(),
            replayed_headers: ReplayedHeaders::default(),
            methods: Cow::Borrowed(&[Method::POST, Method::PATCH]),
        }
    }

    /// The same operation with another choice for abandoned attempts.
    #[must_use]
    pub fn on_abandoned(self, on_abandoned: OnAbandoned) -> Self {
        Self { policy: self.policy.on_abandoned(on_abandoned), ..self }
    }

    /// The same operation, whose whole effect is what it stages ([`Attempt::stage`](crate::Attempt::stage)): nothing is claimed before
    /// the handler runs, and effect and response commit together, in one request. A duplicate may run the handler too; what it staged
    /// is dropped, and it gets the stored response. So the handler does nothing but read and stage.
    ///
    /// An attempt of it is never abandoned: it has committed or nothing has happened. [`on_abandoned`](Self::on_abandoned) means records
    /// that are left of a version that was not atomic.
    #[must_use]
    pub fn atomic(self) -> Self {
        Self { policy: self.policy.atomic(true), ..self }
    }

    /// The same operation, which is run with a function that undoes its steps
    /// ([`Attempt::step_with_undo`](crate::Attempt::step_with_undo)) when it fails for good: see [`run_with`](super::run_with()).
    #[must_use]
    pub fn undo(self) -> Self {
        Self { policy: self.policy.undo(true), ..self }
    }

    /// The same operation with another window.
    #[must_use]
    pub fn window(self, window: Window) -> Self {
        Self { policy: self.policy.with_window(window), ..self }
    }

    /// The same operation with another choice for duplicates of a request that is being carried out.
    #[must_use]
    pub fn in_flight(self, in_flight: InFlight) -> Self {
        let longest_wait = match in_flight {
            InFlight::Wait(max) => Some(max),
            _ => None,
        };
        Self { policy: self.policy.wait(longest_wait), in_flight, ..self }
    }

    /// The same operation, storing and replaying only responses of these status classes.
    #[must_use]
    pub fn retain(self, retain: Retain) -> Self {
        Self { retain, ..self }
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

    /// The same operation, whose requests are the same whatever stands at these places of a JSON body, or if nothing does: members that
    /// the client sets anew on each retry, such as the time of sending.
    ///
    /// They only matter for bodies that are JSON by their content type, or have none, and have a canonical form;
    /// [`FingerprintBuilder::json_without`](idempotency_core::FingerprintBuilder::json_without) has the details. What is excluded is
    /// not protected: of two requests that differ there only, the second gets the first one's answer.
    ///
    /// ```
    /// use lambda_idempotency::{JsonPointer, Operation, http::{HttpOperation, scope}};
    ///
    /// const SENT_AT: JsonPointer = JsonPointer::declare("/sent_at");
    /// let charge = HttpOperation::new(Operation::declare("create-charge", 1), scope::jwt_claim("sub")).fingerprint_exclude([SENT_AT]);
    /// ```
    #[must_use]
    pub fn fingerprint_exclude(self, places: impl Into<Vec<JsonPointer>>) -> Self {
        Self { fingerprint_exclude: places.into(), ..self }
    }

    /// The same operation, whose replays have these headers too; all but they, hop-by-hop fields and the length are replayed
    /// anyway.
    ///
    /// Responses that are stored already keep what they have.
    ///
    /// ```
    /// use lambda_idempotency::{Operation, http::{HttpOperation, ReplayHeader, scope}};
    ///
    /// let log_in = HttpOperation::new(Operation::declare("log-in", 1), scope::jwt_claim("sub")).replay_headers([ReplayHeader::SetCookie]);
    /// ```
    #[must_use]
    pub fn replay_headers(self, headers: impl IntoIterator<Item = ReplayHeader>) -> Self {
        Self { replayed_headers: ReplayedHeaders::new(headers), ..self }
    }

    pub(super) fn protects(&self, method: &Method) -> bool {
        self.methods.contains(method)
    }

    /// The method that is meant where none is named.
    pub(super) fn first_method(&self) -> Option<&Method> {
        self.methods.first()
    }

    /// The protected methods, as an `Allow` header lists them.
    pub(super) fn allow(&self) -> String {
        self.methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ")
    }
}
