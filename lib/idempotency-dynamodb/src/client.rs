//! The SDK client, with the limits that the protocol needs.

use std::time::Duration;

use aws_config::{BehaviorVersion, ConfigLoader, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::Client;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, rustls_provider::CryptoMode},
};

/// A DynamoDB client for the environment that Lambda sets: region, credentials, and `AWS_ENDPOINT_URL_DYNAMODB` for a
/// local engine.
///
/// No request is made before the first call; credentials are read then and refreshed when they expire, which is what a
/// function restored by SnapStart needs. Dropping the future builds nothing.
pub async fn client_from_env() -> Client {
    Client::new(&sdk_config_from_env().await)
}

/// What [`client_from_env`] makes its client of, for a function's other clients of AWS: one configuration shares connections and
/// credentials, and has the same limits.
///
/// No request is made before the first call. Dropping the future builds nothing.
pub async fn sdk_config_from_env() -> SdkConfig {
    sdk_config_loader().load().await
}

/// What [`sdk_config_from_env`] loads, to be changed before: another profile, region or limits.
pub fn sdk_config_loader() -> ConfigLoader {
    // rustls with ring also takes plain `http://` endpoints, which local engines have.
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    aws_config::defaults(BehaviorVersion::v2026_01_12())
        .http_client(http)
        .timeout_config(timeouts())
        .retry_config(retries())
}

/// Time limits for one attempt and for one call. The SDK for Rust sets no limit by itself ("Configuring timeouts", AWS SDK
/// for Rust Developer Guide), and a claim without a limit could outlive its invocation.
pub fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(3))
        .build()
}

/// Three attempts with short pauses: DynamoDB answers in milliseconds, and a caller is waiting.
pub fn retries() -> RetryConfig {
    RetryConfig::standard().with_max_attempts(3).with_initial_backoff(Duration::from_millis(50))
}
