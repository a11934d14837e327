use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};

use crate::local;

/// A client for any DynamoDB endpoint that speaks plain HTTP: [`super::EmbeddedDynamoDb`], a
/// [`crate::fault_proxy::FaultProxy`] or DynamoDB Local.
///
/// Credentials are dummies and the region is `us-east-1`. The client tries three times and has
/// timeouts; the SDK for Rust sets none for operations by default, and a test must end.
#[must_use]
pub fn client_for(endpoint_url: &str) -> Client {
    let credentials =
        Credentials::new(local::ACCESS_KEY_ID, local::SECRET_ACCESS_KEY, None, None, "idempotency-testkit");
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(15))
        .build();
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(endpoint_url)
        .region(Region::new(local::REGION))
        .credentials_provider(credentials)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(timeouts)
        .build();
    Client::from_conf(config)
}
