//! A background server that ends when it is stopped or dropped.

use std::future::Future;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long `stop` lets running requests finish before it cuts them off.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct ServerTask {
    // Dropping the sender is the stop signal, so that forgetting to call `stop` stops it too.
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl ServerTask {
    /// Spawns the server that `serve` makes from its stop signal.
    pub(crate) fn spawn<F>(serve: impl FnOnce(StopSignal) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(StopSignal(stopped)));
        Self { stop: Some(stop), task }
    }

    /// Stops accepting, lets running requests finish for a while, and returns when all is closed.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        if tokio::time::timeout(GRACE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// Resolves when the server should stop.
pub(crate) struct StopSignal(oneshot::Receiver<()>);

impl StopSignal {
    pub(crate) async fn wait(self) {
        // Both a value and a dropped sender mean stop.
        let _ = self.0.await;
    }
}
