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

    /// The same operation, whose whole effect is what it stages ([`Attempt::stage`](crate::Attempt::stage)): nothing is claimed before
    /// the function runs, and effect and value commit together, in one request. A duplicate may run the function too; what it staged
    /// is dropped, and it gets the stored value. So the function does nothing but read and stage.
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
