//! What invokes a function.

use clap::ValueEnum;

/// What invokes a function, and so what stands before it locally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum Trigger {
    /// An HTTP API, a load balancer or a function URL.
    #[default]
    Http,
    /// An SQS queue, through an event source mapping.
    Sqs,
    /// A rule of an EventBridge bus.
    #[value(name = "eventbridge")]
    EventBridge,
    /// Asynchronous invocation of the function itself.
    Async,
    /// The outbox's entries in the stream of the table of records, through an event source mapping.
    Stream,
}

impl Trigger {
    /// The name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sqs => "sqs",
            Self::EventBridge => "eventbridge",
            Self::Async => "async",
            Self::Stream => "stream",
        }
    }
}
