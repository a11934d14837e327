//! What travels between a function's host, a sandbox's supervisor and its Runtime API endpoint.

use bytes::Bytes;
use tokio::sync::oneshot;

use super::InvokeError;
use super::observed::Observed;

/// "Lambda quotas" in AWS's guide says 6 MB for a synchronous request; this is the number in the
/// service's own `RequestTooLargeException`.
pub(crate) const REQUEST_LIMIT: usize = 6_291_456;
/// "Lambda quotas" says 6 MB for a response too; the Runtime API's error names this number, which
/// leaves 100 bytes for the envelope.
pub(super) const RESPONSE_LIMIT: usize = 6_291_556;

/// One invocation on its way to a process.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) request_id: String,
    pub(super) payload: Bytes,
    /// Dropping it unused means: the process never saw the event, so another sandbox may have it.
    pub(super) reply: Reply,
}

/// Where the answer goes: to the caller, and to whoever observes the function.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) caller: oneshot::Sender<Result<Bytes, InvokeError>>,
    pub(super) observed: Observed,
}

impl Reply {
    pub(super) fn send(self, result: Result<Bytes, InvokeError>) {
        self.observed.ended(&result);
        // The caller may have dropped its future; the invocation has gone on without it.
        let _ = self.caller.send(result);
    }
}

/// The answer to `GET /runtime/invocation/next`.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) request_id: String,
    pub(super) deadline_ms: u64,
    pub(super) function_arn: String,
    pub(super) trace_id: String,
    pub(super) payload: Bytes,
}

/// The body of an `/error` call.
#[derive(Debug)]
pub(super) struct ErrorReport {
    pub(super) error_type: String,
    pub(super) message: String,
}

/// What a function says at the end of an invocation.
#[derive(Debug)]
pub(super) enum Ending {
    Response(Bytes),
    /// The response is at least this large, and over the limit.
    TooLarge(usize),
    Error(ErrorReport),
}

/// How the Runtime API answers the end of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ack {
    Accepted,
    TooLarge,
    /// The id is not that of a running invocation. It may be one that has timed out.
    UnknownRequest,
}

/// What a supervisor is told.
#[derive(Debug)]
pub(super) enum Message {
    Invoke(Invocation),
    Next(oneshot::Sender<Delivery>),
    End { request_id: String, ending: Ending, ack: oneshot::Sender<Ack> },
    InitError(ErrorReport, oneshot::Sender<Ack>),
    Shutdown,
}
