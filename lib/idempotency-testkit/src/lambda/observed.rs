//! What happens to a function, told as it happens.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{InvokeError, LogLine};

/// Unique among all functions of the process, so that one channel may take what happens to several.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// What happens to a function; see [`FunctionConfig::observe`](super::FunctionConfig::observe).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FunctionEvent {
    /// Somebody invokes it.
    Invoked {
        /// Which invocation; no two have the same.
        invocation: u64,
        /// Its request id, which a retry of an asynchronous invocation shares with the first attempt.
        request_id: String,
        /// The event.
        payload: Bytes,
    },
    /// An invocation has ended, whether or not its caller still waits.
    Ended {
        /// Which invocation.
        invocation: u64,
        /// What the function answered.
        result: Result<Bytes, InvocationFailure>,
    },
    /// It wrote a line. Lines are read beside the answers, so one may come after the end of its invocation.
    Line(LogLine),
}

/// Why an invocation has no response: [`InvokeError`] in words, which can be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvocationFailure {
    /// A word for it: `failed`, `crashed`, `timed out`, `not started`, `throttled`, `too large`, `shut down`.
    pub word: &'static str,
    /// The error's message.
    pub message: String,
}

impl From<&InvokeError> for InvocationFailure {
    fn from(error: &InvokeError) -> Self {
        let word = match error {
            InvokeError::Handler { .. } => "failed",
            InvokeError::Crashed { .. } => "crashed",
            InvokeError::TimedOut { .. } => "timed out",
            InvokeError::Init { .. } | InvokeError::Spawn(_) => "not started",
            InvokeError::Throttled { .. } => "throttled",
            InvokeError::PayloadTooLarge { .. } | InvokeError::ResponseTooLarge { .. } => "too large",
            InvokeError::ShutDown => "shut down",
        };
        Self { word, message: error.to_string() }
    }
}

/// Where the end of one invocation is told; nowhere, if nobody observes.
#[derive(Debug, Clone)]
pub(super) struct Observed(Option<(u64, mpsc::UnboundedSender<FunctionEvent>)>);

impl Observed {
    /// Tells of a new invocation.
    pub(super) fn invoked(
        observer: Option<&mpsc::UnboundedSender<FunctionEvent>>,
        request_id: &str,
        payload: &Bytes,
    ) -> Self {
        Self(observer.map(|observer| {
            let invocation = NEXT.fetch_add(1, Ordering::Relaxed);
            // An observer that has gone is nobody's failure, here and below.
            let _ = observer.send(FunctionEvent::Invoked {
                invocation,
                request_id: request_id.to_owned(),
                payload: payload.clone(),
            });
            (invocation, observer.clone())
        }))
    }

    pub(super) fn ended(&self, result: &Result<Bytes, InvokeError>) {
        if let Some((invocation, observer)) = &self.0 {
            let result = match result {
                Ok(answer) => Ok(answer.clone()),
                Err(error) => Err(InvocationFailure::from(error)),
            };
            let _ = observer.send(FunctionEvent::Ended { invocation: *invocation, result });
        }
    }
}
