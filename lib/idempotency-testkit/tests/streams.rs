//! Goal: a function gets what happens in a table as Lambda's event source mapping of its stream gives it: in order, filtered, again from
//! where it failed, and given up where that is asked for. Method: a real function binary does what the items say.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use aws_lambda_events::dynamodb::Event;
use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table};
use idempotency_testkit::eventually;
use idempotency_testkit::lambda::{Function, FunctionConfig, Logs};
use idempotency_testkit::sqs::{QueueConfig, Sqs};
use idempotency_testkit::streams::{StreamConfig, StreamCounts, StreamError, StreamMapping};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

struct World {
    dynamodb: EmbeddedDynamoDb,
    function: Function,
}

impl World {
    async fn start() -> Self {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        create_idempotency_table(&dynamodb.client(), "records").await.unwrap();
        let config = FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function"));
        Self { dynamodb, function: Function::new(config.logs(Logs::Captured).timeout(PATIENCE)).unwrap() }
    }

    async fn put(&self, sk: &str, body: Value) {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let put = self.dynamodb.client().put_item().table_name("records").item("pk", text("p")).item("sk", text(sk));
        put.item("body", text(&body.to_string())).send().await.unwrap();
    }

    async fn map(&self, config: StreamConfig) -> StreamMapping {
        let config = config.retry_wait(Duration::from_millis(5));
        StreamMapping::start(self.dynamodb.endpoint_url(), "records", self.function.clone(), config).await.unwrap()
    }

    /// What the function printed after this word, once there are so many lines of it.
    async fn printed(&self, word: &str, count: usize) -> Vec<String> {
        let lines = || {
            let logs = self.function.logs();
            let lines = logs.iter().filter_map(|line| line.text.strip_prefix(word)?.strip_prefix(' '));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        eventually(PATIENCE, async || (lines().len() >= count).then_some(())).await.unwrap();
        lines()
    }

    async fn stop(self) {
        self.function.shutdown().await;
        self.dynamodb.stop().await;
    }
}

async fn until(mapping: &StreamMapping, what: impl Fn(&StreamCounts) -> bool) -> StreamCounts {
    eventually(PATIENCE, async || Some(mapping.counts()).filter(|counts| what(counts))).await.unwrap()
}

#[tokio::test]
async fn what_happened_before_and_after_the_start_arrives_in_order_as_dynamodb_events() {
    let world = World::start().await;
    world.put("1", json!({ "do": "show" })).await;
    world.put("2", json!({})).await;
    let mapping = world.map(StreamConfig::new()).await;
    until(&mapping, |counts| counts.done == 2).await;
    world.put("1", json!({})).await;
    let counts = until(&mapping, |counts| counts.done == 3).await;

    assert_eq!((counts.invocations, counts.failed, counts.passed_over, counts.given_up), (2, 0, 0, 0));
    assert_eq!(world.printed("record", 3).await, [r#"1 "INSERT""#, r#"2 "INSERT""#, r#"1 "MODIFY""#]);
    let event = &world.printed("event", 1).await[0];
    let parsed: Event = serde_json::from_str(event).unwrap();
    let record = &parsed.records[0];
    assert_eq!(record.event_source.as_deref(), Some("aws:dynamodb"));
    assert!(record.event_source_arn.as_deref().unwrap().contains(":table/records/stream/"), "{event}");
    assert!(!record.change.new_image.is_empty() && record.change.old_image.is_empty());
    assert!(record.change.sequence_number.as_deref() < parsed.records[1].change.sequence_number.as_deref());
    mapping.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn records_that_no_filter_fits_are_passed_over_without_an_invocation() {
    let world = World::start().await;
    for sk in ["claim", "outbox#1", "result#1", "outbox#2", "outbox#1"] {
        world.put(sk, json!({})).await;
    }
    let filter =
        json!({ "eventName": ["INSERT"], "dynamodb": { "Keys": { "sk": { "S": [{ "prefix": "outbox#" }] } } } });
    let mapping = world.map(StreamConfig::new().filter(filter)).await;
    let counts = until(&mapping, |counts| counts.done + counts.passed_over == 5).await;
    assert_eq!((counts.done, counts.passed_over, counts.invocations), (2, 3, 1));
    assert_eq!(world.printed("record", 2).await, [r#"outbox#1 "INSERT""#, r#"outbox#2 "INSERT""#]);
    mapping.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn a_batch_goes_on_from_the_record_that_was_reported() {
    let world = World::start().await;
    let file = std::env::temp_dir().join(format!("streams-{}", uuid::Uuid::new_v4()));
    world.put("1", json!({})).await;
    world.put("2", json!({ "do": "report_once", "path": file })).await;
    world.put("3", json!({})).await;
    let mapping = world.map(StreamConfig::new().maximum_retry_attempts(1)).await;
    let counts = until(&mapping, |counts| counts.done == 3).await;
    assert_eq!((counts.invocations, counts.failed, counts.given_up), (2, 1, 0));
    assert_eq!(world.printed("batch", 2).await, ["of 3", "of 2"]);
    std::fs::remove_file(file).unwrap();
    mapping.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn what_fails_to_the_end_is_given_up_and_told_and_the_shard_goes_on() {
    for failing in [
        json!({ "do": "report" }),
        json!({ "do": "fail" }),
        json!({ "do": "exit" }),
        json!({ "do": "answer", "answer": { "batchItemFailures": [{ "itemIdentifier": "" }] } }),
    ] {
        let world = World::start().await;
        let queue = Sqs::start().await.unwrap().create_queue(QueueConfig::new("failed")).unwrap();
        world.put("1", failing.clone()).await;
        world.put("2", json!({})).await;
        let config = StreamConfig::new().batch_size(1).maximum_retry_attempts(2).on_failure(queue.clone());
        let mapping = world.map(config).await;
        let counts = until(&mapping, |counts| counts.done == 1).await;

        assert_eq!((counts.invocations, counts.failed, counts.given_up), (4, 3, 1), "{failing}");
        let told = queue.messages();
        assert_eq!(told.len(), 1);
        let told: Value = serde_json::from_str(&told[0].body).unwrap();
        assert_eq!(told["requestContext"]["condition"], "RetryAttemptsExhausted");
        assert_eq!(told["requestContext"]["approximateInvokeCount"], 3);
        let info = &told["DDBStreamBatchInfo"];
        assert_eq!((&info["batchSize"], &info["startSequenceNumber"]), (&json!(1), &info["endSequenceNumber"]));
        assert!(!info["startSequenceNumber"].as_str().unwrap().is_empty());
        mapping.stop().await;
        world.stop().await;
    }
}

#[tokio::test]
async fn halving_leaves_the_bad_record_alone_and_the_others_are_done_in_order() {
    let world = World::start().await;
    for sk in ["1", "2", "3", "4"] {
        world.put(sk, if sk == "3" { json!({ "do": "fail" }) } else { json!({}) }).await;
    }
    let config = StreamConfig::new().maximum_retry_attempts(1).bisect_batch_on_function_error(true);
    let mapping = world.map(config).await;
    let counts = until(&mapping, |counts| counts.done == 3).await;
    // All; the first half; the second half; its first record, and again; its second record.
    assert_eq!((counts.invocations, counts.given_up), (6, 1));
    assert_eq!(world.printed("batch", 6).await, ["of 4", "of 2", "of 2", "of 1", "of 1", "of 1"]);
    mapping.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn without_reporting_the_answer_does_not_matter() {
    let world = World::start().await;
    world.put("1", json!({ "do": "report" })).await;
    let mapping = world.map(StreamConfig::new().report_batch_item_failures(false)).await;
    assert_eq!(until(&mapping, |counts| counts.done == 1).await.failed, 0);
    mapping.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn stopping_ends_retries_that_would_go_on_for_ever() {
    let world = World::start().await;
    world.put("1", json!({ "do": "fail" })).await;
    let mapping = world.map(StreamConfig::new()).await;
    until(&mapping, |counts| counts.failed > 2).await;
    let counts = mapping.stop().await;
    assert_eq!((counts.done, counts.given_up, counts.failed), (0, 0, counts.invocations));
    world.stop().await;
}

#[tokio::test]
async fn a_table_without_a_stream_and_settings_that_mean_nothing_are_refused() {
    let world = World::start().await;
    create_table(&world.dynamodb.client(), "plain", "id", None).await.unwrap();
    let start = async |url: &str, table: &str, config| {
        StreamMapping::start(url, table, world.function.clone(), config).await.map(drop).unwrap_err()
    };
    let url = world.dynamodb.endpoint_url();
    let error = start(url, "plain", StreamConfig::new()).await;
    assert_eq!(error, StreamError::NoStream { table: "plain".into() });
    let error = start(url, "missing", StreamConfig::new()).await;
    assert!(matches!(error, StreamError::Engine { operation: "DescribeTable", .. }), "{error:?}");
    let error = start(url, "records", StreamConfig::new().batch_size(0)).await;
    assert_eq!(error, StreamError::BatchSize { size: 0, limit: 10_000 });
    let error = start(url, "records", StreamConfig::new().filter(json!({ "eventName": "INSERT" }))).await;
    assert!(matches!(error, StreamError::Filter { .. }), "{error:?}");
    let error = start("localhost", "records", StreamConfig::new()).await;
    assert!(matches!(error, StreamError::Endpoint { .. }), "{error:?}");
    world.stop().await;
}

#[tokio::test]
async fn a_table_of_an_earlier_version_gets_its_stream() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    create_table(&dynamodb.client(), "records", "pk", Some("sk")).await.unwrap();
    for _ in 0..2 {
        create_idempotency_table(&dynamodb.client(), "records").await.unwrap();
        let table = dynamodb.client().describe_table().table_name("records").send().await.unwrap().table.unwrap();
        assert_eq!(table.stream_specification().unwrap().stream_view_type().unwrap().as_str(), "NEW_IMAGE");
    }
    dynamodb.stop().await;
}
