//! Why a call has no value.

use std::time::Duration;

use idempotency_core::{ClaimError, NotHome, Refused, ScopeError};

use super::{Failed, InvalidKey};

/// An error of any kind, as `lambda_runtime` and `lambda_http` name it too.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How long to wait where nothing says how long it will take.
pub(super) const SOON: Duration = Duration::from_secs(1);

/// Why a call has no value. `E` is the function's own error.
///
/// [`retry_after`](Self::retry_after) says whether and when to call again with the same key. The others stay as they are until
/// someone acts: the caller, who sends something else, or an operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// The function ran, and its error says that the effect did not happen ([`Failure::Retryable`](super::Failure::Retryable)). The
    /// key is free, and the next call runs at once.
    #[error("{error}")]
    Retryable {
        /// The function's error.
        error: E,
        /// When to call again, if the function said so.
        retry_after: Option<Duration>,
    },
    /// The function ran, and its error does not say what became of the effect
    /// ([`Failure::Abandoned`](super::Failure::Abandoned)). What the next call gets is the operation's choice,
    /// [`OnAbandoned`](crate::OnAbandoned), once the lease is over.
    #[error("{0}")]
    Abandoned(E),
    /// The function failed for good ([`Failure::Permanent`](super::Failure::Permanent)), in this call or in an earlier one.
    #[error(transparent)]
    Failed(Failed),
    /// Another attempt with the same key may be running. The function did not run.
    #[error("another attempt with the same key may be running; call again in {} s with the same key", retry_after.as_secs_f64())]
    Conflict {
        /// When to call again.
        retry_after: Duration,
        /// The rest of the other attempt's lease: after that it cannot be running any more.
        lease_left: Duration,
    },
    /// The key was used with other arguments. The function did not run.
    #[error(
        "the key was used with other arguments; use a new key for a new call, or the arguments that it was first used with"
    )]
    Mismatch,
    /// An earlier attempt was lost, and nobody knows whether its effect happened. The function did not run.
    #[error(
        "an earlier attempt was lost and may or may not have taken effect; it is not repeated until that is resolved"
    )]
    Uncertain,
    /// The function ran, and the condition of a write that it had staged does not hold, of which its error type says nothing
    /// ([`Classify::refused`](super::Classify::refused)). Nothing was written, and the key is free.
    #[error(transparent)]
    Refused(Refused),
    /// The function ran, and it is not known whether what it staged was written: all of it or nothing. The next call with the same
    /// key tells, and takes effect if this one did not.
    #[error(
        "it is not known whether what the function staged was written; call again with the same key: it takes effect once"
    )]
    Uncommitted,
    /// The function ran, and the store refuses for good what it staged: a mistake in a write, or a missing permission. Nothing of it was
    /// written, and another call would come to the same until that is corrected. The log says which write it is.
    #[error(
        "the store refuses what the function staged, so nothing of it was written; correct the write that the log names"
    )]
    CommitRefused,
    /// The function failed for good, and what it did before is not undone yet. The next call with the same key goes on with that.
    #[error(
        "the function failed, and what it had done before is not undone yet; call again with the same key to go on with that"
    )]
    Undoing,
    /// The function failed for good, and something that it did before could not be undone. An operator must act.
    #[error(
        "the function failed, and something that it had done before could not be undone; that stays so until it is resolved"
    )]
    Stuck,
    /// The call has no usable key. The function did not run.
    #[error("the call has no key")]
    Key(#[from] InvalidKey),
    /// The call does not say whose key it uses. The function did not run.
    #[error("the call does not say whose key it uses")]
    Scope(#[from] ScopeError),
    /// An argument cannot be written as JSON, so it cannot be told from others. The function did not run.
    #[error("the argument `{argument}` cannot be written as JSON")]
    Argument {
        /// The argument's name.
        argument: &'static str,
        /// Why not.
        source: serde_json::Error,
    },
    /// The store gave no answer that proves who owns the key. The function did not run.
    #[error("the call could not be protected, so the function did not run; call again with the same key")]
    NotProtected(#[source] ClaimError),
    /// The key is claimed in another region. The function did not run.
    #[error("the call was not carried out")]
    Misdirected(#[source] NotHome),
    /// The operation took effect in an earlier call, but its value could not be stored then.
    #[error("the operation took effect in an earlier call, but its value could not be stored")]
    ResultOmitted,
    /// The operation took effect in an earlier call, but its stored value cannot be read as this type. (The log says where it does
    /// not fit, and repeats none of it.)
    #[error("the operation took effect in an earlier call, but its stored value cannot be read by this version")]
    ResultUnreadable,
}

impl<E> Error<E> {
    /// When to call again with the same key; `None` where that would give the same error, or where nobody knows.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Retryable { retry_after: Some(retry_after), .. } | Self::Conflict { retry_after, .. } => {
                Some(*retry_after)
            }
            Self::Retryable { retry_after: None, .. }
            | Self::NotProtected(_)
            | Self::Refused(_)
            | Self::Uncommitted
            | Self::Undoing => Some(SOON),
            _ => None,
        }
    }

    /// The function's own error, if it ran and gave one.
    pub const fn handler_error(&self) -> Option<&E> {
        match self {
            Self::Retryable { error, .. } | Self::Abandoned(error) => Some(error),
            _ => None,
        }
    }
}
