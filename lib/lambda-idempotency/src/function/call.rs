//! One call: under which key, whose, and what is asked.

use idempotency_core::{EpochMillis, Fingerprint, IdempotencyKey, Request, Scope, ScopeError};
use serde_json::{Map, Value};

use super::{Argument, Error, FunctionOperation, IntoKey, IntoScope, InvalidKey, fingerprint::fingerprint};
use crate::{Idempotency, migration};

/// One call of a function: under which key, whose key, and what is asked. What is wrong with it is told by
/// [`run()`](super::run()).
///
/// ```
/// use lambda_idempotency::{IdempotencyKey, Scope, function::Call};
///
/// let call = Call::new(IdempotencyKey::new("order-42"), Scope::tenant("tenant-7")).argument("quantity", &3);
/// ```
#[derive(Debug)]
#[must_use = "a call does nothing until it is run"]
pub struct Call {
    key: Result<IdempotencyKey, InvalidKey>,
    scope: Result<Scope, ScopeError>,
    asked: Asked,
    deadline: Option<EpochMillis>,
    looks_first: bool,
}

#[derive(Debug)]
enum Asked {
    Arguments(Map<String, Value>),
    Unwritable { argument: &'static str, error: serde_json::Error },
    Fingerprint(Fingerprint),
}

impl Call {
    /// A call under a key of this scope, without arguments.
    pub fn new(key: impl IntoKey, scope: impl IntoScope) -> Self {
        Self {
            key: key.into_key(),
            scope: scope.into_scope(),
            asked: Asked::Arguments(Map::new()),
            deadline: None,
            looks_first: false,
        }
    }

    /// The same call with an argument: the same key with another value of it, or without it, is a mismatch.
    ///
    /// It counts by its JSON, in canonical form: the order of a map's entries does not count, nor does `1.0` differ from `1`. What
    /// serde leaves out of the JSON does not count. The name does: give an argument a new name, and calls in flight and their
    /// retries no longer match.
    pub fn argument<T: Argument + ?Sized>(self, name: &'static str, value: &T) -> Self {
        let asked = match self.asked {
            Asked::Arguments(mut arguments) => match serde_json::to_value(value) {
                Ok(value) => {
                    arguments.insert(name.to_owned(), value);
                    Asked::Arguments(arguments)
                }
                Err(error) => Asked::Unwritable { argument: name, error },
            },
            decided => decided,
        };
        Self { asked, ..self }
    }

    /// The same call with a fingerprint of your own in place of arguments.
    pub fn fingerprint(self, fingerprint: Fingerprint) -> Self {
        Self { asked: Asked::Fingerprint(fingerprint), ..self }
    }

    /// The same call with the time when its attempt will have ended, whatever happens: the end of the Lambda invocation
    /// ([`lambda_deadline`](crate::lambda_deadline)), or when you end it yourself. Without one, the window's longest run counts.
    pub fn deadline(self, deadline: EpochMillis) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same call, which is probably a duplicate, so that its claim begins with a read:
    /// [`Policy::look_first`](crate::Policy::look_first).
    pub fn look_first(self, looks_first: bool) -> Self {
        Self { looks_first, ..self }
    }

    pub(super) const fn looks_first(&self) -> bool {
        self.looks_first
    }

    /// What an old function's row is found by; `None` for a call that will be refused.
    pub(super) fn asked(&self) -> Option<migration::Asked<'_>> {
        let (key, scope) = (self.key.as_ref().ok()?, self.scope.as_ref().ok()?);
        let arguments = match &self.asked {
            Asked::Arguments(arguments) => Some(arguments),
            _ => None,
        };
        Some(migration::Asked { key, scope, arguments })
    }

    /// The claim's request, computed once; with it why it is refused, where only what is asked has no fingerprint.
    pub(super) fn request<S, E>(
        self,
        idempotency: &Idempotency<S>,
        operation: &FunctionOperation,
    ) -> Result<(Request, Option<Error<E>>), Error<E>> {
        let (fingerprint, refused) = match self.asked {
            Asked::Arguments(arguments) => {
                (fingerprint(Value::Object(arguments), &operation.fingerprint_exclude), None)
            }
            Asked::Unwritable { argument, error } => {
                (Fingerprint::builder().finish(), Some(Error::Argument { argument, source: error }))
            }
            Asked::Fingerprint(fingerprint) => (fingerprint, None),
        };
        let longest_run = || idempotency.engine().now() + operation.policy.window().longest_run();
        let request = Request {
            namespace: idempotency.namespace().clone(),
            operation: operation.operation.clone(),
            scope: self.scope?,
            key: self.key?,
            fingerprint,
            deadline: self.deadline.unwrap_or_else(longest_run),
        };
        Ok((request, refused))
    }
}
