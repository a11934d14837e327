//! Everything that a function talks to, on loopback, and the function itself.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use aws_sdk_dynamodb::Client;
use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, client_for, create_idempotency_table, create_table},
    eventbridge::EventBus,
    fault_proxy::FaultProxy,
    function_binary,
    http_front::HttpKind,
    keyed_service::KeyedService,
    lambda::{AsyncInvoker, Function, FunctionConfig, FunctionEvent, Logs},
    payment_provider::PaymentProvider,
    sqs::{EventSourceMapping, Queue, Sqs},
    summariser::Summariser,
};

use lambda_idempotency::Idempotency;
use tokio::sync::mpsc;

use crate::{
    CliError, OwnTable, QueueOptions, Records, Relay, RelayOptions, Trigger,
    callees::Callees,
    entrance::{
        Entrance, Services,
        stream::{OUTBOX_QUEUES, RECEIPTS, outbox_queues},
    },
    ready_made::ReadyMade,
};

/// Which DynamoDB to use.
#[derive(Clone, Debug)]
pub enum DynamoDb {
    /// An embedded one, listening here.
    Embedded(SocketAddr),
    /// One that is running at this URL.
    Endpoint(String),
}

/// How a stack is set up.
#[derive(Clone, Debug)]
pub struct StackOptions {
    /// The function.
    pub function: String,
    /// What invokes it; `None` is what a ready-made function is made for, and HTTP for others.
    pub trigger: Option<Trigger>,
    /// Where the function's entrance listens: the HTTP API, the queues, the bus, the invocations.
    pub http: SocketAddr,
    /// What kind of front the HTTP API is.
    pub http_kind: HttpKind,
    /// How the function's queue is set up.
    pub queue: QueueOptions,
    /// The waits before the retries of an asynchronous invocation.
    pub retry_after: Vec<Duration>,
    /// Which DynamoDB to use.
    pub dynamodb: DynamoDb,
    /// Where the payment provider listens.
    pub provider: SocketAddr,
    /// The function's timeout.
    pub timeout: Duration,
    /// Whether an invocation is killed at its deadline, as Lambda does.
    pub kill_at_deadline: bool,
    /// How many sandboxes may run at once.
    pub concurrency: usize,
    /// Where the function's output goes.
    pub logs: Logs,
    /// Environment variables of the function beside those that the stack sets.
    pub environment: Vec<(String, String)>,
    /// Tables of the user's own, beside those of the ready-made functions.
    pub tables: Vec<OwnTable>,
    /// Who is told what happens to the function.
    pub observer: Option<mpsc::UnboundedSender<FunctionEvent>>,
}

/// The function, its DynamoDB and the services that it calls behind fault proxies, queues and a bus, and what invokes it in front.
///
/// Dropping it ends all of it; [`stop`](Self::stop) does so in order and waits.
#[derive(Debug)]
pub struct Stack {
    entrance: Entrance,
    services: Services,
    retry_after: Vec<Duration>,
    function: Function,
    proxy: FaultProxy,
    callees: Callees,
    embedded: Option<EmbeddedDynamoDb>,
    dynamodb_url: String,
    own_tables: Vec<OwnTable>,
}

impl Default for StackOptions {
    fn default() -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            function: "payments-api".to_owned(),
            trigger: None,
            http: any_port,
            http_kind: HttpKind::default(),
            queue: QueueOptions::default(),
            retry_after: Self::RETRY_AFTER.to_vec(),
            dynamodb: DynamoDb::Embedded(any_port),
            provider: any_port,
            timeout: Duration::from_secs(10),
            kill_at_deadline: true,
            concurrency: 50,
            logs: Logs::Inherit,
            environment: Vec::new(),
            tables: Vec::new(),
            observer: None,
        }
    }
}

impl StackOptions {
    /// The waits before Lambda's retries of an asynchronous invocation (AWS Lambda Developer Guide, "How Lambda handles errors and
    /// retries with asynchronous invocation").
    pub const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(120)];

    /// What invokes the function.
    pub fn trigger(&self) -> Trigger {
        let own = || ReadyMade::find(&self.function).map(|function| function.trigger);
        self.trigger.or_else(own).unwrap_or_default()
    }

    /// The same options with one more environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Where `payments-api` finds its tenant behind each kind of front.
const fn tenant_from(kind: HttpKind) -> &'static str {
    match kind {
        HttpKind::Alb | HttpKind::AlbMultiValue => "load-balancer",
        HttpKind::FunctionUrl => "iam",
        _ => "jwt",
    }
}

impl Stack {
    /// The name of the table with the idempotency records.
    pub const TABLE: &str = "idempotency";

    /// The name of the table with the charges.
    pub const CHARGES_TABLE: &str = "charges";

    /// The name of the table with the chunks of claims' documents.
    pub const CHUNKS_TABLE: &str = "chunks";

    /// The name of the table with the claims that were taken in.
    pub const CLAIMS_TABLE: &str = "claims";

    /// The name of the table with the customers' orders.
    pub const ORDERS_TABLE: &str = "orders";

    /// The namespace of the records.
    pub const NAMESPACE: &str = "local";

    /// Starts everything and creates the tables. The function's first process starts at the first request.
    ///
    /// Dropping the future ends what was started.
    ///
    /// # Errors
    ///
    /// [`CliError`] when an address is in use, the function was not built, or DynamoDB refuses the tables.
    pub async fn start(options: StackOptions) -> Result<Self, CliError> {
        let ready_made = ReadyMade::find(&options.function);
        check_trigger(&options, ready_made)?;
        // A function of the user's own is known by its binary only.
        let binary = function_binary(&options.function).map_err(|error| match ready_made {
            Some(_) => CliError::FunctionBinary(error),
            None => CliError::UnknownFunction { name: options.function.clone(), known: ReadyMade::names() },
        })?;
        let (embedded, dynamodb_url) = match &options.dynamodb {
            DynamoDb::Embedded(address) => {
                let embedded = EmbeddedDynamoDb::start_on(*address).await?;
                let url = embedded.endpoint_url().to_owned();
                (Some(embedded), url)
            }
            DynamoDb::Endpoint(url) => (None, url.clone()),
        };
        create_tables(&dynamodb_url, &options.tables).await?;
        let proxy = FaultProxy::start(&dynamodb_url).await?;
        let callees = Callees::start(options.provider).await?;
        let services = Services::start(options.trigger(), options.http).await?;
        let config = FunctionConfig::new(&options.function, binary)
            .timeout(options.timeout)
            .kill_at_deadline(options.kill_at_deadline)
            .concurrency(options.concurrency)
            .logs(options.logs)
            .env("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint_url())
            .env("AWS_ENDPOINT_URL_SQS", services.sqs.url())
            .env("AWS_ENDPOINT_URL_EVENTBRIDGE", services.bus.url())
            .env(Idempotency::TABLE, Self::TABLE)
            .env(Idempotency::NAMESPACE, Self::NAMESPACE)
            .env("TENANT_FROM", tenant_from(options.http_kind));
        let set = |config: FunctionConfig, (name, value): (&'static str, &str)| config.env(name, value);
        // Lines for a machine, between those that somebody reads.
        let config = match options.logs {
            Logs::Inherit => config.env(Idempotency::METRICS, "off"),
            _ => config,
        };
        let config = callees.environment().into_iter().fold(config, set);
        let config = ReadyMade::whole_environment().fold(config, set);
        let config = match options.trigger() {
            Trigger::Stream => config.env(OUTBOX_QUEUES, outbox_queues(&services, [RECEIPTS])?),
            _ => config,
        };
        let config = options.environment.iter().fold(config, |config, (name, value)| config.env(name, value));
        let config = match options.observer.clone() {
            Some(observer) => config.observe(observer),
            None => config,
        };
        let function = Function::new(config)?;
        let stem = ready_made.map_or(options.function.as_str(), |function| function.queue);
        let entrance = Entrance::open(&options, stem, &services, &function, &dynamodb_url).await?;
        let (retry_after, own_tables) = (options.retry_after, options.tables);
        Ok(Self { entrance, services, retry_after, function, proxy, callees, embedded, dynamodb_url, own_tables })
    }

    /// What invokes the function.
    pub const fn trigger(&self) -> Trigger {
        match self.entrance {
            Entrance::Http { .. } => Trigger::Http,
            Entrance::Sqs { .. } => Trigger::Sqs,
            Entrance::EventBridge { .. } => Trigger::EventBridge,
            Entrance::Async { .. } => Trigger::Async,
            Entrance::Stream { .. } => Trigger::Stream,
        }
    }

    /// The base URL of the function's entrance: the HTTP API, the queues, the bus; or where the function is invoked.
    pub fn url(&self) -> &str {
        self.entrance.url(&self.services)
    }

    /// What kind of front the HTTP API is, if the function is behind one.
    pub const fn http_kind(&self) -> Option<HttpKind> {
        match self.entrance {
            Entrance::Http { kind, .. } => Some(kind),
            _ => None,
        }
    }

    /// The queues.
    pub const fn sqs(&self) -> &Sqs {
        &self.services.sqs
    }

    /// The bus.
    pub const fn bus(&self) -> &EventBus {
        &self.services.bus
    }

    /// The function's queue, if one invokes it.
    pub const fn queue(&self) -> Option<&Queue> {
        self.entrance.queue()
    }

    /// What invokes the function with what is in its queue, if it has one.
    pub const fn mapping(&self) -> Option<&EventSourceMapping> {
        self.entrance.mapping()
    }

    /// Where messages and events go that failed for good: `None` for HTTP, whose callers are told.
    pub const fn dead_letters(&self) -> Option<&Queue> {
        self.entrance.dead_letters()
    }

    /// Lambda's own queue in front of the function, if it is invoked asynchronously.
    pub const fn invoker(&self) -> Option<&AsyncInvoker> {
        self.entrance.invoker()
    }

    /// The waits before the retries of an asynchronous invocation.
    pub fn retry_after(&self) -> &[Duration] {
        &self.retry_after
    }

    /// The URL of DynamoDB itself, without the proxy.
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// A client of DynamoDB itself, without the proxy.
    pub fn dynamodb(&self) -> Client {
        client_for(&self.dynamodb_url)
    }

    /// The records, seen and changed from outside.
    pub fn records(&self) -> Records {
        Records::new(self.dynamodb())
    }

    /// The services that the function may send to.
    pub(crate) const fn services(&self) -> &Services {
        &self.services
    }

    /// Starts `outbox-relay` beside the function: what the function stages goes to the stack's bus and queues. The relay ends when it is
    /// stopped or dropped; stop it before the stack.
    ///
    /// Dropping the future ends what was started.
    ///
    /// # Errors
    ///
    /// [`CliError`] when the relay was not built, or the table has no stream.
    pub async fn relay(&self, options: RelayOptions) -> Result<Relay, CliError> {
        Relay::start(self, options).await
    }

    /// The tables of the user's own.
    pub fn own_tables(&self) -> &[OwnTable] {
        &self.own_tables
    }

    /// The function.
    pub const fn function(&self) -> &Function {
        &self.function
    }

    /// The proxy between the function and DynamoDB.
    pub const fn proxy(&self) -> &FaultProxy {
        &self.proxy
    }

    /// The payment provider.
    pub const fn provider(&self) -> &PaymentProvider {
        &self.callees.provider
    }

    /// The carrier that ships orders.
    pub const fn carrier(&self) -> &KeyedService {
        &self.callees.carrier
    }

    /// The proxy between the function and the carrier.
    pub const fn carrier_proxy(&self) -> &FaultProxy {
        &self.callees.carrier_proxy
    }

    /// What words the summaries of claims' documents.
    pub const fn summariser(&self) -> &Summariser {
        &self.callees.summariser
    }

    /// The proxy between the function and the summariser.
    pub const fn summariser_proxy(&self) -> &FaultProxy {
        &self.callees.summariser_proxy
    }

    /// What tells customers.
    pub const fn notifier(&self) -> &KeyedService {
        &self.callees.notifier
    }

    /// The proxy between the function and the notifier.
    pub const fn notifier_proxy(&self) -> &FaultProxy {
        &self.callees.notifier_proxy
    }

    /// The proxy between the function and the payment provider.
    pub const fn provider_proxy(&self) -> &FaultProxy {
        &self.callees.provider_proxy
    }

    /// Lets the proxies forget the requests that they carried, bodies and all: who runs a stack for days does not look at them.
    pub(crate) fn forget_requests(&self) {
        for proxy in self.callees.proxies().into_iter().chain([&self.proxy]) {
            proxy.keep_requests(0);
        }
    }

    /// Ends everything in order, the function's processes included.
    ///
    /// Dropping the future ends the rest without waiting.
    pub async fn stop(self) {
        // The processes first: a request that waits for one would keep the front open.
        self.function.shutdown().await;
        self.entrance.close().await;
        self.services.stop().await;
        self.proxy.stop().await;
        self.callees.stop().await;
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
    }
}

/// A ready-made function understands the events of one trigger.
fn check_trigger(options: &StackOptions, ready_made: Option<&ReadyMade>) -> Result<(), CliError> {
    match (ready_made, options.trigger) {
        (Some(function), Some(asked)) if asked != function.trigger => Err(CliError::OtherTrigger {
            function: function.name,
            trigger: function.trigger.name(),
            asked: asked.name(),
        }),
        _ => Ok(()),
    }
}

async fn create_tables(url: &str, own: &[OwnTable]) -> Result<(), CliError> {
    let client = client_for(url);
    let tables = async {
        create_idempotency_table(&client, Stack::TABLE).await?;
        let ready_made = ReadyMade::all_tables().map(|table| (table.name, table.partition_key, table.sort_key));
        let own = own.iter().map(|table| (&*table.name, &*table.partition_key, table.sort_key.as_deref()));
        for (name, partition_key, sort_key) in ready_made.chain(own) {
            create_table(&client, name, partition_key, sort_key).await?;
        }
        Ok(())
    };
    tables.await.map_err(|source| CliError::Tables { url: url.to_owned(), source })
}
