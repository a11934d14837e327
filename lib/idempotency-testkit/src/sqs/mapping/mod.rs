//! An event source mapping: what polls a queue and invokes a function with what is in it.

mod batch;
mod config;
mod counts;
mod error;
mod event;
mod poller;
mod verdict;

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Queue;
use crate::lambda::Function;
use batch::Work;
use counts::Counters;

pub use config::MappingConfig;
pub use counts::MappingCounts;
pub use error::MappingError;
pub(crate) use verdict::{Verdict, verdict};

/// Polls a queue and invokes a function with real SQS events, as Lambda does.
///
/// What succeeded is deleted. What failed, by the function's report or because its invocation failed, crashed or timed out,
/// stays invisible until its visibility timeout ends, and comes again. A report that is not understood fails its whole batch.
/// An invocation that finds no free sandbox is tried again until the visibility timeout.
///
/// Dropping the mapping stops it too; batches that run go on to their end.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use idempotency_testkit::lambda::{Function, FunctionConfig};
/// use idempotency_testkit::sqs::{EventSourceMapping, MappingConfig, Message, QueueConfig, Sqs};
/// use idempotency_testkit::{eventually, function_binary};
///
/// let sqs = Sqs::start().await?;
/// let queue = sqs.create_queue(QueueConfig::new("claims"))?;
/// let function = Function::new(FunctionConfig::new("claims-intake", function_binary("claims-intake")?))?;
/// let mapping = EventSourceMapping::start(&queue, function.clone(), MappingConfig::new())?;
///
/// queue.send(Message::new("{}"))?;
/// eventually(Duration::from_secs(10), async || queue.is_empty().then_some(())).await?;
/// assert_eq!(mapping.counts().deleted, 1);
///
/// mapping.stop().await;
/// function.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EventSourceMapping {
    work: Arc<Work>,
    stop: watch::Sender<bool>,
    pollers: JoinSet<()>,
}

impl EventSourceMapping {
    /// Starts polling.
    ///
    /// Must run inside a Tokio runtime, which then also runs the pollers.
    ///
    /// # Errors
    ///
    /// When the settings are not ones that Lambda takes for this queue and function: see [`MappingError`].
    pub fn start(queue: &Queue, function: Function, config: MappingConfig) -> Result<Self, MappingError> {
        config.check(&queue.config()?, function.config().timeout)?;
        let concurrency = config.concurrency;
        let work = Arc::new(Work { queue: queue.clone(), function, config, counters: Counters::default() });
        let (stop, stopped) = watch::channel(false);
        let mut pollers = JoinSet::new();
        for _ in 0..concurrency {
            pollers.spawn(poller::poll(Arc::clone(&work), stopped.clone()));
        }
        Ok(Self { work, stop, pollers })
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> MappingCounts {
        self.work.counters.read()
    }

    /// Receives nothing more, waits for the batches that run, and says what was done in all.
    ///
    /// Dropping the future early lets those batches go on without waiting for them.
    pub async fn stop(mut self) -> MappingCounts {
        self.stop.send_replace(true);
        while self.pollers.join_next().await.is_some() {}
        self.work.counters.read()
    }
}

impl Drop for EventSourceMapping {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        // Aborted, a poller would leave its batch between the effect and the deletion.
        self.pollers.detach_all();
    }
}
