//! One batch: from the event to the messages that are deleted.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use super::MappingConfig;
use super::counts::{Counters, add};
use super::event::split;
use super::verdict::{Verdict, verdict};
use crate::lambda::{Function, InvokeError, REQUEST_LIMIT};
use crate::sqs::{Queue, Received};

/// What a poller works with.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) queue: Queue,
    pub(super) function: Function,
    pub(super) config: MappingConfig,
    pub(super) counters: Counters,
}

impl Work {
    /// Invokes the function with a batch, and deletes what succeeded.
    ///
    /// `until` is when the messages come back by themselves. Returns false when the function is shut down.
    pub(super) async fn process(&self, batch: Vec<Received>, until: Duration) -> bool {
        let in_order = self.queue.name().ends_with(".fifo");
        let mut parts = split(batch, &self.queue.arn(), REQUEST_LIMIT).into_iter();
        while let Some((messages, event)) = parts.next() {
            let answer = self.invoke(event.into(), until).await;
            let shut_down = matches!(answer, Err(InvokeError::ShutDown));
            let failed = self.settle(&messages, answer);
            if shut_down || (failed && in_order) {
                // What follows must not overtake what failed.
                add(&self.counters.returned, parts.map(|(messages, _)| messages.len()).sum());
                return !shut_down;
            }
        }
        true
    }

    /// Invokes, and waits while no sandbox is free, as long as the messages are this poller's.
    ///
    /// "Handling errors for an SQS event source in Lambda", "Backoff strategy for failed invocations".
    async fn invoke(&self, event: Bytes, until: Duration) -> Result<Bytes, InvokeError> {
        loop {
            match self.function.invoke(event.clone()).await {
                Err(error @ InvokeError::Throttled { .. }) => {
                    add(&self.counters.throttled, 1);
                    if self.queue.now() + self.config.throttle_wait >= until {
                        return Err(error);
                    }
                    sleep(self.config.throttle_wait).await;
                }
                answer => {
                    add(&self.counters.invocations, 1);
                    return answer;
                }
            }
        }
    }

    /// Deletes what succeeded. Returns whether something failed, which then comes back after its visibility timeout.
    fn settle(&self, messages: &[Received], answer: Result<Bytes, InvokeError>) -> bool {
        let ids: BTreeSet<_> = messages.iter().map(|message| message.id.as_str()).collect();
        let verdict = match answer {
            Ok(answer) if self.config.report_batch_item_failures => verdict(&answer, &ids),
            Ok(_) => Verdict::Failed(BTreeSet::new()),
            Err(error) => {
                tracing::warn!(%error, queue = self.queue.name(), messages = messages.len(), "a batch failed");
                Verdict::Failed(ids.into_iter().map(str::to_owned).collect())
            }
        };
        let (succeeded, failed): (Vec<_>, Vec<_>) = match &verdict {
            Verdict::Failed(failed) => messages.iter().partition(|message| !failed.contains(&message.id)),
            Verdict::NotUnderstood(why) => {
                tracing::warn!(why, queue = self.queue.name(), "a report fails its whole batch");
                (Vec::new(), messages.iter().collect())
            }
        };
        let mut deleted = 0;
        for message in &succeeded {
            match self.queue.delete(&message.receipt) {
                Ok(()) => deleted += 1,
                Err(error) => {
                    tracing::warn!(%error, queue = self.queue.name(), "a message was not deleted and comes again");
                }
            }
        }
        add(&self.counters.deleted, deleted);
        add(&self.counters.returned, messages.len() - deleted);
        // Last: who sees a batch counted sees what came of it.
        add(&self.counters.batches, 1);
        !failed.is_empty()
    }
}
