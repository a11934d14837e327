//! One invocation.

use std::time::Duration;

use aws_lambda_events::{
    dynamodb::{Event, EventRecord},
    streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse},
};
use idempotency_core::{Clock as _, Namespace, OutboxEntry, SystemClock};
use lambda_idempotency::lambda_deadline;
use lambda_runtime::{Error, LambdaEvent, tracing};

use crate::{
    in_order::send_in_order, known::Known, marks::Marks, predecessors::Predecessors, routes::Routes,
    send_error::SendError, staged::staged,
};

/// A round takes no longer than this, whatever happens: a request has 3 s (`idempotency_dynamodb::timeouts`).
const ROUND: Duration = Duration::from_secs(4);

/// What is left for the answer.
const ANSWER: Duration = Duration::from_millis(500);

/// What the invocations share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) namespace: Namespace,
    pub(crate) routes: Routes,
    pub(crate) predecessors: Predecessors,
    pub(crate) marks: Marks,
    pub(crate) known: Known,
}

/// Sends what was staged, and reports the first record that must come again.
///
/// # Errors
///
/// When that record has no sequence number; then all of the batch comes again.
pub(crate) async fn relay(app: &App, event: LambdaEvent<Event>) -> Result<DynamoDbEventResponse, Error> {
    let deadline = lambda_deadline(&event.context);
    let left = || deadline.saturating_since(SystemClock.now());
    let records = event.payload.records;
    let staged = app.predecessors.complete(staged(&records, &app.namespace), &app.known).await;
    let outcome = send_in_order(staged, || left() < ROUND, async |entries| send(app, entries).await).await;
    let sent: Vec<_> = outcome.sent.into_iter().filter(|entry| app.known.remember(&entry.id)).collect();
    if !sent.is_empty() {
        tracing::info!(sent = sent.len(), "events of the outbox were sent");
        let limit = left().saturating_sub(ANSWER).clamp(ANSWER, ROUND);
        app.marks.mark(&sent, SystemClock.now(), limit).await;
    }
    report(&records, outcome.first_failed)
}

/// Sends what this process has not sent before.
async fn send(app: &App, entries: &[&OutboxEntry]) -> Vec<Result<(), SendError>> {
    let (known, new): (Vec<_>, Vec<_>) = entries.iter().copied().partition(|entry| app.known.has(&entry.id));
    for entry in known {
        let (pk, sk, event_id) = (&entry.record_key, entry.sort_key(), &entry.id);
        tracing::info!(%pk, sk, %event_id, "an entry of the outbox is skipped, because this process has sent it already");
    }
    let mut results = app.routes.send(&new).await.into_iter();
    let mut result = || results.next().unwrap_or_else(|| Err(SendError::of_entry(None, None)));
    entries.iter().map(|entry| if app.known.has(&entry.id) { Ok(()) } else { result() }).collect()
}

/// Lambda goes on from the lowest sequence number that it is told (AWS Lambda Developer Guide, "Configuring partial batch response with
/// DynamoDB and Lambda"), and the records stand in the batch as in their shard.
fn report(records: &[EventRecord], first_failed: Option<usize>) -> Result<DynamoDbEventResponse, Error> {
    let mut response = DynamoDbEventResponse::default();
    if let Some(place) = first_failed {
        let number = records.get(place).and_then(|record| record.change.sequence_number.clone());
        let number = number.filter(|number| !number.is_empty());
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(number.ok_or("a record that must come again has no sequence number")?);
        response.batch_item_failures.push(failure);
    }
    Ok(response)
}
