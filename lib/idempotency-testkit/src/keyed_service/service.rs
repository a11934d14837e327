use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::routes::router;
use super::state::State;
use super::{Behaviour, Taken};
use crate::BindError;
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::locked::lock;
use crate::server_task::ServerTask;

/// The server. See the [module's documentation](super) for its contract.
///
/// Dropping it closes its port.
#[derive(Debug)]
pub struct KeyedService {
    url: String,
    state: Arc<Mutex<State>>,
    server: ServerTask,
}

/// The service could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyedServiceError {
    /// The address could not be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
}

impl KeyedService {
    /// Starts on a free port.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// When there is no loopback port left.
    pub async fn start() -> Result<Self, KeyedServiceError> {
        Self::start_on(ANY_PORT).await
    }

    /// Starts on `address`, for a port that stays the same between runs.
    ///
    /// Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`KeyedServiceError::Bind`] names the address when its port is in use.
    pub async fn start_on(address: SocketAddr) -> Result<Self, KeyedServiceError> {
        let (listener, bound) = bind(address).await?;
        let state = Arc::<Mutex<State>>::default();
        let app = router(Arc::clone(&state));
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "keyed service stopped");
            }
        });
        Ok(Self { url: format!("http://{bound}"), state, server })
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All that was taken, in order, whatever its sender was told.
    #[must_use]
    pub fn ledger(&self) -> Vec<Taken> {
        lock(&self.state).ledger.clone()
    }

    /// Changes what happens to requests from now on.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        lock(&self.state).behaviour = behaviour;
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
