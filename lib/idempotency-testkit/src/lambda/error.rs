use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::Exit;

/// A function could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// There is no file at the configured path.
    #[error("no function binary at {}: build it with `cargo build --workspace`", .path.display())]
    NoBinary {
        /// The configured path.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The configured path is not a file.
    #[error("{} is not a file", .path.display())]
    NotAFile {
        /// The configured path.
        path: PathBuf,
    },
}

/// Why an invocation has no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The handler failed, or panicked and the runtime caught it. The sandbox lives on.
    #[error("the handler failed with {error_type}: {message}")]
    Handler {
        /// `errorType` of the report.
        error_type: String,
        /// `errorMessage` of the report.
        message: String,
    },
    /// The process ended during the invocation (Lambda's `Runtime.ExitError`).
    #[error("the process ended during the invocation: {exit}")]
    Crashed {
        /// How it ended.
        exit: Exit,
    },
    /// The invocation reached its deadline (Lambda's `Sandbox.Timedout`).
    #[error("the invocation timed out after {after:?}")]
    TimedOut {
        /// The configured timeout.
        after: Duration,
    },
    /// The process did not get as far as asking for an event.
    #[error("the function did not start: {error_type}: {message}")]
    Init {
        /// `Runtime.ExitError`, `Sandbox.Timedout`, or what the function reported.
        error_type: String,
        /// What happened.
        message: String,
    },
    /// Every sandbox that the concurrency limit allows is busy.
    #[error("all {concurrency} sandboxes are busy")]
    Throttled {
        /// The configured limit.
        concurrency: usize,
    },
    /// The process could not be started.
    #[error("cannot start the function's process")]
    Spawn(#[source] io::Error),
    /// The event is larger than Lambda allows. No process has seen it.
    #[error("an event of {size} bytes is over the limit of {limit} bytes")]
    PayloadTooLarge {
        /// Its size.
        size: usize,
        /// The limit it is over.
        limit: usize,
    },
    /// The handler's response is larger than Lambda allows. The handler has run.
    #[error("a response of {size} bytes is over the limit of {limit} bytes")]
    ResponseTooLarge {
        /// Its size, or a lower bound of it.
        size: usize,
        /// The limit it is over.
        limit: usize,
    },
    /// The function was shut down before it answered.
    #[error("the function was shut down")]
    ShutDown,
}
