//! What a handler's error says about its effect.

use std::{convert::Infallible, time::Duration};

use idempotency_core::Refused;
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

    /// The error of a handler that returned a response, and the condition of a write that it had staged does not hold. Nothing of
    /// what was staged has been written. Without one the caller gets 503 and may retry.
    ///
    /// ```
    /// use lambda_idempotency::{Refused, http::{Classify, Failure}};
    ///
    /// enum TransferError {
    ///     InsufficientFunds,
    /// #   Other,
    /// }
    ///
    /// impl Classify for TransferError {
    ///     fn classify(self) -> Failure {
    ///         # let response = Box::default();
    ///         // …
    ///         # Failure::Permanent(response)
    ///     }
    ///
    ///     fn refused(refused: Refused) -> Option<Self> {
    ///         (refused.name() == "debit").then_some(Self::InsufficientFunds)
    ///     }
    /// }
    /// ```
    fn refused(refused: Refused) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = refused;
        None
    }
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
