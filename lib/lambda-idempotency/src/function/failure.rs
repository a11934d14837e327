//! What a function's error says about its effect.

use std::{convert::Infallible, time::Duration};

use idempotency_core::Refused;

use super::{BoxError, Failed};

/// What became of the effect of a function that returned an error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The effect did not happen. The key is released, and the next call may run at once.
    Retryable {
        /// When the caller should try again, if that is known.
        retry_after: Option<Duration>,
    },
    /// The operation failed for good. This is stored, and all later calls get it without running.
    Permanent(Failed),
    /// Nobody knows. The attempt counts as abandoned: the key stays claimed until its lease is over, and then
    /// [`OnAbandoned`](crate::OnAbandoned) decides.
    Abandoned,
}

/// Says of a function's error what it means for the effect. The error itself goes on to the caller.
///
/// An implementation that says nothing says [`Failure::Abandoned`], which is the safe answer.
///
/// ```
/// use lambda_idempotency::function::{Classify, Failed, Failure};
///
/// #[derive(Debug)]
/// enum MailError {
///     Refused,
///     NoSuchAddress,
///     NoAnswer,
/// }
///
/// impl Classify for MailError {
///     fn classify(&self) -> Failure {
///         match self {
///             // Nothing was sent.
///             Self::Refused => Failure::Retryable { retry_after: None },
///             // Trying again will not help.
///             Self::NoSuchAddress => Failure::Permanent(Failed::new("no such address")),
///             // It may have been sent.
///             Self::NoAnswer => Failure::Abandoned,
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it means for the effect",
    label = "this error must implement `lambda_idempotency::function::Classify`",
    note = "`impl Classify for {Self} {{}}` counts as abandoned: nobody knows whether the effect happened; implement `classify` to say `Retryable` or `Permanent`",
    note = "for an error of another crate, return `Box<dyn std::error::Error + Send + Sync>`, which counts as abandoned, or wrap it"
)]
pub trait Classify {
    /// What became of the effect.
    fn classify(&self) -> Failure {
        Failure::Abandoned
    }

    /// The error of a function that returned a value, and the condition of a write that it had staged does not hold. Nothing of what
    /// was staged has been written. Without one the caller gets [`Error::Refused`](super::Error::Refused) and may retry.
    ///
    /// ```
    /// use lambda_idempotency::{Refused, function::Classify};
    ///
    /// #[derive(Debug)]
    /// struct OutOfStock;
    ///
    /// impl Classify for OutOfStock {
    ///     fn refused(refused: Refused) -> Option<Self> {
    ///         (refused.name() == "stock").then_some(Self)
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
impl Classify for BoxError {}

impl Classify for Infallible {
    fn classify(&self) -> Failure {
        match *self {}
    }
}
