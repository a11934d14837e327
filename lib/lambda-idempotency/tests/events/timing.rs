//! Deadlines, and duplicates in flight.

use std::time::Duration;

use aws_lambda_events::sqs::SqsEvent;
use idempotency_core::{Clock, Status};
use lambda_http::LambdaEvent;
use lambda_idempotency::{Attempt, function::BoxError, idempotent};
use serde_json::json;

use crate::support::{Hands, Journal, World, batch, message, not_done};

const SECOND: Duration = Duration::from_secs(1);

#[idempotent(sqs, operation = "slow", version = 1, scope = none, concurrency = 1)]
async fn slow(seconds: u32, attempt: &Attempt, clock: &Hands, journal: &Journal) -> Result<(), BoxError> {
    journal.note(attempt.remaining().as_secs().to_string());
    clock.advance(seconds * SECOND);
    Ok(())
}

/// The event in an invocation of 30 seconds.
fn for_30_seconds(world: &World, mut event: LambdaEvent<SqsEvent>) -> LambdaEvent<SqsEvent> {
    event.context.deadline = u64::try_from((world.clock.now() + 30 * SECOND).get()).unwrap();
    event
}

#[tokio::test]
async fn near_its_deadline_a_batch_reports_the_rest_unclaimed() {
    let world = World::new();
    let messages = || batch(["1", "2", "3", "4", "5"].map(|id| message(id, &json!(8))));
    let event = for_30_seconds(&world, messages());
    let response = slow(&world.idempotency, &world.clock, &world.journal, event).await.unwrap();
    assert_eq!(
        (not_done(&response), world.journal.take()),
        (vec!["4", "5"], ["30", "22", "14"].map(String::from).to_vec())
    );
    assert_eq!(world.records().len(), 3);
    let event = for_30_seconds(&world, messages());
    let response = slow(&world.idempotency, &world.clock, &world.journal, event).await.unwrap();
    assert_eq!((not_done(&response), world.journal.take()), (vec![], ["30", "22"].map(String::from).to_vec()));
}

#[tokio::test]
async fn the_lease_of_a_record_is_that_of_its_invocation() {
    let world = World::new();
    let event = for_30_seconds(&world, batch([message("1", &json!(0))]));
    slow(&world.idempotency, &world.clock, &world.journal, event).await.unwrap();
    assert_eq!(world.records()[0].lease_until.saturating_since(world.clock.now()), 33 * SECOND);
}

#[idempotent(sqs, operation = "in-flight", version = 1, scope = none)]
async fn conflicting(seconds: u64, journal: &Journal) -> Result<(), BoxError> {
    journal.note("ran");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(())
}

#[idempotent(sqs, operation = "in-flight", version = 1, scope = none, in_flight = wait(Duration::from_secs(30)))]
async fn waiting(seconds: u64, journal: &Journal) -> Result<(), BoxError> {
    journal.note("ran");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_in_flight_comes_again_or_waits() {
    let world = World::new();
    let messages = || batch([message("1", &json!(2))]);
    let deliver = || conflicting(&world.idempotency, &world.journal, messages());
    let (first, second) = tokio::join!(deliver(), deliver());
    let mut both = [first.unwrap(), second.unwrap()].map(|response| not_done(&response).join(" "));
    both.sort();
    assert_eq!((both, world.journal.take()), (["", "1"].map(String::from), vec!["ran".to_owned()]));
    let world = World::new();
    let deliver = || waiting(&world.idempotency, &world.journal, for_30_seconds(&world, messages()));
    let (first, second) = tokio::join!(deliver(), deliver());
    assert_eq!((not_done(&first.unwrap()), not_done(&second.unwrap())), (vec![], vec![]));
    assert_eq!(world.journal.take(), ["ran"]);
}

#[idempotent(sqs, operation = "linger", version = 1, scope = none)]
async fn lingering(pauses: Vec<u64>, world: &World) -> Result<(), BoxError> {
    look(pauses, world).await
}

#[idempotent(sqs, operation = "linger", version = 1, scope = none, linger = Duration::ZERO)]
async fn not_lingering(pauses: Vec<u64>, world: &World) -> Result<(), BoxError> {
    look(pauses, world).await
}

/// Looks after each pause of milliseconds how many records are completed.
async fn look(pauses: Vec<u64>, world: &World) -> Result<(), BoxError> {
    for pause in pauses {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let completed = world.records().iter().filter(|record| record.status == Status::Completed).count();
        world.journal.note(completed.to_string());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_record_waits_for_those_of_others_as_long_as_is_said() {
    let messages = || batch([message("1", &json!([])), message("2", &json!([150, 150]))]);
    let world = World::new();
    lingering(&world.idempotency, &world, for_30_seconds(&world, messages())).await.unwrap();
    assert_eq!(world.journal.take(), ["0", "1"], "200 ms if nothing is said");
    let world = World::new();
    not_lingering(&world.idempotency, &world, for_30_seconds(&world, messages())).await.unwrap();
    assert_eq!(world.journal.take(), ["1", "1"]);
}
