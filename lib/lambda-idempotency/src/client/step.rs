//! What an attempt leads to.

use std::time::Duration;

use idempotency_core::EpochMillis;
use reqwest::Response;
use reqwest_middleware::Error;

use super::{
    ClientError, LastAnswer, OtherConflict, Resolved, attempt::Outcome, kind::Kind, meaning::Meaning,
    retry_after::retry_after,
};

/// What an attempt leads to.
pub(super) enum Step {
    /// The end of the request.
    End(Result<Response, Error>),
    /// Another attempt, if there may be one.
    Again(Last),
}

/// What is known when there is no definite answer yet.
pub(super) struct Last {
    pub(super) answer: LastAnswer,
    /// How long the callee asks to wait.
    pub(super) asked: Option<Duration>,
    /// For a caller without a key, to whom a transient answer is one too. An answer "in flight" is not in here.
    pub(super) response: Option<Response>,
}

impl Last {
    /// Whether the callee or the way to it failed.
    pub(super) const fn failed(&self) -> bool {
        matches!(self.answer, LastAnswer::Transient(_) | LastAnswer::None(_) | LastAnswer::TimedOut)
    }
}

impl Step {
    /// What the attempt of this number leads to.
    pub(super) fn after(outcome: Outcome, kind: &Kind, other: OtherConflict, attempt: u32, now: EpochMillis) -> Self {
        let without_answer = |answer| Self::Again(Last { answer, asked: None, response: None });
        match (outcome, kind) {
            (Outcome::NoAnswer(error), _) => without_answer(LastAnswer::None(Box::new(error))),
            (Outcome::TimedOut, _) => without_answer(LastAnswer::TimedOut),
            (Outcome::Failed(source), Kind::Keyed(key)) => {
                Self::error(ClientError::Failed { key: key.clone(), source: Box::new(source) })
            }
            (Outcome::Failed(error), _) => Self::End(Err(error)),
            (Outcome::Answered(response, body), Kind::Keyed(key)) => {
                let meaning = Meaning::with_key(response.status(), response.headers(), &body, other);
                Self::keyed(response, meaning, Resolved::new(key.clone(), attempt), now)
            }
            (Outcome::Answered(response, _), Kind::Repeatable | Kind::Once) => {
                let status = response.status();
                match Meaning::without_key(status) {
                    Meaning::Transient => {
                        let asked = retry_after(response.headers(), now);
                        Self::Again(Last { answer: LastAnswer::Transient(status), asked, response: Some(response) })
                    }
                    _ => Self::End(Ok(response)),
                }
            }
        }
    }

    fn keyed(mut response: Response, meaning: Meaning, resolved: Resolved, now: EpochMillis) -> Self {
        let key = || resolved.key().clone();
        let answer = match meaning {
            Meaning::Definite => {
                response.extensions_mut().insert(resolved);
                return Self::End(Ok(response));
            }
            Meaning::Mismatch => return Self::error(ClientError::Mismatch { key: key() }),
            Meaning::OutcomeUnknown => return Self::error(ClientError::OutcomeUnknown { key: key() }),
            Meaning::ResultUnreadable => return Self::error(ClientError::ResultUnreadable { key: key() }),
            Meaning::Stuck => return Self::error(ClientError::CompensationStuck { key: key() }),
            Meaning::InFlight => LastAnswer::InFlight(response.status()),
            Meaning::NotKnownYet => LastAnswer::OutcomeNotKnownYet,
            Meaning::Transient => LastAnswer::Transient(response.status()),
        };
        Self::Again(Last { answer, asked: retry_after(response.headers(), now), response: None })
    }

    fn error(error: ClientError) -> Self {
        Self::End(Err(Error::middleware(error)))
    }

    /// Whether the callee or the way to it failed.
    pub(super) const fn failed(&self) -> bool {
        matches!(self, Self::Again(last) if last.failed())
    }
}
