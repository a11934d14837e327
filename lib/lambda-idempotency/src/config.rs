//! The handle that a function's handlers share.

use std::{env, fmt, sync::Arc, time::Duration};

use idempotency_core::{Batched, Engine, HomeRegion, Namespace, NamespaceError};
use idempotency_dynamodb::{DynamoDbStore, client_from_env};

use crate::{
    Mode, ModeError,
    metrics::{self, StoreMetrics},
    migration::Migration,
};

/// The handle that a function's handlers share: the store and the namespace. Make one at start-up.
///
/// Cloning is cheap; clones share the store's connections.
#[derive(Debug)]
pub struct Idempotency<S = DynamoDbStore> {
    engine: Engine<S>,
    namespace: Namespace,
    mode: Mode,
    migration: Option<Arc<Migration>>,
    #[cfg(feature = "sqs")]
    sqs: Option<aws_sdk_sqs::Client>,
}

/// The name of [`Idempotency::METRICS`], whatever the store.
pub(crate) const METRICS: &str = "IDEMPOTENCY_METRICS";

/// The function's environment does not say where its records are.
///
/// Its `Debug` form is the message too, because that is what a `main` that returns it prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A variable is missing or empty.
    #[error("environment variable {variable} is not set: {purpose}")]
    Missing {
        /// Its name.
        variable: &'static str,
        /// What it is for.
        purpose: &'static str,
    },
    /// The namespace has a character that cannot stand in a partition key.
    #[error("environment variable IDEMPOTENCY_NAMESPACE: {0}")]
    Namespace(#[from] NamespaceError),
    /// The mode is none.
    #[error("environment variable IDEMPOTENCY_MODE: {0}")]
    Mode(#[from] ModeError),
    /// What is said about metrics is unknown.
    #[error("environment variable IDEMPOTENCY_METRICS: {0:?} is no choice; say embedded or off")]
    Metrics(String),
    /// A home region is named, and nothing says which region this is.
    #[error(
        "environment variable IDEMPOTENCY_HOME_REGION is set, and AWS_REGION is not: nothing says whether this is the home region"
    )]
    Region,
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Idempotency {
    /// The environment variable with the table's name.
    pub const TABLE: &str = "IDEMPOTENCY_TABLE";

    /// The environment variable with the namespace.
    pub const NAMESPACE: &str = "IDEMPOTENCY_NAMESPACE";

    /// The environment variable with the [`Mode`]; `enforce` if it is not set.
    pub const MODE: &str = "IDEMPOTENCY_MODE";

    /// The environment variable that says where [`metrics`](crate::metrics) go; `embedded` if it is not set.
    pub const METRICS: &str = METRICS;

    /// The environment variable with the one region in which keys are claimed, for a global table; all regions if it is not set. See
    /// [`with_home_region`](Self::with_home_region).
    pub const HOME_REGION: &str = "IDEMPOTENCY_HOME_REGION";

    /// A handle from the function's environment: `IDEMPOTENCY_TABLE`, `IDEMPOTENCY_NAMESPACE`, `IDEMPOTENCY_MODE`,
    /// `IDEMPOTENCY_METRICS` and `IDEMPOTENCY_HOME_REGION` if they are set, and what the SDK reads (region, credentials, `AWS_ENDPOINT_URL_DYNAMODB` for a local
    /// engine). In Lambda it sets up [`metrics`](crate::metrics). Makes no request.
    ///
    /// Dropping the future builds nothing.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when a variable is missing or unusable. The function should not start then.
    pub async fn from_env() -> Result<Self, ConfigError> {
        let table = variable(Self::TABLE, "set it to the name of the idempotency table")?;
        let namespace = variable(
            Self::NAMESPACE,
            "set it to the name of this deployment, such as dev or prod, so that deployments never share records",
        )?;
        let namespace = Namespace::new(namespace)?;
        let mode = choice(Self::MODE).map_or(Ok(Mode::Enforce), |mode| mode.parse())?;
        metrics::install_from_env(&namespace)?;
        if mode != Mode::Enforce {
            tracing::warn!(%mode, "IDEMPOTENCY_MODE: duplicate requests are NOT held back, every request runs");
        }
        let client = client_from_env().await;
        // The region of the replica that is written to is what counts; in Lambda it is the function's.
        let here = client.config().region().map(|region| region.as_ref().to_owned());
        let store = DynamoDbStore::new(client, table).observed_by(StoreMetrics);
        let idempotency = Self::new(store, namespace).with_mode(mode);
        match (choice(Self::HOME_REGION), here) {
            (None, _) => Ok(idempotency),
            (Some(home), Some(here)) => Ok(idempotency.with_home_region(HomeRegion::new(here, home))),
            (Some(_), None) => Err(ConfigError::Region),
        }
    }
}

impl<S> Idempotency<S> {
    /// A handle over a store of one's own.
    pub fn new(store: S, namespace: Namespace) -> Self {
        Self::with_engine(Engine::new(store), namespace)
    }

    /// A handle over an engine with a clock, tokens or time limits of one's own.
    pub const fn with_engine(engine: Engine<S>, namespace: Namespace) -> Self {
        Self {
            engine,
            namespace,
            mode: Mode::Enforce,
            migration: None,
            #[cfg(feature = "sqs")]
            sqs: None,
        }
    }

    /// The same handle in another mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same handle for a global table with eventual consistency: keys are claimed in their home region only. A request for another
    /// region's key is refused before the store is asked, by HTTP with 421. Without it two regions can both claim a key, and both run.
    ///
    /// [`from_env`](Idempotency::from_env) does this where `IDEMPOTENCY_HOME_REGION` names one home for all keys; here each tenant can have
    /// its own. The modes `off` and `shadow` refuse nothing.
    ///
    /// ```
    /// use lambda_idempotency::{HomeRegion, Idempotency, MemoryStore, Namespace};
    ///
    /// # fn home_of(tenant: &str) -> Option<String> { Some(tenant.split_once('.')?.0.to_owned()) }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let here = "eu-west-1";
    /// // `here` is AWS_REGION, `home_of` looks into a table of tenants that all regions have.
    /// let home = HomeRegion::by_scope(here, |scope| home_of(scope.as_tenant()?));
    /// let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("prod")?).with_home_region(home);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_home_region(self, home: HomeRegion) -> Self {
        Self { engine: self.engine.with_home_region(home), ..self }
    }

    /// The same handle, whose operations take old functions' places: see [`migration`](crate::migration). In mode `enforce` only.
    #[must_use]
    pub fn migrating(self, migration: Migration) -> Self {
        Self { migration: Some(Arc::new(migration)), ..self }
    }

    pub(crate) const fn migration(&self) -> Option<&Arc<Migration>> {
        self.migration.as_ref()
    }

    /// The same handle, which lets SQS messages in conflict come again when the lease of the attempt in flight is over, rather than after
    /// their queue's visibility timeout, and those whose handler's error says when to try again at that time. The function needs the
    /// permission `sqs:ChangeMessageVisibility`. Without a conflict no request is made.
    #[cfg(feature = "sqs")]
    #[must_use]
    pub fn with_sqs(self, client: aws_sdk_sqs::Client) -> Self {
        Self { sqs: Some(client), ..self }
    }

    #[cfg(feature = "sqs")]
    pub(crate) const fn sqs(&self) -> Option<&aws_sdk_sqs::Client> {
        self.sqs.as_ref()
    }

    /// The same handle for records that are carried out side by side: see [`Engine::batched`].
    pub(crate) fn batched(&self, linger: Duration) -> Idempotency<Batched<S>> {
        Idempotency {
            engine: self.engine.batched(linger),
            namespace: self.namespace.clone(),
            mode: self.mode,
            migration: self.migration.clone(),
            #[cfg(feature = "sqs")]
            sqs: self.sqs.clone(),
        }
    }

    /// The mode.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The engine.
    pub const fn engine(&self) -> &Engine<S> {
        &self.engine
    }

    /// The namespace.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}

impl<S> Clone for Idempotency<S> {
    fn clone(&self) -> Self {
        Self {
            engine: self.engine.clone(),
            namespace: self.namespace.clone(),
            mode: self.mode,
            migration: self.migration.clone(),
            #[cfg(feature = "sqs")]
            sqs: self.sqs.clone(),
        }
    }
}

fn variable(variable: &'static str, purpose: &'static str) -> Result<String, ConfigError> {
    env::var(variable).ok().filter(|value| !value.trim().is_empty()).ok_or(ConfigError::Missing { variable, purpose })
}

/// A variable that need not be set.
pub(crate) fn choice(variable: &str) -> Option<String> {
    let value = env::var_os(variable)?.to_string_lossy().trim().to_owned();
    (!value.is_empty()).then_some(value)
}
