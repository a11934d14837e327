use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::routes::router;
use super::shared::Shared;
use super::{Queue, QueueConfig, SqsError};
use crate::BindError;
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::server_task::ServerTask;

/// The server. See the [module's documentation](super) for what it does.
///
/// Dropping it closes its port.
#[derive(Debug)]
pub struct Sqs {
    shared: Arc<Shared>,
    server: ServerTask,
}

impl Sqs {
    /// Starts on a free port, without queues.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// When there is no loopback port left.
    pub async fn start() -> Result<Self, BindError> {
        Self::start_on(ANY_PORT).await
    }

    /// Starts on `address`, for a port that stays the same between runs.
    ///
    /// Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`BindError`] names the address when its port is in use.
    pub async fn start_on(address: SocketAddr) -> Result<Self, BindError> {
        let (listener, bound) = bind(address).await?;
        let shared = Arc::new(Shared::new(format!("http://{bound}")));
        let app = router(Arc::clone(&shared));
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "sqs stopped");
            }
        });
        Ok(Self { shared, server })
    }

    /// The base URL, without a slash at its end: the endpoint URL of the SDK's clients.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// Makes a queue. Making it again with the same settings is the same queue.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, the dead-letter queue is not there, or the queue exists with other settings.
    pub fn create_queue(&self, config: QueueConfig) -> Result<Queue, SqsError> {
        let name = config.name.clone();
        self.shared.with(|account, now| account.create(config, now))?;
        Ok(Queue::new(Arc::clone(&self.shared), &name))
    }

    /// The queue of that name, whoever made it.
    ///
    /// # Errors
    ///
    /// [`SqsError::NoSuchQueue`].
    pub fn queue(&self, name: &str) -> Result<Queue, SqsError> {
        self.shared.look(name, |_, _| ())?;
        Ok(Queue::new(Arc::clone(&self.shared), name))
    }

    /// All queues, by name.
    #[must_use]
    pub fn queues(&self) -> Vec<Queue> {
        self.shared.names().iter().map(|name| Queue::new(Arc::clone(&self.shared), name)).collect()
    }

    /// Lets time jump ahead for all queues: visibility timeouts, delays, deduplication intervals and retention periods that
    /// end in between have ended.
    ///
    /// Long polls and batching windows are not shortened.
    pub fn advance(&self, by: Duration) {
        self.shared.advance(by);
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
