//! What can go wrong on the command line.

use std::{error::Error, io, path::PathBuf, time::Duration};

use idempotency_testkit::{
    BindError, FunctionBinaryError, NotInTime,
    dynamodb::DynamoDbError,
    fault_proxy::FaultProxyError,
    http_front::HttpFrontError,
    keyed_service::KeyedServiceError,
    lambda::{FunctionError, InvokeError},
    payment_provider::PaymentProviderError,
    sqs::{MappingError, SqsError},
    streams::StreamError,
};

/// What can go wrong on the command line. Each is told in one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// The local DynamoDB.
    #[error(transparent)]
    DynamoDb(#[from] DynamoDbError),
    /// The tables could not be made ready.
    #[error("the DynamoDB at {url} is not usable")]
    Tables {
        /// Where it was looked for.
        url: String,
        /// What went wrong.
        source: DynamoDbError,
    },
    /// The records cannot be read or changed from outside.
    #[error("the table of records cannot be read or changed")]
    Records(#[source] Box<dyn Error + Send + Sync>),
    /// The proxy in front of it.
    #[error(transparent)]
    FaultProxy(#[from] FaultProxyError),
    /// The local API Gateway.
    #[error(transparent)]
    HttpFront(#[from] HttpFrontError),
    /// The local payment provider.
    #[error(transparent)]
    PaymentProvider(#[from] PaymentProviderError),
    /// A service that the function calls could not be started.
    #[error(transparent)]
    KeyedService(#[from] KeyedServiceError),
    /// The local queues, bus or invocations cannot listen.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The local queues.
    #[error(transparent)]
    Queue(#[from] SqsError),
    /// The function that a soak is for has no queue.
    #[error("claims-intake has no queue here; this is a fault of this command")]
    NoQueue,
    /// The local event source mapping of a stream.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The local event source mapping.
    #[error(transparent)]
    Mapping(MappingError),
    /// Messages would come back while the function still works on them.
    #[error(
        "a visibility timeout of {visibility_timeout:?} is less than the function's timeout of {function_timeout:?}, which Lambda refuses: \
         say a longer one with --visibility-timeout"
    )]
    ShortVisibility {
        /// The queue's.
        visibility_timeout: Duration,
        /// The function's.
        function_timeout: Duration,
    },
    /// A ready-made function cannot be invoked that way.
    #[error("{function} understands the events of the trigger {trigger}, not of {asked}: leave --trigger out")]
    OtherTrigger {
        /// The function's name.
        function: &'static str,
        /// Its trigger.
        trigger: &'static str,
        /// What was asked for.
        asked: &'static str,
    },
    /// The nightly comparison takes no requests.
    #[error(
        "reconcile compares, by a schedule, and serves no requests: `idempotency invoke reconcile events/schedule-reconcile.json --env \
         REPORT_URL=file:///tmp/report`, as docs/guide/watching.md tells; or say --trigger async"
    )]
    Scheduled,
    /// An option means nothing for this function.
    #[error("{option} is for the trigger {of}, and {function} has the trigger {trigger}")]
    OptionOfOtherTrigger {
        /// The option.
        option: &'static str,
        /// What it is for.
        of: &'static str,
        /// The function's name.
        function: String,
        /// Its trigger.
        trigger: &'static str,
    },
    /// The local Lambda.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// The function's binary.
    #[error(transparent)]
    FunctionBinary(#[from] FunctionBinaryError),
    /// There is no such function.
    #[error(
        "there is no function {name:?}: no binary of that name was built beside this one; ready-made is {known}, and one of your own is a package \
         functions/{name}"
    )]
    UnknownFunction {
        /// What was asked for.
        name: String,
        /// The ready-made functions.
        known: String,
    },
    /// `cargo build` did not end well.
    #[error("the functions could not be built: `cargo build` {0}")]
    Build(String),
    /// The event could not be read.
    #[error("cannot read the event {}", .path.display())]
    ReadEvent {
        /// Where it was looked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The event is not JSON.
    #[error("the event {} is not JSON", .path.display())]
    EventNotJson {
        /// Where it was read from.
        path: PathBuf,
        /// Line and column.
        source: serde_json::Error,
    },
    /// The invocation failed.
    #[error("{function} failed")]
    Invoke {
        /// The function's name.
        function: String,
        /// How it failed.
        source: InvokeError,
    },
    /// A local HTTP request failed.
    #[error("a request to the local API failed")]
    Http(#[from] reqwest::Error),
    /// No case of the fault sweep has the text in its name.
    #[error("no case has {only:?} in its name; names are like rerun/fresh/store-1/drop-after")]
    NoCase {
        /// What was asked for.
        only: String,
    },
    /// A signal came.
    #[error("stopped by a signal")]
    Stopped,
    /// Something that was waited for did not happen.
    #[error("waited in vain for {what}")]
    Waited {
        /// What it waited for.
        what: &'static str,
        /// For how long.
        source: NotInTime,
    },
    /// Signals cannot be listened to, or output cannot be written.
    #[error("the operating system refused")]
    Io(#[from] io::Error),
}

impl CliError {
    pub(crate) fn records(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Records(source.into())
    }

    /// The error and its causes in one line.
    pub fn in_one_line(&self) -> String {
        in_one_line(self)
    }
}

/// An error and its causes in one line.
pub(crate) fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Some errors already tell their cause.
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    line.replace('\n', " ").trim_end().to_owned()
}
