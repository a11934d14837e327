use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::routes::router;
use super::state::State;
use super::{Behaviour, LedgerEntry, PaymentProviderError, Refund};
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::locked::lock;
use crate::server_task::ServerTask;

/// The server. See the [module's documentation](super) for its contract.
///
/// Dropping it closes its port.
#[derive(Debug)]
pub struct PaymentProvider {
    url: String,
    state: Arc<Mutex<State>>,
    server: ServerTask,
}

impl PaymentProvider {
    /// Starts on a free port.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it
    /// completes starts nothing.
    ///
    /// # Errors
    ///
    /// When there is no loopback port left.
    pub async fn start() -> Result<Self, PaymentProviderError> {
        Self::start_on(ANY_PORT).await
    }

    /// Starts on `address`, for a port that stays the same between runs.
    ///
    /// Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`PaymentProviderError::Bind`] names the address when its port is in use.
    pub async fn start_on(address: SocketAddr) -> Result<Self, PaymentProviderError> {
        let (listener, bound) = bind(address).await?;
        let state = Arc::<Mutex<State>>::default();
        let app = router(Arc::clone(&state));
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "payment provider stopped");
            }
        });
        Ok(Self { url: format!("http://{bound}"), state, server })
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What was given back, in its order.
    pub fn refunds(&self) -> Vec<Refund> {
        lock(&self.state).refunds.clone()
    }

    /// Every charge that was made, in order, whatever its caller was told.
    #[must_use]
    pub fn ledger(&self) -> Vec<LedgerEntry> {
        lock(&self.state).ledger.clone()
    }

    /// Changes what happens to requests from now on.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        lock(&self.state).behaviour = behaviour;
    }

    /// The behaviour, with what is left of its counters.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        lock(&self.state).behaviour.clone()
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
