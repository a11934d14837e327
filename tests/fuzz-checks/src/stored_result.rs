//! A stored result: replayed as it was stored, or said to be unreadable; the handler never runs again because of it.

use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{Inserted, MemoryStore, Record, Status, Store, StoredResult};
use lambda_http::{Body, Error, Request, http};
use lambda_idempotency::{
    Attempt, Idempotency, Namespace, Operation,
    http::{HttpOperation, Reply, run, scope},
};
use serde_json::Value;

const WITHIN: Duration = Duration::from_secs(1);

/// Checks the replay of a record whose stored result is these bytes.
pub fn check(encoded: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut record = completed().await;
        record.result = Some(StoredResult::Inline(Bytes::copy_from_slice(encoded)));
        let reply = replay(&record).await;
        if reply.status() == 500 {
            let problem: Value = serde_json::from_slice(reply.body()).unwrap();
            if problem["type"] == "urn:problem-type:idempotency:result-unreadable" {
                return;
            }
        }
        assert_eq!(reply.headers()["idempotent-replayed"], "true");
        // What was stored without compression can be read here too.
        if let [0, stored @ ..] = encoded {
            check_plain(stored, &reply);
        }
    });
}

/// The first line says status, headers and kind of body; the body is the rest.
fn check_plain(stored: &[u8], reply: &Reply) {
    let end = stored.iter().position(|byte| *byte == b'\n').unwrap();
    let head: Value = serde_json::from_slice(&stored[..end]).unwrap();
    assert_eq!(head["v"], 1);
    assert_eq!(head["status"], reply.status().as_u16());
    for header in head["headers"].as_array().unwrap() {
        let (name, value) = (header[0].as_str().unwrap(), header[1].as_str().unwrap());
        let added = ["idempotent-replayed", "idempotent-body-omitted"].contains(&name.to_ascii_lowercase().as_str());
        let mut values = reply.headers().get_all(name).iter();
        assert!(added || values.any(|found| found == value), "{name}: {value}");
    }
    let body = match head["body"].as_str().unwrap() {
        "text" | "binary" => &stored[end + 1..],
        _ => &[],
    };
    assert_eq!(reply.body().as_ref(), body);
    assert_eq!(matches!(reply.body(), Body::Text(_)), head["body"] == "text");
}

/// A completed record, as a first request leaves it.
async fn completed() -> Record {
    let idempotency = idempotency(MemoryStore::default());
    let handler = async |_: Request, _: Attempt| Ok::<_, Error>("done");
    run(&idempotency, &operation(), request(), Ok, handler).await.unwrap();
    let record = idempotency.engine().store().records().remove(0);
    assert_eq!(record.status, Status::Completed);
    record
}

/// What the same request is answered when this record is stored.
async fn replay(record: &Record) -> Reply {
    let store = MemoryStore::default();
    assert!(matches!(store.insert_if_absent(record, WITHIN).await, Ok(Inserted::Inserted)));
    let idempotency = idempotency(store);
    let handler = async |_: Request, _: Attempt| -> Result<&str, Error> { panic!("the handler ran again") };
    let reply = run(&idempotency, &operation(), request(), Ok, handler).await.unwrap();
    assert_eq!(idempotency.engine().store().records(), std::slice::from_ref(record), "a replay wrote something");
    reply
}

fn idempotency(store: MemoryStore) -> Idempotency<MemoryStore> {
    Idempotency::new(store, Namespace::new("fuzz").unwrap())
}

fn operation() -> HttpOperation {
    HttpOperation::new(Operation::declare("fuzz", 1), scope::none())
}

fn request() -> Request {
    http::Request::post("/charges").header("idempotency-key", "k").body(Body::from("{}")).unwrap()
}
