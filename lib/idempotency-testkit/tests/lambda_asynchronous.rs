//! Goal: an asynchronous event is tried, retried and given up as Lambda does it, always under one request id. Method: a real
//! function binary that says which requests it got; time jumps ahead where Lambda waits.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use idempotency_testkit::eventually;
use idempotency_testkit::lambda::{AsyncConfig, AsyncCounts, AsyncInvoker, Function, FunctionConfig, Logs};
use idempotency_testkit::sqs::{MessageAttribute, QueueConfig, Sqs};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
const MINUTE: Duration = Duration::from_secs(60);

fn config() -> FunctionConfig {
    FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function")).logs(Logs::Captured)
}

async fn until(invoker: &AsyncInvoker, what: impl Fn(AsyncCounts) -> bool) {
    eventually(PATIENCE, async || what(invoker.counts()).then_some(())).await.unwrap();
}

/// The request ids that the function got, in order.
async fn seen(function: &Function, count: usize) -> Vec<String> {
    let ids = || {
        let logs = function.logs();
        logs.iter().filter_map(|line| line.text.strip_prefix("request ")).map(str::to_owned).collect::<Vec<_>>()
    };
    // The output comes through a pipe, a little later than the answer.
    eventually(PATIENCE, async || (ids().len() >= count).then(ids)).await.unwrap()
}

#[tokio::test]
async fn a_success_drops_the_event() {
    let function = Function::new(config()).unwrap();
    let invoker = AsyncInvoker::new(function.clone(), AsyncConfig::new());

    let id = invoker.invoke(json!({ "do": "say" }).to_string()).unwrap();
    invoker.drained().await;

    let counts = invoker.counts();
    assert_eq!((counts.accepted, counts.attempts, counts.succeeded, counts.failed), (1, 1, 1, 0));
    assert_eq!(seen(&function, 1).await, [id]);
    function.shutdown().await;
}

#[tokio::test]
async fn failures_crashes_and_timeouts_are_retried_twice_under_the_same_request_id() {
    let sqs = Sqs::start().await.unwrap();
    for (what, message) in [
        ("fail", "the handler says no"),
        ("exit", "the process ended during the invocation: exit status 3"),
        ("hang", "the invocation timed out after 500ms"),
    ] {
        let dead = sqs.create_queue(QueueConfig::new(format!("dlq-{what}"))).unwrap();
        let records = sqs.create_queue(QueueConfig::new(format!("failed-{what}"))).unwrap();
        let function = Function::new(config().timeout(Duration::from_millis(500))).unwrap();
        let config = AsyncConfig::new().dead_letter(dead.clone()).on_failure(records.clone());
        let invoker = AsyncInvoker::new(function.clone(), config);
        let event = json!({ "do": "say", "then": what, "key": 1 }).to_string();

        let id = invoker.invoke(event.clone()).unwrap();
        for (attempts, wait) in [(1, MINUTE), (2, 2 * MINUTE)] {
            until(&invoker, |counts| counts.attempts == attempts).await;
            assert_eq!((invoker.counts().pending, dead.is_empty()), (1, true));
            invoker.advance(wait);
        }
        invoker.drained().await;

        let counts = invoker.counts();
        assert_eq!((counts.attempts, counts.failed, counts.undelivered), (3, 1, 0), "{what}");
        assert_eq!(seen(&function, 3).await, [id.clone(), id.clone(), id.clone()], "{what}");
        let letter = dead.messages().remove(0);
        assert_eq!((letter.body, &letter.attributes["RequestID"]), (event.clone(), &id.clone().into()));
        assert_eq!(letter.attributes["ErrorMessage"], message.into());
        assert_eq!(letter.attributes["ErrorCode"], MessageAttribute::number("200"));
        let record: Value = serde_json::from_str(&records.messages()[0].body).unwrap();
        let context = json!({
            "requestId": id,
            "functionArn": "arn:aws:lambda:us-east-1:123456789012:function:fixture:$LATEST",
            "condition": "RetriesExhausted",
            "approximateInvokeCount": 3,
        });
        assert_eq!(record["requestContext"], context);
        assert_eq!(record["requestPayload"].to_string(), event);
        assert_eq!(
            (&record["responseContext"]["statusCode"], &record["responsePayload"]["errorMessage"]),
            (&json!(200), &json!(message))
        );
        function.shutdown().await;
    }
}

#[tokio::test]
async fn a_retry_that_succeeds_ends_it() {
    let function = Function::new(config()).unwrap();
    let invoker = AsyncInvoker::new(function.clone(), AsyncConfig::new().retry_waits([Duration::ZERO; 2]));
    let marker = std::env::temp_dir().join(format!("async-{}", uuid::Uuid::new_v4()));

    invoker.invoke(json!({ "do": "fail_once", "path": marker }).to_string()).unwrap();
    invoker.drained().await;

    let counts = invoker.counts();
    assert_eq!((counts.attempts, counts.succeeded, counts.failed), (2, 1, 0));
    std::fs::remove_file(marker).unwrap();
    function.shutdown().await;
}

#[tokio::test]
async fn a_throttled_event_waits_for_a_sandbox_and_loses_no_attempt() {
    let function = Function::new(config().concurrency(1).timeout(PATIENCE)).unwrap();
    let millisecond = Duration::from_millis(1);
    let config = AsyncConfig::new().retry_waits([]).throttle_waits(millisecond, 5 * millisecond);
    let invoker = AsyncInvoker::new(function.clone(), config);
    let file = std::env::temp_dir().join(format!("async-{}", uuid::Uuid::new_v4()));

    invoker.invoke(json!({ "do": "wait_for_file", "path": file }).to_string()).unwrap();
    until(&invoker, |_| !function.sandboxes().is_empty()).await;
    invoker.invoke(json!({ "do": "pid" }).to_string()).unwrap();
    until(&invoker, |counts| counts.throttled > 3).await;
    std::fs::write(&file, "").unwrap();
    invoker.drained().await;

    let counts = invoker.counts();
    assert_eq!((counts.attempts, counts.succeeded, counts.failed), (2, 2, 0));
    std::fs::remove_file(file).unwrap();
    function.shutdown().await;
}

#[tokio::test]
async fn an_event_that_is_throttled_until_it_is_too_old_is_given_up() {
    let sqs = Sqs::start().await.unwrap();
    let dead = sqs.create_queue(QueueConfig::new("dlq")).unwrap();
    let records = sqs.create_queue(QueueConfig::new("failed")).unwrap();
    let function = Function::new(config().concurrency(0)).unwrap();
    let config = AsyncConfig::new().dead_letter(dead.clone()).on_failure(records.clone());
    let invoker = AsyncInvoker::new(function.clone(), config);

    invoker.invoke("{}").unwrap();
    until(&invoker, |counts| counts.throttled == 1).await;
    invoker.advance(6 * 60 * MINUTE);
    invoker.drained().await;

    let counts = invoker.counts();
    assert_eq!((counts.attempts, counts.throttled, counts.failed), (0, 2, 1));
    assert_eq!(dead.messages()[0].attributes["ErrorCode"], MessageAttribute::number("429"));
    let record: Value = serde_json::from_str(&records.messages()[0].body).unwrap();
    assert_eq!(record["requestContext"]["condition"], "EventAgeExceeded");
    assert_eq!(
        (record["requestContext"]["approximateInvokeCount"].as_u64(), record.get("responsePayload")),
        (Some(0), None)
    );
}

#[tokio::test]
async fn an_event_can_come_twice_and_too_large_ones_do_not_come_at_all() {
    let function = Function::new(config()).unwrap();
    let config = AsyncConfig::new().duplicate_every(2.try_into().unwrap());
    let invoker = AsyncInvoker::new(function.clone(), config);

    let ids = [(); 2].map(|()| invoker.invoke(json!({ "do": "say" }).to_string()).unwrap());
    assert_eq!(invoker.invoke(vec![b' '; 1_048_577]).unwrap_err().limit, 1_048_576);
    invoker.drained().await;

    let counts = invoker.counts();
    assert_eq!((counts.accepted, counts.attempts, counts.succeeded), (2, 3, 3));
    let seen = seen(&function, 3).await;
    let times = |id: &String| seen.iter().filter(|seen| *seen == id).count();
    assert_eq!((times(&ids[0]), times(&ids[1])), (1, 2));
    function.shutdown().await;
}
