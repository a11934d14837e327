//! Everything that a function talks to, on loopback, and the function itself.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use aws_sdk_dynamodb::Client;
use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, client_for, create_idempotency_table, create_table},
    fault_proxy::FaultProxy,
    function_binary,
    http_front::{HttpFront, HttpKind},
    lambda::{Function, FunctionConfig, Logs},
    payment_provider::PaymentProvider,
};

use lambda_idempotency::Idempotency;

use crate::{CliError, Records};

/// The ready-made functions.
const FUNCTIONS: [&str; 1] = ["payments-api"];

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
    /// The function behind the HTTP API.
    pub function: String,
    /// Where the HTTP API listens.
    pub http: SocketAddr,
    /// What kind of front the HTTP API is.
    pub http_kind: HttpKind,
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
}

/// The function, its DynamoDB and its payment provider behind fault proxies, and an HTTP API in front.
///
/// Dropping it ends all of it; [`stop`](Self::stop) does so in order and waits.
#[derive(Debug)]
pub struct Stack {
    front: HttpFront,
    http_kind: HttpKind,
    function: Function,
    proxy: FaultProxy,
    provider: PaymentProvider,
    provider_proxy: FaultProxy,
    embedded: Option<EmbeddedDynamoDb>,
    dynamodb_url: String,
}

impl Default for StackOptions {
    fn default() -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            function: "payments-api".to_owned(),
            http: any_port,
            http_kind: HttpKind::default(),
            dynamodb: DynamoDb::Embedded(any_port),
            provider: any_port,
            timeout: Duration::from_secs(10),
            kill_at_deadline: true,
            concurrency: 50,
            logs: Logs::Inherit,
            environment: Vec::new(),
        }
    }
}

impl StackOptions {
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
        let binary = function_binary(&options.function).map_err(|error| {
            // A function of the user's own is known by its binary only.
            match FUNCTIONS.contains(&options.function.as_str()) {
                true => CliError::FunctionBinary(error),
                false => CliError::UnknownFunction { name: options.function.clone(), known: FUNCTIONS.join(", ") },
            }
        })?;
        let (embedded, dynamodb_url) = match options.dynamodb {
            DynamoDb::Embedded(address) => {
                let embedded = EmbeddedDynamoDb::start_on(address).await?;
                let url = embedded.endpoint_url().to_owned();
                (Some(embedded), url)
            }
            DynamoDb::Endpoint(url) => (None, url),
        };
        let client = client_for(&dynamodb_url);
        let tables = async {
            create_idempotency_table(&client, Self::TABLE).await?;
            create_table(&client, Self::CHARGES_TABLE, "charge_id", None).await
        };
        tables.await.map_err(|source| CliError::Tables { url: dynamodb_url.clone(), source })?;
        let proxy = FaultProxy::start(&dynamodb_url).await?;
        let provider = PaymentProvider::start_on(options.provider).await?;
        let provider_proxy = FaultProxy::start(provider.url()).await?;
        let config = FunctionConfig::new(&options.function, binary)
            .timeout(options.timeout)
            .kill_at_deadline(options.kill_at_deadline)
            .concurrency(options.concurrency)
            .logs(options.logs)
            .env("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint_url())
            .env(Idempotency::TABLE, Self::TABLE)
            .env(Idempotency::NAMESPACE, Self::NAMESPACE)
            .env("CHARGES_TABLE", Self::CHARGES_TABLE)
            .env("PAYMENT_PROVIDER_URL", provider_proxy.endpoint_url())
            .env("TENANT_FROM", tenant_from(options.http_kind));
        let config = options.environment.iter().fold(config, |config, (name, value)| config.env(name, value));
        let function = Function::new(config)?;
        let front = HttpFront::start(options.http, options.http_kind, function.clone()).await?;
        Ok(Self {
            front,
            http_kind: options.http_kind,
            function,
            proxy,
            provider,
            provider_proxy,
            embedded,
            dynamodb_url,
        })
    }

    /// The base URL of the HTTP API.
    pub fn url(&self) -> &str {
        self.front.url()
    }

    /// What kind of front the HTTP API is.
    pub const fn http_kind(&self) -> HttpKind {
        self.http_kind
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
        &self.provider
    }

    /// The proxy between the function and the payment provider.
    pub const fn provider_proxy(&self) -> &FaultProxy {
        &self.provider_proxy
    }

    /// Ends everything in order, the function's processes included.
    ///
    /// Dropping the future ends the rest without waiting.
    pub async fn stop(self) {
        // The processes first: a request that waits for one would keep the front open.
        self.function.shutdown().await;
        self.front.stop().await;
        self.proxy.stop().await;
        self.provider_proxy.stop().await;
        self.provider.stop().await;
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
    }
}
