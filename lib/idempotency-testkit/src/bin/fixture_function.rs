//! A Lambda function for the tests of this crate: it does what its event says.

use std::path::Path;
use std::process;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    match std::env::var("FIXTURE_INIT").as_deref() {
        Ok("exit") => process::exit(7),
        Ok("hang") => tokio::time::sleep(Duration::from_secs(3600)).await,
        _ => {}
    }
    lambda_runtime::run(service_fn(handle)).await
}

async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let (event, context) = event.into_parts();
    let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
    if let Some(records) = event.get("Records").and_then(Value::as_array) {
        return batch(records, &context.request_id).await;
    }
    if let (Some(_), Some(id)) = (event.get("detail-type"), event.get("id").and_then(Value::as_str)) {
        println!("event {id} {}", context.request_id);
        return Ok(Value::Null);
    }
    // An HTTP event of the HTTP front has no `do`; its answer is the event, as a response body.
    match event.get("do").and_then(Value::as_str) {
        Some("echo") => Ok(event),
        Some("say") => {
            println!("request {}", context.request_id);
            match event.get("then").and_then(Value::as_str) {
                Some("fail") => Err("the handler says no".into()),
                Some("exit") => process::exit(3),
                Some("hang") => std::future::pending().await,
                _ => Ok(Value::Null),
            }
        }
        // The file is the memory of the first attempt, which another process may have made.
        Some("fail_once") => match std::fs::File::create_new(path(&event)) {
            Ok(_) => Err("the handler says no for once".into()),
            Err(_) => Ok(Value::Null),
        },
        Some("fail") => Err("the handler says no".into()),
        Some("panic") => deliberate_panic(),
        Some("exit") => {
            // More than one read of a pipe, so that some of it is still there when the process is not.
            (0..2000).for_each(|line| println!("last words {line}"));
            process::exit(3)
        }
        Some("abort") => process::abort(),
        Some("wait_for_file") => {
            println!("waiting");
            wait_for_file(&event).await;
            Ok(json!({ "pid": process::id() }))
        }
        Some("pid") => Ok(json!({ "pid": process::id() })),
        Some("large") => Ok(json!("x".repeat(usize::try_from(number("bytes"))?))),
        Some("print") => {
            println!("to stdout");
            eprintln!("to stderr");
            Ok(Value::Null)
        }
        Some("describe") => Ok(json!({
            "environment": std::env::vars().collect::<std::collections::BTreeMap<_, _>>(),
            "request_id": context.request_id,
            "deadline_ms": context.deadline,
            "arn": context.invoked_function_arn,
            "trace_id": context.xray_trace_id,
        })),
        _ => Ok(http_response(&event)),
    }
}

/// A batch of a queue: each message's body says what becomes of it. Standard output has a line per message.
async fn batch(records: &[Value], request_id: &str) -> Result<Value, Error> {
    let mut failures = Vec::new();
    if records.iter().any(|record| record.get("dynamodb").is_some()) {
        return stream_batch(records).await;
    }
    for record in records {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        println!("record {} of {request_id}", text("messageId"));
        let body: Value = serde_json::from_str(text("body")).unwrap_or_default();
        // As often as it says, the message is one that fails.
        let receives = record.pointer("/attributes/ApproximateReceiveCount").and_then(Value::as_str);
        let receives: u64 = receives.and_then(|count| count.parse().ok()).unwrap_or_default();
        if receives > body.get("times").and_then(Value::as_u64).unwrap_or(u64::MAX) {
            continue;
        }
        match body.get("do").and_then(Value::as_str) {
            Some("report") => failures.push(json!({ "itemIdentifier": text("messageId") })),
            Some("answer") => return Ok(body.get("answer").cloned().unwrap_or_default()),
            Some("fail") => return Err("the handler says no".into()),
            Some("exit") => process::exit(3),
            Some("wait_for_file") => wait_for_file(&body).await,
            _ => {}
        }
    }
    Ok(json!({ "batchItemFailures": failures }))
}

/// A batch of a stream: the attribute `body` of each item says what becomes of its record. Standard output has a line per record, and
/// one per batch.
async fn stream_batch(records: &[Value]) -> Result<Value, Error> {
    println!("batch of {}", records.len());
    let text = |record: &Value, at: &str| record.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    for record in records {
        let (sk, number) = (text(record, "/dynamodb/Keys/sk/S"), text(record, "/dynamodb/SequenceNumber"));
        println!("record {sk} {}", record.get("eventName").unwrap_or_default());
        let body: Value = serde_json::from_str(&text(record, "/dynamodb/NewImage/body/S")).unwrap_or_default();
        match body.get("do").and_then(Value::as_str) {
            Some("report") => return Ok(json!({ "batchItemFailures": [{ "itemIdentifier": number }] })),
            // The file is the memory of the first attempt.
            Some("report_once") if std::fs::File::create_new(path(&body)).is_ok() => {
                return Ok(json!({ "batchItemFailures": [{ "itemIdentifier": number }] }));
            }
            Some("answer") => return Ok(body.get("answer").cloned().unwrap_or_default()),
            Some("fail") => return Err("the handler says no".into()),
            Some("exit") => process::exit(3),
            Some("show") => println!("event {}", json!({ "Records": records })),
            Some("wait_for_file") => wait_for_file(&body).await,
            _ => {}
        }
    }
    Ok(Value::Null)
}

async fn wait_for_file(event: &Value) {
    while !path(event).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn path(event: &Value) -> &Path {
    Path::new(event.get("path").and_then(Value::as_str).unwrap_or_default())
}

/// The path decides what an HTTP request gets. The response has the fields of every kind of front; each reads its own.
fn http_response(event: &Value) -> Value {
    match event.get("rawPath").or_else(|| event.get("path")).and_then(Value::as_str) {
        Some("/json") => json!({ "hello": "world" }),
        Some("/binary") => json!({ "statusCode": 200, "body": "/wD+", "isBase64Encoded": true }),
        Some("/invalid") => json!({ "statusCode": 99 }),
        Some("/crash") => process::exit(3),
        Some("/large") => json!({ "statusCode": 200, "body": "x".repeat(1024 * 1024) }),
        _ => json!({
            "statusCode": 201,
            "headers": { "content-type": "application/json", "x-one": "1" },
            "multiValueHeaders": {
                "content-type": ["application/json"],
                "x-one": ["1"],
                "x-many": ["1", "2"],
                "set-cookie": ["a=1; Path=/", "b=2"],
            },
            "cookies": ["a=1; Path=/", "b=2"],
            "body": event.to_string(),
        }),
    }
}

#[expect(clippy::panic, reason = "this is what the test asks for")]
fn deliberate_panic() -> Result<Value, Error> {
    panic!("the handler panics")
}
