//! Batches: what they cost, in which order their records run, and that one record never takes others down.

use idempotency_core::Status;
use idempotency_testkit::fault_proxy::{Fault, RecordedRequest, Rule};
use serde_json::{Value, json};

use crate::{
    event_samples::{Sample, Trigger},
    event_world::EventWorld,
};

/// Ends of claims wait for each other as long as it takes, so that a busy machine changes no count.
const PATIENT: (&str, &str) = ("LINGER_MS", "60000");

/// And a request that a busy machine is slow to answer is not sent a second time.
const UNHURRIED: [(&str, &str); 2] = [PATIENT, ("ATTEMPT_MS", "60000")];

fn samples(numbers: std::ops::Range<usize>) -> Vec<Sample> {
    numbers.map(|number| Sample::new(number, "it")).collect()
}

/// Asserts the answer to a batch: these samples are not done, all others are.
async fn assert_answer(world: &EventWorld, trigger: Trigger, batch: &[Sample], not_done: &[usize], first: &str) {
    let not_done: Vec<_> = batch.iter().filter(|sample| not_done.contains(&sample.number)).collect();
    assert_eq!(world.deliver(&trigger.event(batch)).await, trigger.answer(&not_done, first), "{}", world.log());
}

async fn assert_done(world: &EventWorld, trigger: Trigger, batch: &[Sample]) {
    assert_answer(world, trigger, batch, &[], "").await;
}

/// The keys that ran, as often as they ran.
async fn assert_runs(world: &EventWorld, count: usize) {
    let runs = world.runs().await;
    assert_eq!(runs.values().sum::<usize>(), count, "{runs:?}");
}

#[tokio::test]
async fn a_batch_of_ten_fresh_messages_costs_two_requests() {
    let world = EventWorld::start("sqs", &UNHURRIED).await;
    assert_done(&world, Trigger::Sqs, &samples(0..10)).await;
    assert_eq!(world.store_operations(), ["BatchExecuteStatement"; 2]);
    assert_runs(&world, 10).await;

    // Duplicates: the refused claims, and one read of what they ran into.
    assert_done(&world, Trigger::Sqs, &samples(0..10)).await;
    assert_eq!(world.store_operations(), ["BatchExecuteStatement", "BatchGetItem"]);

    // Three of ten are duplicates: one request more than without.
    assert_done(&world, Trigger::Sqs, &samples(7..17)).await;
    assert_eq!(world.store_operations(), ["BatchExecuteStatement", "BatchGetItem", "BatchExecuteStatement"]);
    assert_runs(&world, 17).await;
    world.stop().await;
}

#[tokio::test]
async fn messages_that_are_delivered_again_are_read_first() {
    let world = EventWorld::start("sqs", &UNHURRIED).await;
    assert_done(&world, Trigger::Sqs, &samples(0..5)).await;
    world.store_operations();

    let again: Vec<_> = samples(0..5).into_iter().map(|sample| sample.received(2)).collect();
    assert_done(&world, Trigger::Sqs, &again).await;
    assert_eq!(world.store_operations(), ["BatchGetItem"]);

    // Delivered before, but never claimed: the read finds nothing, and the claim goes on as usual.
    let unseen: Vec<_> = samples(5..10).into_iter().map(|sample| sample.received(3)).collect();
    assert_done(&world, Trigger::Sqs, &unseen).await;
    assert_eq!(world.store_operations(), ["BatchGetItem", "BatchExecuteStatement", "BatchExecuteStatement"]);
    assert_runs(&world, 10).await;
    world.stop().await;
}

#[tokio::test]
async fn larger_batches_go_in_groups_of_twenty_five() {
    let variables = [&UNHURRIED[..], &[("CONCURRENCY", "60")]].concat();
    let world = EventWorld::start("sqs", &variables).await;
    assert_done(&world, Trigger::Sqs, &samples(0..60)).await;
    // One that has to leave alone leaves as a put.
    let size = |request: &RecordedRequest| match request.operation.as_str() {
        "BatchExecuteStatement" => request.body["Statements"].as_array().unwrap().len(),
        "PutItem" => 1,
        other => panic!("{other}"),
    };
    let sizes: Vec<_> = world.store_requests().iter().map(size).collect();
    let (claims, ends) = sizes.split_at(3);
    // The claims leave together.
    let mut claims = claims.to_vec();
    claims.sort_unstable();
    assert_eq!(claims, [10, 25, 25]);
    // The ends leave as soon as there are 25 of them. How many more are there by then is the handlers' business: they leave with them, in
    // a second request.
    assert!(ends.iter().all(|size| *size <= 25), "{ends:?}");
    assert_eq!(ends.iter().sum::<usize>(), 60);
    assert!((3..=5).contains(&ends.len()), "{ends:?}");
    assert_runs(&world, 60).await;
    world.stop().await;
}

#[tokio::test]
async fn one_after_the_other_is_two_requests_each() {
    let world = EventWorld::start("sqs", &[("CONCURRENCY", "1"), ("ATTEMPT_MS", "60000")]).await;
    assert_done(&world, Trigger::Sqs, &samples(0..3)).await;
    assert_eq!(world.store_operations(), ["PutItem"; 6]);
    world.stop().await;
}

#[tokio::test]
async fn an_expired_record_that_a_batch_runs_into_is_replaced() {
    let world = EventWorld::start("sqs", &UNHURRIED).await;
    assert_done(&world, Trigger::Sqs, &samples(0..4)).await;
    world.records().end_storage_ttls().await.unwrap();
    world.store_operations();
    assert_done(&world, Trigger::Sqs, &samples(2..6)).await;
    // Two inserts are refused and read, and their replacements go together. They take along what ends are waiting by then.
    let operations = world.store_operations();
    assert_eq!(operations[..3], ["BatchExecuteStatement", "BatchGetItem", "BatchExecuteStatement"]);
    assert!((4..=5).contains(&operations.len()), "{operations:?}");
    assert_runs(&world, 8).await;
    world.stop().await;
}

#[tokio::test]
async fn a_lost_reply_of_a_batch_blocks_none_of_its_own_claims() {
    for fault in [Fault::DropAfter, Fault::ErrorAfter, Fault::ResetAfter] {
        for nth in [1, 2] {
            let world = EventWorld::start("sqs", &[PATIENT]).await;
            world.proxy.inject(Rule::on("BatchExecuteStatement").nth(nth).fault(fault.clone()));
            assert_done(&world, Trigger::Sqs, &samples(0..10)).await;
            assert_runs(&world, 10).await;
            let records = world.all_records().await;
            assert!(records.iter().all(|record| record.status == Status::Completed), "{fault:?} {nth}: {records:?}");
            world.stop().await;
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_never_answered_goes_one_by_one() {
    for fault in [Fault::DropBefore, Fault::DropAfter, Fault::Throttle] {
        let world = EventWorld::start("sqs", &[PATIENT]).await;
        world.proxy.inject(Rule::on("BatchExecuteStatement").forever().fault(fault.clone()));
        assert_done(&world, Trigger::Sqs, &samples(0..5)).await;
        assert_runs(&world, 5).await;
        world.stop().await;
    }
}

#[tokio::test]
async fn a_function_without_the_permission_for_batches_does_without() {
    let world = EventWorld::start("sqs", &[PATIENT]).await;
    let body = json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "Message": "not authorized" });
    world.proxy.inject(Rule::on("BatchExecuteStatement").forever().fault(Fault::Answer { status: 400, body }));
    assert_done(&world, Trigger::Sqs, &samples(0..5)).await;
    assert_done(&world, Trigger::Sqs, &samples(5..10)).await;
    assert_runs(&world, 10).await;
    let batches = world.store_operations().into_iter().filter(|operation| operation == "BatchExecuteStatement");
    assert_eq!(batches.count(), 1, "once refused, it is not asked for again");
    assert!(world.log().contains("dynamodb:PartiQLInsert"), "the operator is told: {}", world.log());
    world.stop().await;
}

#[tokio::test]
async fn a_message_that_stands_in_a_batch_twice_runs_once() {
    let world = EventWorld::start("sqs", &[PATIENT]).await;
    let batch = [
        Sample::new(0, "it").key("a"),
        Sample::new(1, "it").key("b"),
        Sample::new(2, "it").key("a"),
        Sample::new(3, "something else").key("b"),
    ];
    assert_answer(&world, Trigger::Sqs, &batch, &[3], "mismatch").await;
    assert_runs(&world, 2).await;
    world.stop().await;
}

#[tokio::test]
async fn one_record_never_takes_others_down() {
    let world = EventWorld::start("sqs", &[]).await;
    let batch = [
        Sample::new(0, "it"),
        Sample::new(1, "it").garbage(),
        Sample::new(2, "permanent"),
        Sample::new(3, "panic"),
        Sample::new(4, "it").key(" "),
        Sample::new(5, "retryable"),
        Sample::new(6, "it"),
    ];
    assert_answer(&world, Trigger::Sqs, &batch, &[1, 2, 3, 4, 5], "").await;
    assert_runs(&world, 5).await;
    for count in ["fresh=2", "undecodable=1", "failed=1", "abandoned=1", "key-invalid=1", "retryable=1"] {
        assert!(world.log().contains(count), "{count}: {}", world.log());
    }
    // What cannot be read is told by its place, and not repeated.
    assert!(world.log().contains("error=[2]: invalid type, expected struct"), "{}", world.log());
    assert!(!world.log().contains("task\""), "{}", world.log());
    world.stop().await;
}

#[tokio::test]
async fn a_group_stops_at_its_first_failure_and_others_go_on() {
    let world = EventWorld::start("sqs", &[]).await;
    let batch = [
        Sample::new(0, "it").group("a"),
        Sample::new(1, "it").group("b"),
        Sample::new(2, "retryable").group("a"),
        Sample::new(3, "it").group("b"),
        Sample::new(4, "it").group("a"),
        Sample::new(5, "it").group("c"),
    ];
    assert_answer(&world, Trigger::Fifo, &batch, &[2, 4], "").await;
    assert_runs(&world, 5).await;
    assert_eq!(world.all_records().await.len(), 5, "what comes behind a failure is not claimed");
    // Delivered again, the group goes on where it stopped.
    let again = [Sample::new(2, "it").group("a").received(2), Sample::new(4, "it").group("a").received(2)];
    assert_answer(&world, Trigger::Fifo, &again, &[2, 4], "").await;
    world.stop().await;
}

#[tokio::test]
async fn a_group_ends_one_message_before_it_begins_the_next() {
    let world = EventWorld::start("sqs", &UNHURRIED).await;
    assert_done(&world, Trigger::Fifo, &samples(0..3)).await;
    assert_eq!(world.store_operations(), ["PutItem"; 6], "claim and end, message by message");
    world.stop().await;
}

#[tokio::test]
async fn nothing_overtakes_an_end_of_which_nobody_knows_whether_it_is_stored() {
    let world = EventWorld::start("sqs", &[]).await;
    let body = json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "Message": "not authorized" });
    let ends = Rule::on("PutItem").when(|request| request.body["Item"]["status"]["S"] == "completed");
    world.proxy.inject(ends.fault(Fault::Answer { status: 400, body }));
    // The first is done: its effect happened. The others would run before it if it came again.
    assert_answer(&world, Trigger::Fifo, &samples(0..3), &[1, 2], "").await;
    assert_runs(&world, 1).await;
    assert!(world.log().contains("unconfirmed=1"), "{}", world.log());
    assert_done(&world, Trigger::Fifo, &samples(1..3)).await;
    assert_runs(&world, 3).await;
    world.stop().await;
}

#[tokio::test]
async fn a_shard_stops_at_its_first_failure() {
    for trigger in [Trigger::Kinesis, Trigger::DynamoDb, Trigger::KafkaReporting, Trigger::Kafka] {
        let world = EventWorld::start(trigger.name(), &[]).await;
        let batch = [Sample::new(0, "it"), Sample::new(1, "abandoned"), Sample::new(2, "it")];
        assert_answer(&world, trigger, &batch, &[1, 2], "abandoned").await;
        assert_runs(&world, 2).await;
        assert_eq!(world.all_records().await.len(), 2, "{trigger:?}");
        // The one in front is replayed, the lost one is still in flight.
        assert_answer(&world, trigger, &batch, &[1, 2], "conflict").await;
        assert_runs(&world, 2).await;
        world.records().end_leases().await.unwrap();
        assert_answer(&world, trigger, &batch, &[1, 2], "abandoned").await;
        assert_runs(&world, 3).await;
        world.stop().await;
    }
}

#[tokio::test]
async fn in_order_by_key_other_keys_go_on_and_are_replayed_when_they_come_again() {
    for trigger in [Trigger::Kinesis, Trigger::KafkaReporting] {
        let world = EventWorld::start(trigger.name(), &[("ORDER", "key")]).await;
        let batch = [
            Sample::new(0, "it").group("a"),
            Sample::new(1, "permanent").group("b"),
            Sample::new(2, "it").group("a"),
            Sample::new(3, "it").group("b"),
        ];
        for _ in 0..2 {
            assert_answer(&world, trigger, &batch, &[1, 3], "failed").await;
            assert_runs(&world, 3).await;
        }
        world.stop().await;
    }
}

#[tokio::test]
async fn a_crash_in_the_middle_of_a_batch_loses_no_message_and_leaves_none_in_flight() {
    let world = EventWorld::start("sqs", &[]).await;
    let batch = [Sample::new(0, "it"), Sample::new(1, "exit"), Sample::new(2, "it")];
    let crashed = world.function.invoke(Trigger::Sqs.event(&batch).to_string()).await;
    assert!(crashed.is_err());
    // SQS delivers them again. The attempts that were lost may have had their effects, so each may run once more.
    world.records().end_leases().await.unwrap();
    let again: Vec<_> = batch.iter().map(|sample| Sample { todo: "it", ..sample.clone() }.received(2)).collect();
    assert_answer(&world, Trigger::Sqs, &again, &[1], "mismatch").await;
    let runs = world.runs().await;
    assert!(runs.values().all(|runs| (1..=2).contains(runs)), "{runs:?}");
    let in_flight = world.all_records().await.into_iter().filter(|record| record.status == Status::InFlight);
    assert_eq!(in_flight.count(), 1, "only the one that came with another content");
    world.stop().await;
}

#[tokio::test]
async fn an_empty_batch_and_messages_without_an_id_are_answered_honestly() {
    let world = EventWorld::start("sqs", &[]).await;
    assert_done(&world, Trigger::Sqs, &[]).await;
    let mut event = Trigger::Sqs.event(&[Sample::new(0, "it").key("k"), Sample::new(1, "retryable").key("l")]);
    for id in [Value::Null, json!("")] {
        event["Records"][1]["messageId"] = id;
        // An empty identifier would fail the batch as well, but nobody would know why.
        assert_eq!(world.deliver(&event).await, Err("Idempotency.no-identifier".to_owned()));
    }
    world.stop().await;
}
