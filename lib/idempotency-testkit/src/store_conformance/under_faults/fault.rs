//! What happens to one transmission of a call.

use std::fmt;

use proptest::{prelude::*, sample::select};
use serde_json::json;

use super::told::Told;
use crate::fault_proxy::Fault;
use crate::store_conformance::call::Answer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transmission {
    Passes,
    Dropped {
        applied: bool,
    },
    Reset {
        applied: bool,
    },
    Error {
        applied: bool,
    },
    /// Refused with this error code.
    Throttled(&'static str),
    /// One member of a batch is refused with this error code. Other requests pass.
    Member {
        place: usize,
        code: &'static str,
    },
}

/// Refusals for now (DynamoDB Developer Guide, "Error handling with DynamoDB"). No engine here gives any by itself.
const REFUSALS: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TransactionConflictException",
];

/// Refusals of one statement for now (API Reference, "BatchStatementError").
const MEMBER_REFUSALS: [&str; 5] = [
    "ThrottlingError",
    "ProvisionedThroughputExceeded",
    "RequestLimitExceeded",
    "InternalServerError",
    "TransactionConflict",
];

/// What happens to a request of a batch: what to any other, or to one of its members.
pub(super) fn batch_transmission() -> impl Strategy<Value = Transmission> {
    let member =
        (0..8_usize, select(&MEMBER_REFUSALS[..])).prop_map(|(place, code)| Transmission::Member { place, code });
    prop_oneof![2 => transmission(), 1 => member]
}

pub(super) fn transmission() -> impl Strategy<Value = Transmission> {
    let before_or_after = [false, true].into_iter().flat_map(|applied| {
        [Transmission::Dropped { applied }, Transmission::Reset { applied }, Transmission::Error { applied }]
    });
    let refused = REFUSALS.map(Transmission::Throttled);
    let all = [Transmission::Passes].into_iter().chain(before_or_after).chain(refused);
    select(all.collect::<Vec<_>>())
}

impl Transmission {
    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::Passes => None,
            Self::Dropped { applied: false } => Some(Fault::DropBefore),
            Self::Dropped { applied: true } => Some(Fault::DropAfter),
            Self::Reset { applied: false } => Some(Fault::ResetBefore),
            Self::Reset { applied: true } => Some(Fault::ResetAfter),
            Self::Error { applied: false } => Some(Fault::ErrorBefore),
            Self::Error { applied: true } => Some(Fault::ErrorAfter),
            Self::Member { place, code } => Some(Fault::RefuseMember { place, code }),
            Self::Throttled(code) => {
                let kind = format!("com.amazonaws.dynamodb.v20120810#{code}");
                Some(Fault::Answer { status: 400, body: json!({ "__type": kind, "message": "injected" }) })
            }
        }
    }

    /// Whether DynamoDB gets it.
    pub(super) fn is_applied(self) -> bool {
        match self {
            Self::Passes | Self::Member { .. } => true,
            Self::Dropped { applied } | Self::Reset { applied } | Self::Error { applied } => applied,
            Self::Throttled(_) => false,
        }
    }

    /// What the caller is told when this is the last transmission, and DynamoDB's answer was this one.
    pub(super) fn told(self, answer: Answer) -> Told {
        match self {
            Self::Passes | Self::Member { .. } => Told::Answer(answer),
            Self::Dropped { .. } | Self::Reset { .. } | Self::Error { .. } => Told::Unknown,
            Self::Throttled(_) => Told::Throttled,
        }
    }
}

impl fmt::Display for Transmission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, applied) = match self {
            Self::Passes => return f.write_str("passes"),
            Self::Throttled(code) => return f.write_str(code),
            Self::Member { place, code } => return write!(f, "{code} for member {place}"),
            Self::Dropped { applied } => ("dropped", applied),
            Self::Reset { applied } => ("reset", applied),
            Self::Error { applied } => ("error 500", applied),
        };
        write!(f, "{what} {}", if *applied { "after" } else { "before" })
    }
}
