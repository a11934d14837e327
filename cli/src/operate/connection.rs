//! Which table, at which DynamoDB, as whom.

use std::{env, net::IpAddr, time::Duration};

use aws_config::{Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::config::{Credentials, ProvideCredentials, SharedCredentialsProvider};
use clap::Args;
use idempotency_core::{Engine, EpochMillis, Namespace};
use idempotency_dynamodb::{DynamoDbStore, attribute, sdk_config_loader};
use lambda_idempotency::Idempotency;

use super::{error::OperateError, server_clock::ServerClock};

/// Where the SDK finds an endpoint, the more specific first ("Service-specific endpoints", AWS SDKs and Tools Reference Guide).
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"];

/// How long one page or record is waited for.
pub(crate) const WITHIN: Duration = Duration::from_secs(30);

/// What every operator command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Connection {
    /// The table of the records.
    #[arg(long, value_name = "NAME", env = "IDEMPOTENCY_TABLE", help_heading = "Where")]
    table: Option<String>,

    /// The deployment, such as dev or prod, as the functions' IDEMPOTENCY_NAMESPACE says.
    #[arg(long, value_name = "NAME", env = "IDEMPOTENCY_NAMESPACE", help_heading = "Where")]
    namespace: Option<String>,

    /// The URL of a DynamoDB that is not the region's: DynamoDB Local, or the one that `idempotency local` runs. On loopback no
    /// credentials and no region are needed. (For other services set AWS_ENDPOINT_URL_LAMBDA, _SQS or _STS.) [default:
    /// AWS_ENDPOINT_URL_DYNAMODB, else the region's]
    #[arg(long, value_name = "URL", help_heading = "Where", value_parser = crate::cli::url)]
    endpoint_url: Option<String>,

    /// A profile of the AWS configuration files. [default: AWS_PROFILE, else the environment's credentials]
    #[arg(long, value_name = "NAME", help_heading = "Where")]
    profile: Option<String>,

    /// The AWS region. [default: AWS_REGION, else the profile's]
    #[arg(long, value_name = "NAME", help_heading = "Where")]
    region: Option<String>,

    /// Print JSON: one object, or one for each line where there are many. Errors too, on standard error.
    #[arg(long)]
    pub(crate) json: bool,

    #[arg(skip)]
    clock: ServerClock,
}

impl Connection {
    /// The configuration of AWS clients. Asks for credentials, and makes no other request.
    pub(crate) async fn sdk(&self) -> Result<SdkConfig, OperateError> {
        let mut loader = sdk_config_loader().timeout_config(timeouts()).retry_config(RetryConfig::standard());
        if let Some(profile) = &self.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = &self.region {
            loader = loader.region(Region::new(region.clone()));
        }
        // An engine on this machine asks for no account.
        if self.is_local() && self.profile.is_none() && !is_set("AWS_ACCESS_KEY_ID") && !is_set("AWS_PROFILE") {
            let dummy = Credentials::new("local", "local", None, None, "idempotency");
            loader = loader.credentials_provider(SharedCredentialsProvider::new(dummy));
            if self.region.is_none() && !is_set("AWS_REGION") {
                loader = loader.region(Region::new("us-east-1"));
            }
        }
        let config = loader.load().await;
        if config.region().is_none() {
            return Err(OperateError::usage(
                "no AWS region: say --region, set AWS_REGION, or name a profile that has one with --profile",
            ));
        }
        // Now, and not as the last of the reasons why a request failed.
        if let Some(provider) = config.credentials_provider() {
            let provided = provider.provide_credentials().await;
            provided.map_err(|source| OperateError::NoCredentials {
                profile: self.profile.as_ref().map(|profile| format!(" in the profile {profile}")).unwrap_or_default(),
                source: source.into(),
            })?;
        }
        Ok(config)
    }

    /// The table. Makes no request of it.
    pub(crate) async fn store(&self) -> Result<DynamoDbStore, OperateError> {
        let table = self.table()?;
        Ok(DynamoDbStore::new(self.dynamodb(&self.sdk().await?), table))
    }

    /// The engine over the table. Makes no request of it.
    pub(crate) async fn engine(&self) -> Result<Engine<DynamoDbStore>, OperateError> {
        Ok(Engine::new(self.store().await?))
    }

    pub(crate) fn dynamodb(&self, sdk: &SdkConfig) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::config::Builder::from(sdk).interceptor(self.clock.clone());
        aws_sdk_dynamodb::Client::from_conf(match &self.endpoint_url {
            Some(url) => config.endpoint_url(url).build(),
            None => config.build(),
        })
    }

    /// The time by which leases are judged. Of use after an answer of the table.
    pub(crate) fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    /// By how much this machine's clock is known to be ahead of the store's.
    pub(crate) fn clock_is_ahead_by(&self) -> Duration {
        self.clock.ahead()
    }

    /// Refuses another kind of table, in which nothing would be found. Who may not describe it goes on.
    pub(crate) async fn check_table(&self, store: &DynamoDbStore) -> Result<(), OperateError> {
        let Ok(described) = store.client().describe_table().table_name(store.table()).send().await else {
            return Ok(());
        };
        let keys = described.table.map(|table| table.key_schema.unwrap_or_default()).unwrap_or_default();
        let names: Vec<_> = keys.iter().map(|key| key.attribute_name()).collect();
        match names == [attribute::PK, attribute::SK] {
            true => Ok(()),
            false => Err(OperateError::NotATable { table: store.table().to_owned(), keys: names.join(", ") }),
        }
    }

    pub(crate) fn table(&self) -> Result<String, OperateError> {
        let missing = || OperateError::usage(format!("no table: say --table, or set {}", Idempotency::TABLE));
        self.table.clone().filter(|table| !table.trim().is_empty()).ok_or_else(missing)
    }

    /// The deployment, where one must be named.
    pub(crate) fn namespace(&self) -> Result<Namespace, OperateError> {
        self.namespace_if_named()?.ok_or_else(|| {
            OperateError::usage(format!(
                "no namespace: say --namespace, or set {}, as the function's environment has it",
                Idempotency::NAMESPACE
            ))
        })
    }

    pub(crate) fn namespace_if_named(&self) -> Result<Option<Namespace>, OperateError> {
        let named = self.namespace.clone().filter(|namespace| !namespace.trim().is_empty());
        named.map(Namespace::new).transpose().map_err(OperateError::usage)
    }

    /// Whether the DynamoDB is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let in_environment = || ENDPOINTS.iter().find_map(|name| env::var(name).ok().filter(|url| !url.is_empty()));
        let url = self.endpoint_url.clone().or_else(in_environment).and_then(|url| reqwest::Url::parse(&url).ok());
        url.as_ref().and_then(reqwest::Url::host_str).is_some_and(|host| {
            match host.trim_matches(['[', ']']).parse::<IpAddr>() {
                Ok(address) => address.is_loopback(),
                Err(_) => host == "localhost",
            }
        })
    }
}

/// A person waits longer than an invocation, and pages of a scan are large.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(3))
        .operation_attempt_timeout(Duration::from_secs(10))
        .operation_timeout(WITHIN)
        .build()
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}
