use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use uuid::Uuid;

use super::entry::Entry;
use super::routes::router;
use super::{Rule, Target};
use crate::BindError;
use crate::clock::since_epoch;
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::locked::lock;
use crate::server_task::ServerTask;
use crate::sqs::Message;

/// The server. See the [module's documentation](super) for what it does.
///
/// Dropping it closes its port. What it has delivered goes on.
#[derive(Debug)]
pub struct EventBus {
    url: String,
    state: Arc<Mutex<State>>,
    server: ServerTask,
}

/// What a bus has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusCounts {
    /// Events that were taken.
    pub accepted: u64,
    /// Entries that were refused.
    pub refused: u64,
    /// Deliveries to targets, each duplicate counted.
    pub delivered: u64,
    /// Deliveries that a target did not take.
    pub undelivered: u64,
}

#[derive(Debug, Default)]
pub(super) struct State {
    rules: Vec<Rule>,
    duplicate_every: Option<NonZeroU32>,
    pub(super) counts: BusCounts,
}

impl EventBus {
    /// Starts on a free port, without rules.
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
        let state = Arc::<Mutex<State>>::default();
        let app = router(Arc::clone(&state));
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "event bus stopped");
            }
        });
        Ok(Self { url: format!("http://{bound}"), state, server })
    }

    /// The base URL, without a slash at its end: the endpoint URL of the SDK's clients.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds a rule, for events that come from now on.
    pub fn add_rule(&self, rule: Rule) {
        lock(&self.state).rules.push(rule);
    }

    /// Delivers every `nth` event twice to each target, under the same event id, as EventBridge may at any time; `None`
    /// (as at the start) never. With 1, all.
    pub fn duplicate_every(&self, nth: Option<NonZeroU32>) {
        lock(&self.state).duplicate_every = nth;
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> BusCounts {
        lock(&self.state).counts
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

impl State {
    /// Takes an event, hands it to the targets of the rules that it fits, and returns its id.
    pub(super) fn accept(&mut self, entry: &Entry) -> String {
        let id = Uuid::new_v4().to_string();
        let event = entry.event(&id, since_epoch());
        self.counts.accepted += 1;
        let nth = self.duplicate_every.map(|nth| u64::from(nth.get()));
        let times = if nth.is_some_and(|nth| self.counts.accepted.is_multiple_of(nth)) { 2 } else { 1 };
        let targets = self.rules.iter().filter(|rule| rule.fits(entry)).flat_map(|rule| &rule.targets);
        let (mut delivered, mut undelivered) = (0, 0);
        for target in targets {
            for _ in 0..times {
                let taken = target.take(event.clone());
                delivered += u64::from(taken);
                undelivered += u64::from(!taken);
            }
        }
        self.counts.delivered += delivered;
        self.counts.undelivered += undelivered;
        id
    }
}

impl Target {
    fn take(&self, event: String) -> bool {
        let result = match self {
            Self::Function(invoker) => invoker.invoke(event).map(|_| ()).map_err(|error| error.to_string()),
            Self::Queue(queue) => queue.send(Message::new(event)).map(|_| ()).map_err(|error| error.to_string()),
        };
        result.inspect_err(|error| tracing::warn!(error, "a target did not take an event")).is_ok()
    }
}
