//! What stands before a function: where people, clients and AWS's services reach it.

mod bus;
mod invocations;
mod queue;
pub(crate) mod stream;

use std::net::SocketAddr;

use idempotency_testkit::{
    eventbridge::EventBus,
    http_front::{HttpFront, HttpKind},
    lambda::{AsyncConfig, AsyncInvoker, Function},
    sqs::{EventSourceMapping, Queue, QueueConfig, Sqs},
    streams::StreamMapping,
};

use self::invocations::InvocationFront;
use crate::{CliError, StackOptions, Trigger};

/// The local services that a function may be invoked by or send to. One of them listens where the user chose.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) sqs: Sqs,
    pub(crate) bus: EventBus,
}

/// What stands before a function.
#[derive(Debug)]
pub(crate) enum Entrance {
    Http { front: HttpFront, kind: HttpKind },
    Sqs { queue: Queue, dead_letters: Queue, mapping: EventSourceMapping },
    EventBridge { invoker: AsyncInvoker, dead_letters: Queue },
    Async { front: InvocationFront, invoker: AsyncInvoker, dead_letters: Queue },
    Stream { mapping: StreamMapping, dead_letters: Queue },
}

impl Services {
    /// Starts both. The one that the trigger is about listens on `address`.
    pub(crate) async fn start(trigger: Trigger, address: SocketAddr) -> Result<Self, CliError> {
        let sqs = match trigger {
            // What comes out of a stream is to be seen in the queues.
            Trigger::Sqs | Trigger::Stream => Sqs::start_on(address).await?,
            _ => Sqs::start().await?,
        };
        let bus = match trigger {
            Trigger::EventBridge => EventBus::start_on(address).await?,
            _ => EventBus::start().await?,
        };
        Ok(Self { sqs, bus })
    }

    pub(crate) async fn stop(self) {
        self.bus.stop().await;
        self.sqs.stop().await;
    }
}

impl Entrance {
    /// Opens the function's entrance. `stem` is what its queues are named after.
    pub(crate) async fn open(
        options: &StackOptions,
        stem: &str,
        services: &Services,
        function: &Function,
        dynamodb_url: &str,
    ) -> Result<Self, CliError> {
        let trigger = options.trigger();
        Ok(match trigger {
            Trigger::Http => {
                let front = HttpFront::start(options.http, options.http_kind, function.clone()).await?;
                Self::Http { front, kind: options.http_kind }
            }
            Trigger::Sqs => queue::open(&options.queue, stem, services, function)?,
            Trigger::EventBridge => bus::open(options, stem, services, function)?,
            Trigger::Async => {
                let (invoker, dead_letters) = invoker(options, stem, services, function)?;
                let front = InvocationFront::start(options.http, invoker.clone()).await?;
                Self::Async { front, invoker, dead_letters }
            }
            Trigger::Stream => {
                let config = stream::config();
                let (mapping, dead_letters) = stream::open(stem, services, function, dynamodb_url, config).await?;
                Self::Stream { mapping, dead_letters }
            }
        })
    }

    /// Its base URL.
    pub(crate) fn url<'a>(&'a self, services: &'a Services) -> &'a str {
        match self {
            Self::Http { front, .. } => front.url(),
            Self::Sqs { .. } | Self::Stream { .. } => services.sqs.url(),
            Self::EventBridge { .. } => services.bus.url(),
            Self::Async { front, .. } => front.url(),
        }
    }

    /// Where what fails for good goes; `None` for HTTP, whose callers are told.
    pub(crate) const fn dead_letters(&self) -> Option<&Queue> {
        match self {
            Self::Http { .. } => None,
            Self::Sqs { dead_letters, .. }
            | Self::EventBridge { dead_letters, .. }
            | Self::Async { dead_letters, .. }
            | Self::Stream { dead_letters, .. } => Some(dead_letters),
        }
    }

    pub(crate) const fn queue(&self) -> Option<&Queue> {
        match self {
            Self::Sqs { queue, .. } => Some(queue),
            _ => None,
        }
    }

    pub(crate) const fn mapping(&self) -> Option<&EventSourceMapping> {
        match self {
            Self::Sqs { mapping, .. } => Some(mapping),
            _ => None,
        }
    }

    pub(crate) const fn invoker(&self) -> Option<&AsyncInvoker> {
        match self {
            Self::EventBridge { invoker, .. } | Self::Async { invoker, .. } => Some(invoker),
            _ => None,
        }
    }

    /// Closes it once the function is shut down.
    pub(crate) async fn close(self) {
        match self {
            Self::Http { front, .. } => front.stop().await,
            Self::Sqs { mapping, .. } => drop(mapping.stop().await),
            Self::EventBridge { .. } => {}
            Self::Async { front, .. } => front.stop().await,
            Self::Stream { mapping, .. } => drop(mapping.stop().await),
        }
    }
}

/// Lambda's queue of asynchronous invocations, and the on-failure destination.
fn invoker(
    options: &StackOptions,
    stem: &str,
    services: &Services,
    function: &Function,
) -> Result<(AsyncInvoker, Queue), CliError> {
    // A destination is a standard queue.
    let dead_letters = services.sqs.create_queue(QueueConfig::new(format!("{stem}-dlq")))?;
    let config = AsyncConfig::new().retry_waits(options.retry_after.clone()).on_failure(dead_letters.clone());
    Ok((AsyncInvoker::new(function.clone(), config), dead_letters))
}
