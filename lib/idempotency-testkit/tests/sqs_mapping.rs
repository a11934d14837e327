//! Goal: a function gets what is in a queue as Lambda's event source mapping gives it, and only what succeeded is deleted.
//! Method: a real function binary does what the messages say; time jumps ahead where a visibility timeout must end.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::PathBuf;
use std::time::Duration;

use idempotency_testkit::eventually;
use idempotency_testkit::lambda::{Function, FunctionConfig, Logs};
use idempotency_testkit::sqs::{
    EventSourceMapping, MappingConfig, MappingCounts, MappingError, Message, Queue, QueueConfig, Sqs,
};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(60);

fn function_config() -> FunctionConfig {
    FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function")).logs(Logs::Captured).timeout(TIMEOUT)
}

fn function() -> Function {
    Function::new(function_config()).unwrap()
}

/// A queue whose messages go to `dlq` after two receives.
async fn queue(kind: &str) -> (Sqs, Queue, Queue) {
    let sqs = Sqs::start().await.unwrap();
    let dead = sqs.create_queue(QueueConfig::new(format!("dlq{kind}"))).unwrap();
    let config = QueueConfig::new(format!("q{kind}")).visibility_timeout(TIMEOUT);
    let queue = sqs.create_queue(config.dead_letter(format!("dlq{kind}"), 2)).unwrap();
    (sqs, queue, dead)
}

fn send(queue: &Queue, body: Value) -> String {
    queue.send(Message::new(body.to_string())).unwrap().id
}

fn one_poller() -> MappingConfig {
    MappingConfig::new().concurrency(1)
}

async fn until(what: impl Fn() -> bool) {
    eventually(PATIENCE, async || what().then_some(())).await.unwrap();
}

async fn batches(mapping: &EventSourceMapping, batches: u64) -> MappingCounts {
    until(|| mapping.counts().batches >= batches).await;
    mapping.counts()
}

/// The ids of the messages that the function got, in order.
async fn seen(function: &Function, count: usize) -> Vec<String> {
    let ids = || {
        let logs = function.logs();
        let ids = logs.iter().filter_map(|line| line.text.strip_prefix("record ")?.split(' ').next());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    // The output comes through a pipe, a little later than the answer.
    until(|| ids().len() >= count).await;
    ids()
}

fn missing_file() -> PathBuf {
    std::env::temp_dir().join(format!("sqs-mapping-{}", uuid::Uuid::new_v4()))
}

#[tokio::test]
async fn a_batch_that_succeeds_is_deleted() {
    let (_sqs, queue, _dead) = queue("").await;
    let ids = [1, 2, 3].map(|n| send(&queue, json!({ "n": n })));
    let function = function();

    let mapping = EventSourceMapping::start(&queue, function.clone(), one_poller()).unwrap();
    let counts = batches(&mapping, 1).await;

    assert_eq!((counts.invocations, counts.deleted, counts.returned), (1, 3, 0));
    assert!(queue.is_empty());
    assert_eq!(seen(&function, 3).await, ids);
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn only_the_reported_messages_come_back_and_only_after_their_timeout() {
    let (sqs, queue, dead) = queue("").await;
    send(&queue, json!({}));
    let failing = send(&queue, json!({ "do": "report", "times": 1 }));
    send(&queue, json!({}));
    let function = function();

    let mapping = EventSourceMapping::start(&queue, function.clone(), one_poller()).unwrap();
    let counts = batches(&mapping, 1).await;
    assert_eq!((counts.deleted, counts.returned, queue.counts().in_flight), (2, 1, 1));

    sqs.advance(TIMEOUT);
    let counts = batches(&mapping, 2).await;
    assert_eq!((counts.deleted, queue.is_empty(), dead.is_empty()), (3, true, true));
    assert_eq!(seen(&function, 4).await[3], failing);
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn a_report_that_lambda_does_not_understand_returns_the_whole_batch() {
    for answer in [
        json!({ "batchItemFailures": [{ "itemIdentifier": "" }] }),
        json!({ "batchItemFailures": [{ "itemIdentifier": "not-of-this-batch" }] }),
        json!("ok"),
    ] {
        let (_sqs, queue, _dead) = queue("").await;
        send(&queue, json!({}));
        send(&queue, json!({ "do": "answer", "answer": answer }));
        let function = function();

        let mapping = EventSourceMapping::start(&queue, function.clone(), one_poller()).unwrap();
        let counts = batches(&mapping, 1).await;

        assert_eq!((counts.deleted, counts.returned, queue.counts().in_flight), (0, 2, 2), "{answer}");
        mapping.stop().await;
        function.shutdown().await;
    }
}

#[tokio::test]
async fn without_reporting_the_answer_does_not_matter() {
    let (_sqs, queue, _dead) = queue("").await;
    send(&queue, json!({ "do": "report" }));
    let function = function();

    let config = one_poller().report_batch_item_failures(false);
    let mapping = EventSourceMapping::start(&queue, function.clone(), config).unwrap();

    assert_eq!((batches(&mapping, 1).await.deleted, queue.is_empty()), (1, true));
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn failures_crashes_and_timeouts_delete_nothing_and_end_in_the_dead_letter_queue() {
    for failing in [json!({ "do": "fail" }), json!({ "do": "exit" }), json!({ "do": "wait_for_file", "path": "" })] {
        let (sqs, queue, dead) = queue("").await;
        let ids = [send(&queue, json!({})), send(&queue, failing.clone())];
        let function = Function::new(function_config().timeout(Duration::from_millis(500))).unwrap();

        let mapping = EventSourceMapping::start(&queue, function.clone(), one_poller()).unwrap();
        for attempt in 1..=2 {
            assert_eq!(batches(&mapping, attempt).await.deleted, 0, "{failing}");
            assert_eq!((queue.counts().in_flight, dead.is_empty()), (2, true), "{failing}");
            sqs.advance(TIMEOUT);
        }

        until(|| dead.counts().visible == 2).await;
        let letters = dead.messages();
        assert_eq!(letters.iter().map(|letter| &letter.id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
        assert!(letters.iter().all(|letter| letter.receive_count == 2));
        assert_eq!((mapping.stop().await.invocations, queue.is_empty()), (2, true));
        function.shutdown().await;
    }
}

#[tokio::test]
async fn a_throttled_invocation_waits_and_its_messages_are_not_received_again() {
    let (_sqs, queue, dead) = queue("").await;
    let file = missing_file();
    send(&queue, json!({ "do": "wait_for_file", "path": file }));
    send(&queue, json!({}));
    let function = Function::new(function_config().concurrency(1)).unwrap();

    let config = MappingConfig::new().concurrency(2).batch_size(1).throttle_wait(Duration::from_millis(5));
    let mapping = EventSourceMapping::start(&queue, function.clone(), config).unwrap();
    until(|| mapping.counts().throttled > 2).await;
    assert_eq!(queue.messages().iter().map(|message| message.receive_count).collect::<Vec<_>>(), [1, 1]);
    std::fs::write(&file, "").unwrap();

    let counts = batches(&mapping, 2).await;
    assert_eq!((counts.invocations, counts.deleted, counts.returned), (2, 2, 0));
    assert!(queue.is_empty() && dead.is_empty());
    std::fs::remove_file(file).unwrap();
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn a_fifo_group_stays_in_order_through_a_failure_while_other_groups_go_on() {
    let (sqs, queue, _dead) = queue(".fifo").await;
    let send = |group: &str, id: &str, body: Value| {
        let message = Message::new(body.to_string()).group(group).deduplication_id(id);
        queue.send(message).unwrap().id
    };
    let a1 = send("a", "a1", json!({ "do": "report", "times": 1 }));
    let a2 = send("a", "a2", json!({}));
    let b1 = send("b", "b1", json!({}));
    let a3 = send("a", "a3", json!({}));
    let function = function();

    let config = MappingConfig::new().concurrency(4).batch_size(1);
    let mapping = EventSourceMapping::start(&queue, function.clone(), config).unwrap();
    batches(&mapping, 2).await;
    let mut first = seen(&function, 2).await;
    first.sort();
    let mut expected = vec![a1.clone(), b1];
    expected.sort();
    assert_eq!((first, queue.counts().in_flight, queue.counts().visible), (expected, 1, 2));

    sqs.advance(TIMEOUT);
    batches(&mapping, 5).await;
    assert_eq!(seen(&function, 5).await[2..], [a1, a2, a3]);
    assert!(queue.is_empty());
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn stopping_waits_for_the_batch_that_runs_and_receives_nothing_more() {
    let (_sqs, queue, _dead) = queue("").await;
    let file = missing_file();
    send(&queue, json!({ "do": "wait_for_file", "path": file }));
    let function = function();
    let mapping = EventSourceMapping::start(&queue, function.clone(), one_poller()).unwrap();
    seen(&function, 1).await;

    let stopping = tokio::spawn(mapping.stop());
    tokio::task::yield_now().await;
    send(&queue, json!({}));
    assert!(!stopping.is_finished());
    std::fs::write(&file, "").unwrap();

    let counts = stopping.await.unwrap();
    assert_eq!((counts.batches, counts.deleted), (1, 1));
    assert_eq!((queue.counts().visible, queue.counts().in_flight), (1, 0));
    std::fs::remove_file(file).unwrap();
    function.shutdown().await;
}

#[tokio::test]
async fn a_batching_window_gathers_a_full_batch() {
    let (_sqs, queue, _dead) = queue("").await;
    let function = function();
    // The batch is full long before the window ends.
    let config = one_poller().batch_size(3).batching_window(Duration::from_secs(300));
    let mapping = EventSourceMapping::start(&queue, function.clone(), config).unwrap();

    for n in 0..3 {
        send(&queue, json!({ "n": n }));
        until(|| queue.counts().visible == 0).await;
    }

    let counts = batches(&mapping, 1).await;
    assert_eq!((counts.batches, counts.deleted), (1, 3));
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn a_queue_that_delivers_twice_invokes_twice() {
    let sqs = Sqs::start().await.unwrap();
    let config = QueueConfig::new("q").visibility_timeout(TIMEOUT).duplicate_every(1.try_into().unwrap());
    let queue = sqs.create_queue(config).unwrap();
    let id = send(&queue, json!({}));
    let function = function();

    let mapping = EventSourceMapping::start(&queue, function.clone(), MappingConfig::new()).unwrap();

    assert_eq!(batches(&mapping, 2).await.deleted, 2);
    assert_eq!(seen(&function, 2).await, [id.clone(), id]);
    assert!(queue.is_empty());
    mapping.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn settings_that_lambda_refuses_are_refused() {
    let (sqs, queue, _dead) = queue("").await;
    let short = sqs.create_queue(QueueConfig::new("short").visibility_timeout(Duration::from_secs(1))).unwrap();
    let function = function();
    let start = |queue: &Queue, config| EventSourceMapping::start(queue, function.clone(), config);

    let error = start(&short, MappingConfig::new()).unwrap_err();
    let expected =
        MappingError::ShortVisibility { visibility_timeout: Duration::from_secs(1), function_timeout: TIMEOUT };
    assert_eq!(error, expected);
    start(&short, MappingConfig::new().allow_short_visibility()).unwrap();
    let error = start(&queue, MappingConfig::new().batch_size(11)).unwrap_err();
    assert_eq!(error, MappingError::BatchSize { size: 11, limit: 10 });
    start(&queue, MappingConfig::new().batch_size(11).batching_window(Duration::from_secs(1))).unwrap();
}
