//! Messages that should come again when there is a chance of another outcome, not sooner.

use std::{collections::BTreeMap, time::Duration};

use aws_sdk_sqs::{Client, error::DisplayErrorContext, types::ChangeMessageVisibilityBatchRequestEntry};

use super::{Settled, Source};

/// The longest visibility timeout (Amazon SQS API Reference, "ChangeMessageVisibility").
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// How many messages one request may name.
const AT_ONCE: usize = 10;

/// How long an answer waits for this at the longest. It only saves deliveries.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lets messages in conflict come again when the lease of the attempt in flight is over, and those whose handler said when
/// to try again at that time. Without this they come after the queue's visibility timeout, which serves as well, and burn receives
/// if that is shorter than the lease.
pub(super) async fn postpone<Src: Source>(client: &Client, settled: &[Settled<Src::Record>]) {
    let mut queues = BTreeMap::<_, Vec<_>>::new();
    for settled in settled.iter().filter(|settled| !settled.is_done) {
        if let Some((after, receipt)) = settled.outcome.again_after().zip(Src::receipt(&settled.record)) {
            queues.entry(receipt.queue_url).or_default().push((receipt.handle, seconds(after)));
        }
    }
    for (queue, messages) in queues {
        for messages in messages.chunks(AT_ONCE) {
            match tokio::time::timeout(PATIENCE, change(client, &queue, messages)).await {
                Ok(Ok(())) => {}
                Ok(Err(why)) => tracing::warn!(
                    queue,
                    why,
                    "the visibility of messages could not be changed, they come again after the queue's own timeout; \
                     the function needs sqs:ChangeMessageVisibility"
                ),
                Err(_) => tracing::warn!(queue, "SQS gave no answer about the visibility of messages"),
            }
        }
    }
}

async fn change(client: &Client, queue: &str, messages: &[(String, i32)]) -> Result<(), String> {
    let entries = messages.iter().enumerate().map(|(n, (handle, seconds))| {
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(n.to_string());
        entry.receipt_handle(handle).visibility_timeout(*seconds).build().map_err(|error| error.to_string())
    });
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let changed = client.change_message_visibility_batch().queue_url(queue).set_entries(Some(entries)).send().await;
    let changed = changed.map_err(|error| DisplayErrorContext(&error).to_string())?;
    match changed.failed().first() {
        Some(failed) => Err(format!("{} of {}: {}", changed.failed().len(), messages.len(), failed.code())),
        None => Ok(()),
    }
}

/// Whole seconds, at least one: a message that comes at once meets the same attempt.
fn seconds(after: Duration) -> i32 {
    let seconds = after.min(LONGEST).as_millis().div_ceil(1000).max(1);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_whole_and_within_what_sqs_takes() {
        assert_eq!(seconds(Duration::ZERO), 1);
        assert_eq!(seconds(Duration::from_millis(4001)), 5);
        assert_eq!(seconds(Duration::from_secs(7)), 7);
        assert_eq!(seconds(Duration::MAX), 43_200);
    }
}
