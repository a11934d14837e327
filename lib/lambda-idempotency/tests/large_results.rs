//! Goal: a response of any size that Lambda allows is replayed byte for byte, and one that cannot be stored does not lose its
//! record.
//!
//! Method: a handler over the DynamoDB store, the embedded engine behind the fault proxy.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use idempotency_testkit::{
    FaultyTable,
    fault_proxy::{Fault, Rule},
};
use lambda_http::{Body, Error, Request, Response, http};
use lambda_idempotency::{
    DynamoDbStore, Idempotency, Namespace,
    http::{Classify, Failure, Reply},
    idempotent,
};

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[idempotent(operation = "render", version = 1, scope = none)]
async fn render(size: &usize) -> Result<Response<Body>, Error> {
    Ok(Response::builder().status(201).header("content-type", "image/png").body(Body::from(noise(*size)))?)
}

struct World {
    table: FaultyTable,
    idempotency: Idempotency,
}

impl World {
    async fn start() -> Self {
        let table = FaultyTable::start().await.unwrap();
        let store = DynamoDbStore::new(table.client(), FaultyTable::NAME);
        let idempotency = Idempotency::new(store, Namespace::new("test").unwrap());
        Self { table, idempotency }
    }

    async fn send(&self, size: usize) -> Reply {
        let request: Request =
            http::Request::post("/images").header("idempotency-key", "k-1").body(Body::Empty).unwrap();
        render(&self.idempotency, &size, request).await.unwrap()
    }
}

#[tokio::test]
async fn large_binary_bodies_are_replayed_byte_for_byte() {
    for size in [31_000, 33_000, 400_000, 4_400_000] {
        let world = World::start().await;
        let (first, replayed) = (world.send(size).await, world.send(size).await);
        assert_eq!((first.status().as_u16(), replayed.status().as_u16()), (201, 201));
        assert!(matches!(first.body(), Body::Binary(bytes) if *bytes == noise(size)), "{size}");
        assert_eq!(replayed.headers()["idempotent-replayed"], "true");
        assert!(first.body() == replayed.body(), "{size}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_stored_is_delivered_once_and_its_replay_says_so() {
    let world = World::start().await;
    let is_part = Rule::on("PutItem").when(|request| request.body["Item"].get("part").is_some());
    world.table.proxy().inject(is_part.forever().fault(Fault::ErrorBefore));
    let first = world.send(100_000).await;
    assert_eq!(first.body().len(), 100_000, "the first caller gets it");
    let replayed = world.send(100_000).await;
    assert_eq!(
        (replayed.status(), &replayed.headers()["content-type"]),
        (first.status(), &first.headers()["content-type"])
    );
    assert_eq!(replayed.headers()["idempotent-body-omitted"], "true");
    assert!(replayed.body().is_empty());
}

/// More headers than a record may hold, in text that does not compress to less.
#[idempotent(operation = "verbose", version = 1, scope = none)]
async fn verbose() -> Result<Response<Body>, Error> {
    let text: String = noise(80_000).iter().map(|byte| char::from(b'0' + byte % 64)).collect();
    Ok(Response::builder().status(201).header("x-verbose", text).body(Body::from("done"))?)
}

#[tokio::test]
async fn a_response_of_which_not_even_the_head_can_be_stored_is_not_carried_out_again() {
    let world = World::start().await;
    let is_part = Rule::on("PutItem").when(|request| request.body["Item"].get("part").is_some());
    world.table.proxy().inject(is_part.forever().fault(Fault::ErrorBefore));
    let send = async || {
        let request = http::Request::post("/verbose").header("idempotency-key", "k-1").body(Body::Empty).unwrap();
        verbose(&world.idempotency, request).await.unwrap()
    };
    let (first, replayed) = (send().await, send().await);
    assert_eq!((first.status().as_u16(), first.body()), (201, &Body::from("done")));
    assert_eq!((replayed.status().as_u16(), replayed.body()), (204, &Body::Empty));
    for header in ["idempotent-replayed", "idempotent-body-omitted"] {
        assert_eq!(replayed.headers()[header], "true");
    }
}

/// It has failed for good, and says so with a head that is as large.
struct Refused;

impl Classify for Refused {
    fn classify(self) -> Failure {
        let text: String = noise(80_000).iter().map(|byte| char::from(b'0' + byte % 64)).collect();
        let response = Response::builder().status(402).header("x-verbose", text).body(Body::from("no"));
        Failure::Permanent(Box::new(response.unwrap()))
    }
}

#[idempotent(operation = "refuse", version = 1, scope = none)]
async fn refuse() -> Result<Response<Body>, Refused> {
    Err(Refused)
}

#[tokio::test]
async fn a_failure_of_which_nothing_can_be_stored_or_read_stays_a_failure() {
    let world = World::start().await;
    let send = async |key: &str| {
        let request = http::Request::post("/refuse").header("idempotency-key", key).body(Body::Empty).unwrap();
        refuse(&world.idempotency, request).await.unwrap()
    };
    assert_eq!(send("in-parts").await.status(), 402);
    let delete = world.table.client().delete_item().table_name(FaultyTable::NAME);
    let parts = world.table.client().scan().table_name(FaultyTable::NAME).send().await.unwrap().items.unwrap();
    for item in parts.iter().filter(|item| item.contains_key("part")) {
        delete.clone().key("pk", item["pk"].clone()).key("sk", item["sk"].clone()).send().await.unwrap();
    }
    let is_part = Rule::on("PutItem").when(|request| request.body["Item"].get("part").is_some());
    world.table.proxy().inject(is_part.forever().fault(Fault::ErrorBefore));
    assert_eq!(send("not-even-the-head").await.status(), 402, "the first caller gets it");
    for key in ["in-parts", "not-even-the-head"] {
        let replayed = send(key).await;
        let problem: serde_json::Value = serde_json::from_slice(replayed.body()).unwrap();
        assert!(replayed.status() == 500 && replayed.headers()["idempotent-replayed"] == "true", "{key}");
        assert_eq!(problem["type"], "urn:problem-type:idempotency:failure-unreadable", "{key}");
    }
}
