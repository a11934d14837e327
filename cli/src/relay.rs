//! The relay of the outbox beside another function.

use std::time::Duration;

use idempotency_testkit::{
    function_binary,
    lambda::{Function, FunctionConfig, Logs},
    sqs::Queue,
    streams::{StreamConfig, StreamMapping},
};
use lambda_idempotency::Idempotency;

use crate::{
    CliError, Stack,
    entrance::stream::{self, BUS_EVENTS, OUTBOX_QUEUES, RECEIPTS, outbox_queues},
};

/// The ready-made function.
const NAME: &str = "outbox-relay";

/// How a relay is set up.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// The queues that it sends to, by the names that handlers know them by; one that ends with `.fifo` is a FIFO queue, and is known
    /// without that. They are made if they are not there.
    pub queues: Vec<String>,
    /// How its mapping invokes it. What it gives up goes to the relay's own dead letters.
    pub stream: StreamConfig,
    /// Its timeout.
    pub timeout: Duration,
    /// Where its output goes.
    pub logs: Logs,
    /// Environment variables beside those that the stack sets, which they win over.
    pub environment: Vec<(String, String)>,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            queues: vec![RECEIPTS.to_owned()],
            stream: stream::config(),
            timeout: Duration::from_secs(10),
            logs: Logs::Inherit,
            environment: Vec::new(),
        }
    }
}

impl RelayOptions {
    /// The same options with one more environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// `outbox-relay` on the stream of a stack's table. It talks to DynamoDB itself, without the stack's proxy.
///
/// Dropping it ends it; [`stop`](Self::stop) does so in order and waits.
#[derive(Debug)]
pub struct Relay {
    function: Function,
    mapping: StreamMapping,
    dead_letters: Queue,
    bus_events: Queue,
}

impl Relay {
    pub(crate) async fn start(stack: &Stack, options: RelayOptions) -> Result<Self, CliError> {
        let services = stack.services();
        let queues = outbox_queues(services, options.queues.iter().map(String::as_str))?;
        let config = FunctionConfig::new(NAME, function_binary(NAME)?)
            .timeout(options.timeout)
            .logs(options.logs)
            .env("AWS_ENDPOINT_URL_DYNAMODB", stack.dynamodb_url())
            .env("AWS_ENDPOINT_URL_SQS", services.sqs.url())
            .env("AWS_ENDPOINT_URL_EVENTBRIDGE", services.bus.url())
            .env(Idempotency::TABLE, Stack::TABLE)
            .env(Idempotency::NAMESPACE, Stack::NAMESPACE)
            .env("OUTBOX_BUS", "default")
            .env(OUTBOX_QUEUES, queues);
        let config = options.environment.iter().fold(config, |config, (name, value)| config.env(name, value));
        let function = Function::new(config)?;
        let opened = stream::open("outbox", services, &function, stack.dynamodb_url(), options.stream).await;
        let (mapping, dead_letters) = opened?;
        Ok(Self { function, mapping, dead_letters, bus_events: services.sqs.queue(BUS_EVENTS)? })
    }

    /// The relay itself.
    pub const fn function(&self) -> &Function {
        &self.function
    }

    /// What invokes it.
    pub const fn mapping(&self) -> &StreamMapping {
        &self.mapping
    }

    /// Where it is told of what was given up.
    pub const fn dead_letters(&self) -> &Queue {
        &self.dead_letters
    }

    /// A queue that gets all that is put on the stack's bus.
    pub const fn bus_events(&self) -> &Queue {
        &self.bus_events
    }

    /// Ends it in order.
    ///
    /// Dropping the future ends the rest without waiting.
    pub async fn stop(self) {
        self.function.shutdown().await;
        self.mapping.stop().await;
    }
}
