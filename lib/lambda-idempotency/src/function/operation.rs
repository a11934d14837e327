//! What a function does, for calls of it.

use std::time::Duration;

use idempotency_core::{JsonPointer, OnAbandoned, Operation, Policy, Window};

/// The operation that a function carries out: what it is called, and its policy.
///
/// ```
/// use lambda_idempotency::{OnAbandoned, Operation, function::FunctionOperation};
///
/// let send = FunctionOperation::new(Operation::declare("send-invoice", 1)).on_abandoned(OnAbandoned::Reject);
/// ```
#[derive(Clone, Debug)]
pub struct FunctionOperation {
    pub(crate) operation: Operation,
    pub(crate) policy: Policy,
    pub(crate) fingerprint_exclude: Vec<JsonPointer>,
}

impl FunctionOperation {
    /// An operation that remembers keys for 48 hours ([`Window::http`]), runs again after a lost attempt
    /// ([`OnAbandoned::Rerun`]), and tells duplicates of a call in flight that there is a conflict.
    pub const fn new(operation: Operation) -> Self {
        Self::with_window(operation, Window::http())
    }

    pub(crate) const fn with_window(operation: Operation, window: Window) -> Self {
        Self { operation, policy: Policy::new(window), fingerprint_exclude: Vec::new() }
    }

    /// The same operation with another choice for abandoned attempts.
    #[must_use]
    pub fn on_abandoned(self, on_abandoned: OnAbandoned) -> Self {
        Self { policy: self.policy.on_abandoned(on_abandoned), ..self }
    }

    /// The same operation with another window. Its longest run is an attempt's time where a call names no deadline.
    #[must_use]
    pub fn window(self, window: Window) -> Self {
        Self { policy: self.policy.with_window(window), ..self }
    }

    /// The same operation, whose duplicates wait for the result of a call in flight, for `max` at the longest and never beyond
    /// their own deadline. Then they get the conflict. A waiter writes nothing.
    #[must_use]
    pub fn wait(self, max: Duration) -> Self {
        Self { policy: self.policy.wait(Some(max)), ..self }
    }

    /// The same operation, whose calls are the same whatever stands at these places of the arguments, or if nothing does: members
    /// that the caller sets anew on each retry. The first step is the argument's name: `/invoice/sent_at`.
    ///
    /// What is excluded is not protected: of two calls that differ there only, the second gets the first one's value.
    #[must_use]
    pub fn fingerprint_exclude(self, places: impl Into<Vec<JsonPointer>>) -> Self {
        Self { fingerprint_exclude: places.into(), ..self }
    }

    /// The operation's name and version.
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }
}
