//! A poller: receives a batch, works on it, and again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::batch::Work;
use crate::sqs::{Received, SqsError};

/// "Using Lambda with Amazon SQS": Lambda polls with long polling, which is up to 20 s.
const LONG_POLL: Duration = Duration::from_secs(20);

/// Polls until it is stopped, or the queue or the function is gone. A batch that runs is finished first.
pub(super) async fn poll(work: Arc<Work>, mut stop: watch::Receiver<bool>) {
    loop {
        let gathered = tokio::select! {
            biased;
            // A closed channel is a dropped mapping.
            _ = stop.wait_for(|stop| *stop) => return,
            gathered = first(&work) => gathered,
        };
        let Ok((batch, until)) = gathered else { return };
        if batch.is_empty() {
            continue;
        }
        let batch = fill(&work, batch, &mut stop).await;
        if !work.process(batch, until).await {
            return;
        }
    }
}

/// The first messages of a batch, and when the first of them comes back by itself.
async fn first(work: &Work) -> Result<(Vec<Received>, Duration), SqsError> {
    let received = work.queue.receive(work.config.batch_size, LONG_POLL).await?;
    Ok((received, work.queue.now() + work.queue.config()?.visibility_timeout))
}

/// Gathers more until the batch is full or its window has passed.
async fn fill(work: &Work, mut batch: Vec<Received>, stop: &mut watch::Receiver<bool>) -> Vec<Received> {
    let end = Instant::now() + work.config.batching_window;
    while batch.len() < work.config.batch_size && Instant::now() < end {
        let left = work.config.batch_size - batch.len();
        let more = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return batch,
            more = timeout_at(end, work.queue.receive(left, LONG_POLL)) => more,
        };
        match more {
            Ok(Ok(more)) => batch.extend(more),
            // The window has passed, or the queue is gone.
            _ => return batch,
        }
    }
    batch
}
