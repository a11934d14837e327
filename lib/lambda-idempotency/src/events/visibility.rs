//! Messages that should come again when there is a chance of another outcome, not sooner.

use std::{collections::BTreeMap, time::Duration};

use aws_sdk_sqs::{Client, error::DisplayErrorContext, types::ChangeMessageVisibilityBatchRequestEntry};

use futures::future::join_all;

use super::{Outcome, Settled, Source};

/// The longest visibility timeout is 12 hours from when the message was received (Amazon SQS API Reference, "ChangeMessageVisibility"),
/// which is not longer ago than an invocation takes.
const LONGEST: Duration = Duration::from_secs(12 * 3600 - 16 * 60);

/// How many messages one request may name.
const AT_ONCE: usize = 10;

/// How long an answer waits for this at the longest. It only saves deliveries.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lets messages in conflict come again when the lease of the attempt in flight is over, and those whose handler said when
/// to try again at that time. Without this they come after the queue's visibility timeout, which serves as well, and burn receives
/// if that is shorter than the lease. What waits behind such a message in its group comes with it, for SQS delivers nothing of a
/// group of which one message is invisible.
///
/// `left` is what is left of the invocation, if that is known: half of it is kept for the answer.
pub(super) async fn postpone<Src: Source>(client: &Client, settled: &[Settled<Src::Record>], left: Option<Duration>) {
    let queues = waits::<Src>(settled);
    let requests = queues.iter().flat_map(|(queue, messages)| messages.chunks(AT_ONCE).map(move |some| (queue, some)));
    let requests = requests.map(async |(queue, messages)| {
        if let Err(why) = change(client, queue, messages).await {
            tracing::warn!(
                queue,
                why,
                "the visibility of messages could not be changed, they come again after the queue's own timeout; \
                 the function needs sqs:ChangeMessageVisibility"
            );
        }
    });
    let patience = left.map_or(PATIENCE, |left| PATIENCE.min(left / 2));
    if tokio::time::timeout(patience, join_all(requests)).await.is_err() {
        tracing::warn!(
            "SQS gave no answer about the visibility of messages, they come again after the queue's own timeout"
        );
    }
}

/// Which messages of which queue are to come again after how many seconds.
fn waits<Src: Source>(settled: &[Settled<Src::Record>]) -> BTreeMap<String, Vec<(String, i32)>> {
    let (mut queues, mut groups) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new());
    for settled in settled.iter().filter(|settled| !settled.is_done) {
        let Some(receipt) = Src::receipt(&settled.record) else { continue };
        let behind = receipt.group.as_ref().and_then(|group| groups.get(group).copied());
        let Some(after) = settled.outcome.again_after().or(behind.filter(|_| settled.outcome == Outcome::NotReached))
        else {
            continue;
        };
        groups.extend(receipt.group.map(|group| (group, after)));
        queues.entry(receipt.queue_url).or_default().push((receipt.handle, seconds(after)));
    }
    queues
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
    use aws_lambda_events::sqs::SqsMessage;
    use serde_json::json;

    use super::*;
    use crate::events::Sqs;

    fn message(number: usize, group: &str, outcome: Outcome) -> Settled<SqsMessage> {
        let attributes = json!({ "MessageGroupId": group, "SequenceNumber": "1" });
        let message = json!({
            "messageId": "m", "receiptHandle": number.to_string(), "attributes": attributes,
            "eventSourceARN": "arn:aws:sqs:eu-west-1:1:orders.fifo",
        });
        Settled { record: serde_json::from_value(message).unwrap(), outcome, is_done: outcome.is_done() }
    }

    #[test]
    fn a_group_waits_as_a_whole_and_no_other_message_does() {
        let conflict = Outcome::Conflict { lease_left: Duration::from_secs(9) };
        let settled = [
            message(0, "a", Outcome::Fresh),
            message(1, "a", conflict),
            message(2, "b", Outcome::Failed),
            message(3, "a", Outcome::NotReached),
            message(4, "b", Outcome::NotReached),
        ];
        let waits: Vec<_> = waits::<Sqs>(&settled).into_values().flatten().collect();
        assert_eq!(waits, [("1".to_owned(), 9), ("3".to_owned(), 9)]);
    }

    #[test]
    fn seconds_are_whole_and_within_what_sqs_takes() {
        assert_eq!(seconds(Duration::ZERO), 1);
        assert_eq!(seconds(Duration::from_millis(4001)), 5);
        assert_eq!(seconds(Duration::from_secs(7)), 7);
        assert_eq!(seconds(Duration::MAX), 42_240);
    }
}
