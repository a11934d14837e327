//! Why a request got no definite answer.

use idempotency_core::IdempotencyKey;

use super::Unresolved;
use crate::http::KeyHeaderError;

/// Why a request got no definite answer.
///
/// It comes out of the client as a [`reqwest_middleware::Error`]; [`ClientError::of`] finds it there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The request came with a header `Idempotency-Key` that is no key.
    #[error("nothing was sent, because the request's own Idempotency-Key cannot be used: {0}")]
    KeyHeader(#[from] KeyHeaderError),
    /// The request's body can be sent only once.
    #[error("nothing was sent, because the body is a stream and could not be repeated; give it as bytes or text")]
    BodyNotRepeatable {
        /// The key that the request had, or was to have.
        key: IdempotencyKey,
    },
    /// The callee fails so often that nothing is sent to it for a while.
    #[error(
        "nothing was sent, because the callee has been failing (the circuit is open); send it later, with the same key if it has one"
    )]
    CircuitOpen {
        /// The key that the request had, or was to have. `None` for a request that needs no key.
        key: Option<IdempotencyKey>,
    },
    /// There were attempts, and none was answered definitely. The request may have been carried out, or still be.
    #[error(transparent)]
    Unresolved(Box<Unresolved>),
    /// 422: the key was used with another request.
    #[error(
        "the callee knows this Idempotency-Key from another request, so this one was not carried out; that is a mistake in the caller: a \
         new request needs a new key, and a repetition must be exactly what was first sent"
    )]
    Mismatch {
        /// The key.
        key: IdempotencyKey,
    },
    /// 500 of type `outcome-unknown`: an attempt was lost, the request will not be carried out again, and the callee stays with that until
    /// its operator has resolved it.
    #[error(
        "the request may or may not have been carried out and will not be repeated; have it resolved on the callee's side, then ask with \
         the same key"
    )]
    OutcomeUnknown {
        /// The key.
        key: IdempotencyKey,
    },
    /// 500 of type `result-unreadable`: the request was carried out, and the callee cannot read the answer that it stored.
    #[error(
        "the request was carried out, but the callee cannot read its stored answer; do not send it under another key"
    )]
    ResultUnreadable {
        /// The key.
        key: IdempotencyKey,
    },
    /// 500 of type `compensation-stuck`: the request failed, something that it had done before could not be undone, and the callee stays
    /// with that until its operator has resolved it.
    #[error(
        "the request failed, and something that it had done before could not be undone; have it resolved on the callee's side, and do not \
         send it under another key before"
    )]
    CompensationStuck {
        /// The key.
        key: IdempotencyKey,
    },
    /// A request that needs no key got no answer within the attempt's timeout, in any attempt.
    #[error("no answer came within the timeout of an attempt")]
    TimedOut,
    /// The request cannot be sent as it is, or a layer below failed.
    #[error("the request could not be sent as it is; mend it, and send it with the same key")]
    Failed {
        /// The key.
        key: IdempotencyKey,
        /// What is wrong.
        source: Box<reqwest_middleware::Error>,
    },
}

impl ClientError {
    /// The error of this layer in one that the client returned. `None` if the error is another's, such as that of a request without a key.
    ///
    /// ```
    /// use lambda_idempotency::{IdempotencyKey, client::ClientError};
    ///
    /// /// The key with which to go on later.
    /// fn to_be_continued(error: &reqwest_middleware::Error) -> Option<&IdempotencyKey> {
    ///     match ClientError::of(error)? {
    ///         ClientError::Unresolved(unresolved) => Some(unresolved.key()),
    ///         ClientError::CircuitOpen { key } => key.as_ref(),
    ///         _ => None,
    ///     }
    /// }
    /// ```
    pub fn of(error: &reqwest_middleware::Error) -> Option<&Self> {
        match error {
            reqwest_middleware::Error::Middleware(error) => error.downcast_ref(),
            reqwest_middleware::Error::Reqwest(_) => None,
        }
    }

    /// The key of the request, to go on with it or to ask about it.
    pub fn key(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::KeyHeader(_) | Self::TimedOut => None,
            Self::CircuitOpen { key } => key.as_ref(),
            Self::Unresolved(unresolved) => Some(unresolved.key()),
            Self::BodyNotRepeatable { key }
            | Self::Mismatch { key }
            | Self::OutcomeUnknown { key }
            | Self::ResultUnreadable { key }
            | Self::CompensationStuck { key }
            | Self::Failed { key, .. } => Some(key),
        }
    }

    /// Whether it is certain that nothing was sent.
    pub const fn nothing_was_sent(&self) -> bool {
        matches!(self, Self::KeyHeader(_) | Self::BodyNotRepeatable { .. } | Self::CircuitOpen { .. })
    }
}
