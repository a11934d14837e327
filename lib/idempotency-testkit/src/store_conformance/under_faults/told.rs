//! What a caller is told in the end.

use std::fmt;

use idempotency_core::StoreError;

use crate::store_conformance::call::Answer;
use crate::store_conformance::failure::chain;

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Told {
    Answer(Answer),
    Unknown,
    Throttled,
    /// Any other error, which no fault here excuses.
    Error(String),
}

impl From<Result<Answer, StoreError>> for Told {
    fn from(result: Result<Answer, StoreError>) -> Self {
        match result {
            Ok(answer) => Self::Answer(answer),
            Err(StoreError::Unknown(_)) => Self::Unknown,
            Err(StoreError::Throttled(_)) => Self::Throttled,
            Err(error) => Self::Error(chain(&error)),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => answer.fmt(f),
            Self::Unknown => f.write_str("unknown"),
            Self::Throttled => f.write_str("throttled"),
            Self::Error(error) => f.write_str(error),
        }
    }
}
