//! Local AWS for tests: everything that an idempotent Lambda function talks to, on loopback ports.
//!
//! | module | stands in for |
//! |---|---|
//! | [`dynamodb`] | DynamoDB, embedded; or a client for DynamoDB Local |
//! | [`fault_proxy`] | the network between a function and DynamoDB, with lost replies, delays and errors on demand |
//! | [`lambda`] | Lambda: real function binaries as processes, which can be killed, frozen and outlived; asynchronous invocation |
//! | [`http_front`] | an HTTP or REST API, a load balancer or a function URL in front of a function |
//! | [`summariser`] | a language model's stand-in, which words its answer differently on every call |
//! | [`sqs`] | SQS, and the event source mapping that invokes a function with what is in a queue |
//! | [`streams`] | the event source mapping that invokes a function with what happens in a table |
//! | [`eventbridge`] | an EventBridge bus, with rules that hand events to functions and queues |
//! | [`keyed_service`] | a service that takes requests under keys, and what it took: a carrier, a notifier |
//! | [`payment_provider`] | a payment provider with Stripe's idempotency contract, and its ledger |
//! | `store_conformance` | (feature `store-conformance`) nothing: it checks a store against its contract |
//!
//! Nothing is mocked in between. A function is the binary that is deployed; it speaks the Lambda Runtime
//! API to its host and DynamoDB's protocol to its table. So a test can ask the question that counts: after
//! a crash at *this* moment, how often was the customer charged?
//!
//! ```no_run
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table};
//! use idempotency_testkit::fault_proxy::{Fault, FaultProxy, Gate, Rule};
//! use idempotency_testkit::http_front::{HttpFront, HttpKind};
//! use idempotency_testkit::lambda::{Function, FunctionConfig};
//! use idempotency_testkit::payment_provider::PaymentProvider;
//! use idempotency_testkit::{eventually, function_binary};
//!
//! let dynamodb = EmbeddedDynamoDb::start().await?;
//! create_idempotency_table(&dynamodb.client(), "idempotency").await?;
//! create_table(&dynamodb.client(), "charges", "charge_id", None).await?;
//! let proxy = FaultProxy::start(dynamodb.endpoint_url()).await?;
//! let provider = PaymentProvider::start().await?;
//!
//! let config = FunctionConfig::new("payments", function_binary("payments-api")?)
//!     .env("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint_url())
//!     .env("IDEMPOTENCY_TABLE", "idempotency")
//!     .env("IDEMPOTENCY_NAMESPACE", "test")
//!     .env("CHARGES_TABLE", "charges")
//!     .env("PAYMENT_PROVIDER_URL", provider.url());
//! let function = Function::new(config)?;
//! let front = HttpFront::start(([127, 0, 0, 1], 0).into(), HttpKind::HttpApi, function.clone()).await?;
//!
//! // Hold the write that completes the record: the customer is charged, and nobody knows it yet.
//! let gate = Gate::new();
//! let completion = Rule::on("PutItem").when(|request| request.body["Item"]["status"]["S"] == "completed");
//! proxy.inject(completion.forever().fault(Fault::Hold(gate.clone())));
//! // … `POST {front.url()}/charges` in a task, then:
//! gate.reached().await;
//! for sandbox in function.sandboxes() {
//!     sandbox.kill();
//! }
//! eventually(Duration::from_secs(5), async || function.sandboxes().is_empty().then_some(())).await?;
//! // … send the same request again, and count:
//! assert_eq!(provider.ledger().len(), 1);
//!
//! front.stop().await;
//! function.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! All of it runs inside the caller's Tokio runtime and ends with it. Unix only: freezing a process takes
//! signals.

mod civil_time;
mod clock;
mod eventually;
mod faulty_table;
mod function_binary;
mod jumping_clock;
mod listen;
mod local;
mod locked;
mod server_task;

pub mod dynamodb;
pub mod eventbridge;
pub mod fault_proxy;
pub mod http_front;
pub mod keyed_service;
pub mod lambda;
pub mod payment_provider;
pub mod sqs;
#[cfg(feature = "store-conformance")]
pub mod store_conformance;
pub mod streams;
pub mod summariser;

pub use eventually::{NotInTime, eventually};
pub use faulty_table::{FaultyTable, FaultyTableError};
pub use function_binary::{FunctionBinaryError, function_binary};
pub use listen::BindError;
