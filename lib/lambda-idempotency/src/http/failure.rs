//! What a handler's error says about its effect.

use std::{convert::Infallible, time::Duration};

use lambda_http::{Body, Error, Response};

/// What became of the effect of a handler that returned an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The effect did not happen. The key is released, the caller gets 503 and the next attempt may claim at once.
    Retryable {
        /// When the caller should try again; one second if not said.
        retry_after: Option<Duration>,
        /// What happened, for the log.
        source: Error,
    },
    /// The operation failed for good. This response is stored and replayed.
    Permanent(Box<Response<Body>>),
    /// Nobody knows. The attempt counts as abandoned: the key stays claimed until its lease is over, and then
    /// [`OnAbandoned`](crate::OnAbandoned) decides. The error goes on to Lambda.
    Abandoned(Error),
}

/// Says of an error what it means for the effect.
///
/// A response that a handler *returns*, of whatever status, is a result: it is stored and replayed. An error is for what is
/// not a result.
///
/// ```
/// use lambda_idempotency::http::{Classify, Failure};
///
/// enum ChargeError {
///     ProviderRefusedConnection,
///     ProviderDidNotAnswer,
/// }
///
/// impl Classify for ChargeError {
///     fn classify(self) -> Failure {
///         match self {
///             // No charge can have happened.
///             Self::ProviderRefusedConnection => {
///                 Failure::Retryable { retry_after: None, source: "the provider refused the connection".into() }
///             }
///             // A charge may have happened.
///             Self::ProviderDidNotAnswer => Failure::Abandoned("the provider did not answer".into()),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it means for the effect",
    label = "this error must implement `lambda_idempotency::http::Classify`",
    note = "implement `Classify` to say `Retryable`, `Permanent` or `Abandoned`, or return `lambda_http::Error`, which counts as abandoned"
)]
pub trait Classify {
    /// What became of the effect.
    fn classify(self) -> Failure;
}

/// An error of unknown meaning: abandoned.
impl Classify for Error {
    fn classify(self) -> Failure {
        Failure::Abandoned(self)
    }
}

/// A failure that was classified before.
impl Classify for Failure {
    fn classify(self) -> Failure {
        self
    }
}

impl Classify for Infallible {
    fn classify(self) -> Failure {
        match self {}
    }
}
