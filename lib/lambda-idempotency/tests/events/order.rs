//! Which records run side by side, and where order stops.

use lambda_idempotency::{function::BoxError, idempotent};
use serde_json::{Value, json};

use crate::{
    messages::take_in,
    support::{Journal, World, batch, claim, event, fifo_message, message, not_done},
};

/// What a handler does: `slow`, `fail` or nothing in particular.
#[derive(serde::Deserialize)]
struct Job {
    id: String,
    #[serde(default)]
    does: String,
}

fn job(id: &str, does: &str) -> Value {
    json!({ "id": id, "does": does })
}

async fn run(job: Job, journal: &Journal) -> Result<(), BoxError> {
    journal.note(format!("{} begins", job.id));
    tokio::task::yield_now().await;
    if job.does == "fail" {
        return Err("lost".into());
    }
    journal.note(format!("{} ends", job.id));
    Ok(())
}

#[idempotent(sqs, operation = "side-by-side", version = 1, scope = none)]
async fn side_by_side(job: Job, journal: &Journal) -> Result<(), BoxError> {
    run(job, journal).await
}

#[idempotent(sqs, operation = "one-by-one", version = 1, scope = none, concurrency = 1)]
async fn one_by_one(job: Job, journal: &Journal) -> Result<(), BoxError> {
    run(job, journal).await
}

#[tokio::test]
async fn records_run_side_by_side_unless_one_is_allowed_at_a_time() {
    let world = World::new();
    let messages = || batch(["1", "2", "3"].map(|id| message(id, &job(id, ""))));
    side_by_side(&world.idempotency, &world.journal, messages()).await.unwrap();
    let journal = world.journal.take();
    assert_eq!(journal[..3], ["1 begins", "2 begins", "3 begins"]);
    assert!(journal[3..].iter().all(|line| line.ends_with("ends")));
    one_by_one(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!(world.journal.take(), ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]);
}

#[tokio::test]
async fn a_group_stops_at_its_first_failure_and_other_groups_go_on() {
    let world = World::new();
    let messages = [
        fifo_message("a-1", "a", &job("a-1", "")),
        fifo_message("b-1", "b", &job("b-1", "")),
        fifo_message("a-2", "a", &job("a-2", "fail")),
        fifo_message("a-3", "a", &job("a-3", "")),
        fifo_message("b-2", "b", &job("b-2", "")),
    ];
    let response = side_by_side(&world.idempotency, &world.journal, batch(messages)).await.unwrap();
    assert_eq!(not_done(&response), ["a-2", "a-3"]);
    let journal = world.journal.take();
    let of = |group: char| journal.iter().filter(|line| line.starts_with(group)).cloned().collect::<Vec<_>>();
    assert_eq!(of('a'), ["a-1 begins", "a-1 ends", "a-2 begins"]);
    assert_eq!(of('b'), ["b-1 begins", "b-1 ends", "b-2 begins", "b-2 ends"]);
    assert_eq!(world.records().len(), 4, "the rest of the group is not claimed");
}

#[tokio::test]
async fn a_duplicate_inside_one_batch_runs_once_and_both_are_done() {
    let world = World::new();
    let messages = [message("m-1", &claim("c-1")), message("m-2", &claim("c-2")), message("m-3", &claim("c-1"))];
    let response = take_in(&world.idempotency, &world.journal, batch(messages)).await.unwrap();
    assert_eq!(not_done(&response), [""; 0]);
    assert_eq!((world.journal.take().len(), world.records().len()), (2, 2));
}

#[idempotent(kinesis, operation = "shard", version = 1, scope = none, key = [job.id], order = source)]
async fn by_shard(job: Job, journal: &Journal) -> Result<(), BoxError> {
    run(job, journal).await
}

#[idempotent(kinesis, operation = "partition-key", version = 1, scope = none, key = [job.id], order = key)]
async fn by_partition_key(job: Job, journal: &Journal) -> Result<(), BoxError> {
    run(job, journal).await
}

#[tokio::test]
async fn a_shard_keeps_its_order_and_may_keep_it_by_partition_key_only() {
    let base64 = |value: &Value| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, value.to_string());
    let record = |number: &str, key: &str, does: &str| {
        json!({
            "eventID": format!("shardId-0:{number}"),
            "kinesis": {
                "data": base64(&job(number, does)), "partitionKey": key, "sequenceNumber": number,
                "approximateArrivalTimestamp": 1.0,
            },
        })
    };
    let records = json!({ "Records": [record("1", "a", ""), record("2", "b", "fail"), record("3", "b", ""), record("4", "a", "")] });
    let world = World::new();
    let response = by_shard(&world.idempotency, &world.journal, event(records.clone())).await.unwrap();
    let first = |response: &aws_lambda_events::streams::KinesisEventResponse| {
        response.batch_item_failures[0].item_identifier.clone().unwrap()
    };
    assert_eq!((first(&response).as_str(), world.journal.take().len()), ("2", 3));
    let response = by_partition_key(&world.idempotency, &world.journal, event(records)).await.unwrap();
    assert_eq!(first(&response), "2");
    let ended: Vec<_> = world.journal.take().into_iter().filter(|line| line.ends_with("ends")).collect();
    assert_eq!(ended, ["1 ends", "4 ends"]);
}
