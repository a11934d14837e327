use std::fmt;
use std::net::SocketAddr;

use aws_sdk_dynamodb::Client;
use dynoxide::Database;

use super::{DynamoDbError, client_for};
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::server_task::ServerTask;

/// DynamoDB in this process: in memory, served over HTTP on the loopback interface.
///
/// Dropping it stops it; its data is gone then.
pub struct EmbeddedDynamoDb {
    database: Database,
    endpoint_url: String,
    server: ServerTask,
}

impl EmbeddedDynamoDb {
    /// Starts on a free port.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it
    /// completes starts nothing.
    ///
    /// # Errors
    ///
    /// When the database or the listener cannot be opened.
    pub async fn start() -> Result<Self, DynamoDbError> {
        Self::start_on(ANY_PORT).await
    }

    /// Starts on `address`, for a port that stays the same between runs.
    ///
    /// Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`DynamoDbError::Bind`] names the address when its port is in use.
    pub async fn start_on(address: SocketAddr) -> Result<Self, DynamoDbError> {
        let (listener, bound) = bind(address).await?;
        let database = Database::memory().map_err(DynamoDbError::Open)?;
        let served = database.clone();
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = dynoxide::server::serve_with_shutdown(listener, served, stop.wait()).await {
                tracing::error!(error, "embedded DynamoDB stopped");
            }
        });
        Ok(Self { database, endpoint_url: format!("http://{bound}"), server })
    }

    /// The URL to give to an SDK client or to `AWS_ENDPOINT_URL_DYNAMODB`.
    #[must_use]
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// A new client for this database.
    #[must_use]
    pub fn client(&self) -> Client {
        client_for(&self.endpoint_url)
    }

    /// The database itself, for what the wire protocol cannot do: `sweep_ttl`, snapshots.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

impl fmt::Debug for EmbeddedDynamoDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedDynamoDb").field("endpoint_url", &self.endpoint_url).finish_non_exhaustive()
    }
}
