use std::time::Duration;

use serde_json::{Value, json};

use super::Gate;

/// What the proxy does to a request. *Applied* means that DynamoDB got it and did it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The connection closes without an answer, in the orderly way (FIN). Not applied.
    DropBefore,
    /// The request is applied and its reply is lost: the connection closes without an answer, in the orderly way.
    DropAfter,
    /// The connection is reset (RST), as by a load balancer that dies. Clients report it as another error than an orderly
    /// close. Not applied.
    ResetBefore,
    /// The request is applied and its reply is lost: the connection is reset.
    ResetAfter,
    /// `InternalServerError` (500). Not applied.
    ErrorBefore,
    /// The request is applied, and the answer is `InternalServerError` (500).
    ErrorAfter,
    /// `ProvisionedThroughputExceededException` (400). Not applied.
    Throttle,
    /// Any answer, without applying the request: for errors that no emulator produces by itself, such
    /// as `TransactionInProgressException` or a cancelled transaction with `TransactionConflict`.
    Answer {
        /// The HTTP status.
        status: u16,
        /// The JSON body, with DynamoDB's `__type` if it is an error.
        body: Value,
    },
    /// One member of a batch is not applied and the others are, as under load. A statement of `BatchExecuteStatement` is answered
    /// with this code, a key of `BatchGetItem` is unprocessed; any other request passes.
    RefuseMember {
        /// Which one, from 0; counted round and round when there are fewer.
        place: usize,
        /// A code of "BatchStatementError" (API Reference), such as `ThrottlingError`.
        code: &'static str,
    },
    /// The request waits this long, then is applied and answered.
    Slow(Duration),
    /// The request is applied at once, and its answer waits this long.
    SlowAfter(Duration),
    /// The request waits until the gate opens, then is applied and answered.
    Hold(Gate),
    /// The request is applied at once, and its answer waits until the gate opens.
    HoldAfter(Gate),
}

/// An answer in DynamoDB's error format, with the namespace its real `__type` carries.
pub(super) fn error_body(kind: &str, message: &str) -> Value {
    json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{kind}"), "message": message })
}
