//! A request whose outcome its caller does not know.

use std::{error::Error, fmt, time::Duration};

use http::StatusCode;
use idempotency_core::IdempotencyKey;

/// A request whose outcome its caller does not know: there were attempts, and the caller gave up before one was answered definitely.
///
/// Send it again with the same key, as long as the callee's window allows, and it goes on where it was left: by the answer if there is one
/// by then. With a new key it might be carried out twice.
#[derive(Debug)]
pub struct Unresolved {
    pub(super) key: IdempotencyKey,
    pub(super) attempts: u32,
    pub(super) last: LastAnswer,
    pub(super) stopped: Stopped,
}

/// How the last attempt ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum LastAnswer {
    /// The callee is at it: 409, or 202 by an operation that says so.
    InFlight(StatusCode),
    /// The callee does not know yet what became of a lost attempt: 500 of type `outcome-unknown` with `Retry-After`.
    OutcomeNotKnownYet,
    /// A transient failure.
    Transient(StatusCode),
    /// No answer, or half of one: the connection could not be made, or broke.
    None(Box<reqwest_middleware::Error>),
    /// No answer within the attempt's timeout.
    TimedOut,
}

/// Why there was no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// There were as many as there may be.
    Attempts,
    /// The next one would have begun after the horizon.
    Horizon,
    /// The callee asks to wait longer than until the horizon. Come back after this time.
    RetryAfter(Duration),
    /// The repetitions of all requests have used their [`RetryBudget`](super::RetryBudget) up.
    RetryBudget,
    /// The callee has been failing, and nothing is sent to it for a while.
    CircuitOpen,
}

impl Unresolved {
    /// The key to go on with.
    pub const fn key(&self) -> &IdempotencyKey {
        &self.key
    }

    /// How many requests were sent.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How the last of them ended.
    pub const fn last(&self) -> &LastAnswer {
        &self.last
    }

    /// Why there was no further one.
    pub const fn stopped(&self) -> Stopped {
        self.stopped
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempts, last, stopped, .. } = self;
        write!(
            f,
            "no definite answer after {attempts} attempt(s) ({last}; {stopped}), the request may have been carried out; send it again \
             later with the same key, never with another"
        )
    }
}

impl Error for Unresolved {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.last {
            LastAnswer::None(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl fmt::Display for LastAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFlight(status) => write!(f, "the last was told {}, in flight", status.as_u16()),
            Self::OutcomeNotKnownYet => f.write_str("the last was told that the outcome is not known yet"),
            Self::Transient(status) => write!(f, "the last was answered {}", status.as_u16()),
            Self::None(_) => f.write_str("the last got no whole answer"),
            Self::TimedOut => f.write_str("the last got no answer in time"),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempts => f.write_str("there may be no more of them"),
            Self::Horizon => f.write_str("the next would come after the horizon"),
            Self::RetryAfter(wait) => write!(f, "the callee asks to wait {wait:?}, which is beyond the horizon"),
            Self::RetryBudget => f.write_str("the retry budget of all requests is used up"),
            Self::CircuitOpen => f.write_str("the circuit is open"),
        }
    }
}
