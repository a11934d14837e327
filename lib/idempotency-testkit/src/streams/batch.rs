//! One batch, until all of it is done or given up.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use super::StreamConfig;
use super::counts::{Counters, add};
use super::failed_batch::FailedBatch;
use crate::clock::since_epoch;
use crate::lambda::{Function, InvokeError};
use crate::sqs::{Verdict, verdict};

/// What a reader works with.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) function: Function,
    pub(super) config: StreamConfig,
    pub(super) stream_arn: String,
    pub(super) counters: Counters,
    pub(super) stopped: watch::Receiver<bool>,
}

/// Records of one shard, in their order.
#[derive(Debug, Clone)]
pub(super) struct Batch<'a> {
    pub(super) shard: &'a str,
    pub(super) records: Vec<Value>,
}

/// What an invocation came to.
enum Came {
    Done,
    /// From this record on, all must come again.
    Failed {
        from: usize,
    },
    /// The function is shut down.
    ShutDown,
}

impl Work {
    /// Invokes the function with a batch, and again with what is left of it. Returns false when the function is shut down or the mapping
    /// is to stop.
    ///
    /// AWS Lambda Developer Guide, "Configuring partial batch response with DynamoDB and Lambda" and "Retain discarded records for a
    /// DynamoDB event source in Lambda": a report below the first record is a failure that counts, and halving a batch is none. What is left
    /// behind a reported record keeps the count here; the guide does not say.
    pub(super) async fn process(&self, batch: Batch<'_>) -> bool {
        let mut left = VecDeque::from([(batch, 0_u32)]);
        while let Some((batch, retries)) = left.pop_front() {
            let from = match self.invoke(&batch.records).await {
                Came::Done => {
                    add(&self.counters.done, batch.records.len());
                    continue;
                }
                Came::ShutDown => return false,
                Came::Failed { from } => from,
            };
            add(&self.counters.failed, 1);
            add(&self.counters.done, from);
            let rest = Batch { records: batch.records.get(from..).unwrap_or_default().to_vec(), ..batch };
            if *self.stopped.borrow() {
                return false;
            }
            if self.config.bisect_batch_on_function_error && from == 0 && rest.records.len() > 1 {
                let (first, second) = rest.records.split_at(rest.records.len() / 2);
                for half in [second, first] {
                    left.push_front((Batch { records: half.to_vec(), ..rest }, retries));
                }
            } else if self.config.maximum_retry_attempts.is_some_and(|most| retries >= most) {
                self.give_up(&rest, retries + 1);
                continue;
            } else {
                left.push_front((rest, retries + 1));
            }
            sleep(self.config.retry_wait).await;
        }
        true
    }

    /// Invokes, and waits while no sandbox is free, which is no failure.
    async fn invoke(&self, records: &[Value]) -> Came {
        let event = Bytes::from(json!({ "Records": records }).to_string());
        let answer = loop {
            match self.function.invoke(event.clone()).await {
                Err(InvokeError::Throttled { .. }) => sleep(self.config.retry_wait).await,
                Err(InvokeError::ShutDown) => return Came::ShutDown,
                answer => break answer,
            }
        };
        add(&self.counters.invocations, 1);
        match answer {
            Ok(answer) if self.config.report_batch_item_failures => reported(&answer, records),
            Ok(_) => Came::Done,
            Err(error) => {
                tracing::warn!(%error, records = records.len(), "a batch of a stream failed");
                Came::Failed { from: 0 }
            }
        }
    }

    fn give_up(&self, batch: &Batch<'_>, invocations: u32) {
        tracing::warn!(records = batch.records.len(), shard = batch.shard, "a batch of a stream is given up");
        if let Some(queue) = &self.config.on_failure {
            let failed = FailedBatch {
                function: &self.function.config().name,
                stream_arn: &self.stream_arn,
                shard: batch.shard,
                records: &batch.records,
                invocations,
                at: since_epoch(),
            };
            if let Err(error) = queue.send(failed.message()) {
                tracing::warn!(%error, "the on-failure destination did not take a record");
            }
        }
        // Last: who sees it counted sees it in the queue.
        add(&self.counters.given_up, batch.records.len());
    }
}

/// The first of the records that were reported.
fn reported(answer: &[u8], records: &[Value]) -> Came {
    let numbers: Vec<_> = records.iter().map(|record| sequence_number(record).unwrap_or_default()).collect();
    match verdict(answer, &numbers.iter().copied().collect::<BTreeSet<_>>()) {
        Verdict::Failed(failed) => match numbers.iter().position(|number| failed.contains(*number)) {
            Some(from) => Came::Failed { from },
            None => Came::Done,
        },
        Verdict::NotUnderstood(why) => {
            tracing::warn!(why, "a report fails its whole batch");
            Came::Failed { from: 0 }
        }
    }
}

pub(super) fn sequence_number(record: &Value) -> Option<&str> {
    record.pointer("/dynamodb/SequenceNumber")?.as_str()
}
