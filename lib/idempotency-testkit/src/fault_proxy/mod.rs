//! A proxy between a function and DynamoDB that loses, delays and fails chosen requests.
//!
//! The hard cases of an idempotency protocol are not errors but *missing answers*: DynamoDB applied a
//! write and nobody heard of it. No emulator does that by itself. [`FaultProxy`] speaks HTTP/1.1 on
//! both sides, reads the operation from `X-Amz-Target`, and applies the first [`Rule`] that fires.
//!
//! A request that reached the proxy is carried through even when its sender has gone, as a packet in
//! a real network is. So a process that was killed while a [`Gate`] held its write still writes when the
//! gate opens.
//!
//! # A lost reply
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use aws_sdk_dynamodb::config::retry::RetryConfig;
//! use aws_sdk_dynamodb::types::AttributeValue;
//! use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, client_for, create_table};
//! use idempotency_testkit::fault_proxy::{Fault, FaultProxy, Rule};
//!
//! let dynamodb = EmbeddedDynamoDb::start().await?;
//! create_table(&dynamodb.client(), "effects", "id", None).await?;
//! let proxy = FaultProxy::start(dynamodb.endpoint_url()).await?;
//! proxy.inject(Rule::on("PutItem").fault(Fault::DropAfter));
//!
//! // Retries are off, so that the caller sees the loss.
//! let through_proxy = client_for(proxy.endpoint_url());
//! let config = through_proxy.config().to_builder().retry_config(RetryConfig::disabled()).build();
//! let client = aws_sdk_dynamodb::Client::from_conf(config);
//! let put = client.put_item().table_name("effects").item("id", AttributeValue::S("1".into()));
//! assert!(put.send().await.is_err());
//!
//! // The caller got an error, and yet the item is there.
//! let direct = dynamodb.client();
//! let got = direct.get_item().table_name("effects").key("id", AttributeValue::S("1".into()));
//! assert!(got.send().await?.item.is_some());
//!
//! let requests = proxy.requests();
//! assert_eq!(requests[0].operation, "PutItem");
//! assert_eq!(requests[0].fault, Some(Fault::DropAfter));
//! assert_eq!(requests[0].status, None);
//! # Ok(())
//! # }
//! ```

mod carry;
mod error;
mod fault;
mod gate;
mod log;
mod member;
mod proxy;
mod request;
mod rule;

pub use error::FaultProxyError;
pub use fault::Fault;
pub use gate::Gate;
pub use log::RecordedRequest;
pub use proxy::{FaultProxy, Rules};
pub use request::ProxiedRequest;
pub use rule::{Rule, RuleBuilder};
