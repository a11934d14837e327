//! Goal: a duplicate of a request that is being carried out gets what the operation chose, and a lost attempt becomes what the
//! outside world says.
//!
//! Method: handlers over the memory store that wait for the test, and a clock of the test's own.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use idempotency_core::{Clock, Engine, EpochMillis, MemoryStore, Status};
use lambda_http::{
    Body, Error, Request,
    http::{self, StatusCode},
};
use lambda_idempotency::{
    Attempt, Idempotency, Mode, Namespace, OnAbandoned,
    http::{Classify, Failure, InFlight, Json, Probed, Reply},
    idempotent,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// How often a handler ran, and when it may return.
struct Work {
    runs: AtomicU32,
    may_return: Semaphore,
}

impl Work {
    fn free() -> Self {
        Self { runs: AtomicU32::new(0), may_return: Semaphore::new(100) }
    }

    fn held() -> Self {
        Self { may_return: Semaphore::new(0), ..Self::free() }
    }

    async fn run(&self) -> u32 {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        self.may_return.acquire().await.unwrap().forget();
        run
    }

    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

fn idempotency() -> (Idempotency<MemoryStore>, TestClock) {
    let clock = TestClock(Arc::new(AtomicI64::new(1_700_000_000_000)));
    let engine = Engine::new(MemoryStore::default()).with_clock(clock.clone());
    (Idempotency::with_engine(engine, Namespace::new("test").unwrap()), clock)
}

/// Past the lease of a handler without a Lambda context: the longest run and the margin.
fn end_the_lease(clock: &TestClock) {
    clock.0.fetch_add(16 * 60 * 1000, Ordering::SeqCst);
}

fn post(key: &str, body: &str) -> Request {
    let request = http::Request::post("/v1/orders").header("idempotency-key", key).header("x-tenant-id", "tenant-7");
    request.body(Body::from(body)).unwrap()
}

fn get(path: &str, tenant: &str) -> Request {
    http::Request::get(path).header("x-tenant-id", tenant).body(Body::Empty).unwrap()
}

fn json(reply: &Reply) -> Value {
    serde_json::from_slice(reply.body().as_ref()).unwrap()
}

fn problem(reply: &Reply) -> String {
    json(reply)["type"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned()
}

fn is_replay(reply: &Reply) -> bool {
    reply.headers().contains_key("idempotent-replayed")
}

/// Runs `first` until its handler waits, then does `meanwhile`, then lets the handler return.
async fn meanwhile<T>(
    work: &Work,
    first: impl Future<Output = Result<Reply, Error>>,
    meanwhile: impl Future<Output = T>,
) -> (Reply, T) {
    let meanwhile = async {
        while work.runs() == 0 {
            tokio::task::yield_now().await;
        }
        let result = meanwhile.await;
        work.may_return.add_permits(100);
        result
    };
    let (first, result) = tokio::join!(first, meanwhile);
    (first.unwrap(), result)
}

#[idempotent(operation = "accepted", version = 1, scope = header("x-tenant-id"), in_flight = accepted)]
async fn accepted(work: &Work, Json(order): Json<Value>, attempt: Attempt) -> Result<(StatusCode, Value), Error> {
    let _ = attempt;
    Ok((StatusCode::CREATED, json!({ "run": work.run().await, "order": order })))
}

/// Follows a relative reference from the request's URI, as a client does (RFC 3986 section 5.2).
fn resolve(location: &str) -> String {
    format!("/v1/{}", location.strip_prefix("./").unwrap())
}

#[tokio::test]
async fn a_duplicate_is_told_where_to_ask_and_finds_the_result_there() {
    let (idempotency, _) = idempotency();
    let work = Work::held();
    let send = || accepted(&idempotency, &work, post("k/1", "{}"));
    let ask = async |path: &str, tenant: &str| accepted(&idempotency, &work, get(path, tenant)).await.unwrap();
    let (first, path) = meanwhile(&work, send(), async {
        let duplicate = send().await.unwrap();
        assert_eq!(duplicate.status(), 202);
        assert_eq!(json(&duplicate), json!({ "status": "in_flight" }));
        assert!(duplicate.headers().contains_key("retry-after"));
        let path = resolve(duplicate.headers()["location"].to_str().unwrap());
        let status = ask(&path, "tenant-7").await;
        assert_eq!((status.status().as_u16(), status.headers().contains_key("retry-after")), (202, true));
        path
    })
    .await;
    assert_eq!(path.split('/').collect::<Vec<_>>()[..4], ["", "v1", "orders", "idempotency"]);
    let status = ask(&path, "tenant-7").await;
    assert_eq!((first.status(), is_replay(&status), status.status()), (StatusCode::CREATED, true, StatusCode::CREATED));
    assert_eq!(status.body(), first.body());
    // Another tenant, another operation, another key.
    for (path, tenant) in [(path.as_str(), "tenant-8"), ("/v1/orders/idempotency/accepted/k-2", "tenant-7")] {
        let nothing = ask(path, tenant).await;
        assert_eq!((nothing.status().as_u16(), problem(&nothing).as_str()), (404, "result-missing"));
    }
    let unscoped = http::Request::get(&path).body(Body::Empty).unwrap();
    assert_eq!(accepted(&idempotency, &work, unscoped).await.unwrap().status(), 400);
    assert_eq!(ask("/v1/orders/idempotency/other/k-2", "tenant-7").await.status(), 405);
    assert_eq!(work.runs(), 1);
}

#[tokio::test]
async fn a_status_resource_is_about_the_route_that_sent_the_caller_there() {
    let (idempotency, _) = idempotency();
    let free = Work::free();
    let send = |work, method: &'static str| {
        let request = http::Request::builder().method(method).uri("/v1/orders").header("idempotency-key", "k");
        let request = request.header("x-tenant-id", "tenant-7").body(Body::from("{}")).unwrap();
        accepted(&idempotency, work, request)
    };
    assert_eq!(send(&free, "POST").await.unwrap().status(), 201);
    let work = Work::held();
    let (_, status) = meanwhile(&work, send(&work, "PATCH"), async {
        let duplicate = send(&work, "PATCH").await.unwrap();
        let path = resolve(duplicate.headers()["location"].to_str().unwrap());
        accepted(&idempotency, &work, get(&path, "tenant-7")).await.unwrap()
    })
    .await;
    assert_eq!(status.status(), 202, "the POST with the same key is another operation");
    assert_eq!(status.headers()["cache-control"], "no-store");
}

#[tokio::test]
async fn a_status_resource_answers_head_too_and_leaves_other_resources_to_the_handler() {
    let (idempotency, _) = idempotency();
    let work = Work::free();
    accepted(&idempotency, &work, post("k-1", "{}")).await.unwrap();
    let ask = async |method: &str, path: &str| {
        let request = http::Request::builder().method(method).uri(path).header("x-tenant-id", "tenant-7");
        accepted(&idempotency, &work, request.body(Body::Empty).unwrap()).await.unwrap().status().as_u16()
    };
    assert_eq!(ask("HEAD", "/v1/orders/idempotency/accepted/k-1").await, 201);
    // The handler's own answer to a method that it does not serve.
    for path in ["/v1/orders/idempotency/accepted/", "/v1/orders/idempotency/accepted/~%25", "/v1/orders"] {
        assert_eq!(ask("GET", path).await, 405, "{path}");
    }
}

#[tokio::test]
async fn a_status_resource_writes_nothing() {
    let (idempotency, _) = idempotency();
    let work = Work::free();
    accepted(&idempotency, &work, post("k-1", "{}")).await.unwrap();
    let before = idempotency.engine().store().records();
    for path in ["/v1/orders/idempotency/accepted/k-1", "/v1/orders/idempotency/accepted/k-2"] {
        accepted(&idempotency, &work, get(path, "tenant-7")).await.unwrap();
    }
    assert_eq!(idempotency.engine().store().records(), before);
}

#[idempotent(operation = "waits", version = 1, scope = none, in_flight = wait(Duration::from_secs(5)))]
async fn waits(work: &Work, attempt: Attempt) -> Result<String, Error> {
    let _ = attempt;
    Ok(format!("run {}", work.run().await))
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_waits_for_the_result() {
    let (idempotency, _) = idempotency();
    let work = Work::held();
    let send = || waits(&idempotency, &work, post("k-1", ""));
    let duplicate = async {
        while work.runs() == 0 {
            tokio::task::yield_now().await;
        }
        send().await.unwrap()
    };
    let release = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        work.may_return.add_permits(1);
    };
    let (first, duplicate, ()) = tokio::join!(send(), duplicate, release);
    let first = first.unwrap();
    assert_eq!((first.body(), is_replay(&first)), (&Body::from("run 1"), false));
    assert_eq!((duplicate.body(), is_replay(&duplicate)), (&Body::from("run 1"), true));
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_that_has_waited_long_enough_gets_409() {
    let (idempotency, _) = idempotency();
    let work = Work::held();
    let send = || waits(&idempotency, &work, post("k-1", ""));
    let (_, duplicate) = meanwhile(&work, send(), send()).await;
    let duplicate = duplicate.unwrap();
    assert_eq!((duplicate.status().as_u16(), problem(&duplicate).as_str()), (409, "conflict"));
    assert_eq!(work.runs(), 1);
}

#[tokio::test]
async fn shadow_mode_gives_a_superseded_attempt_its_own_response() {
    let (idempotency, clock) = idempotency();
    let idempotency = idempotency.with_mode(Mode::Shadow);
    let (held, free) = (Work::held(), Work::free());
    let (first, second) = meanwhile(&held, accepted(&idempotency, &held, post("k-1", "{}")), async {
        end_the_lease(&clock);
        accepted(&idempotency, &free, post("k-1", "{}")).await.unwrap()
    })
    .await;
    for reply in [first, second] {
        assert_eq!((reply.status().as_u16(), is_replay(&reply)), (201, false));
    }
    assert_eq!((held.runs(), free.runs()), (1, 1));
}

/// What the outside world knows.
enum World {
    Happened,
    DidNotHappen,
    NobodyKnows,
    DoesNotAnswer,
}

enum Lost {}

impl Classify for Lost {
    fn classify(self) -> Failure {
        match self {}
    }
}

#[idempotent(operation = "probed", version = 1, scope = none, on_abandoned = probe(|attempt, request| ask(world, attempt, request)))]
async fn probed(work: &Work, world: &World, Json(order): Json<Value>) -> Result<String, Lost> {
    Ok(format!("run {} of {order}", work.run().await))
}

async fn ask(world: &World, attempt: Attempt, request: Request) -> Result<Probed<(StatusCode, Value)>, Error> {
    assert_eq!((attempt.key().as_str(), attempt.number().get()), ("k-1", 2));
    assert_eq!(request.body(), &Body::from("7"));
    match world {
        World::Happened => Ok(Probed::Happened((StatusCode::CREATED, json!("found")))),
        World::DidNotHappen => Ok(Probed::DidNotHappen),
        World::NobodyKnows => Ok(Probed::Unknown),
        World::DoesNotAnswer => Err("no answer".into()),
    }
}

/// A world in which an attempt was lost.
async fn lost() -> (Idempotency<MemoryStore>, TestClock) {
    let (idempotency, clock) = idempotency();
    let held = Work::held();
    let attempt = probed(&idempotency, &held, &World::NobodyKnows, post("k-1", "7"));
    assert!(poll_once(attempt).await.is_none(), "it waits, and is dropped there");
    end_the_lease(&clock);
    (idempotency, clock)
}

async fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = tokio::task::yield_now() => None,
    }
}

#[tokio::test]
async fn a_lost_effect_that_happened_is_the_result() {
    let (idempotency, _) = lost().await;
    let work = Work::free();
    let found = probed(&idempotency, &work, &World::Happened, post("k-1", "7")).await.unwrap();
    assert_eq!((found.status().as_u16(), json(&found), is_replay(&found)), (201, json!("found"), false));
    let again = probed(&idempotency, &work, &World::DidNotHappen, post("k-1", "7")).await.unwrap();
    assert_eq!((again.status().as_u16(), json(&again), is_replay(&again)), (201, json!("found"), true));
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn a_lost_effect_that_did_not_happen_runs_again() {
    let (idempotency, _) = lost().await;
    let work = Work::free();
    let reply = probed(&idempotency, &work, &World::DidNotHappen, post("k-1", "7")).await.unwrap();
    assert_eq!(reply.body(), &Body::from("run 1 of 7"));
    assert!(is_replay(&probed(&idempotency, &work, &World::DoesNotAnswer, post("k-1", "7")).await.unwrap()));
}

#[tokio::test]
async fn what_nobody_can_say_is_uncertain_until_somebody_can() {
    let (idempotency, _) = lost().await;
    let work = Work::free();
    let before = idempotency.engine().store().records();
    for world in [World::NobodyKnows, World::DoesNotAnswer] {
        let reply = probed(&idempotency, &work, &world, post("k-1", "7")).await.unwrap();
        assert_eq!((reply.status().as_u16(), problem(&reply).as_str()), (500, "outcome-unknown"));
        assert!(json(&reply)["detail"].as_str().unwrap().contains("repeat the request"));
        assert!(reply.headers().contains_key("retry-after"));
        assert_eq!(idempotency.engine().store().records(), before, "nothing is written");
    }
    let found = probed(&idempotency, &work, &World::Happened, post("k-1", "7")).await.unwrap();
    assert_eq!((found.status().as_u16(), work.runs()), (201, 0));
}

/// The policy says `probe` and there is nobody to ask.
#[idempotent(operation = "unprobed", version = 1, scope = none, on_abandoned = OnAbandoned::Probe)]
async fn unprobed(work: &Work) -> Result<String, Error> {
    Ok(format!("run {}", work.run().await))
}

#[tokio::test]
async fn a_probe_policy_without_a_probe_never_runs_again() {
    let (idempotency, clock) = idempotency();
    let held = Work::held();
    assert!(poll_once(unprobed(&idempotency, &held, post("k-1", ""))).await.is_none());
    end_the_lease(&clock);
    let work = Work::free();
    let reply = unprobed(&idempotency, &work, post("k-1", "")).await.unwrap();
    assert_eq!((problem(&reply).as_str(), work.runs()), ("outcome-unknown", 0));
}

#[idempotent(operation = "retained", version = 1, scope = none, retain = [2xx, 4xx])]
async fn retained(work: &Work, Json(status): Json<u16>) -> Result<(StatusCode, String), Error> {
    Ok((StatusCode::from_u16(status)?, format!("run {}", work.run().await)))
}

#[tokio::test]
async fn a_status_that_is_not_retained_is_delivered_and_frees_the_key() {
    let (idempotency, _) = idempotency();
    let work = Work::free();
    let send = async |key, status: &str| retained(&idempotency, &work, post(key, status)).await.unwrap();
    for run in ["run 1", "run 2"] {
        let reply = send("k-1", "503").await;
        assert_eq!((reply.status().as_u16(), reply.body(), is_replay(&reply)), (503, &Body::from(run), false));
        assert_eq!(idempotency.engine().store().records()[0].status, Status::Released);
    }
    for (key, status) in [("k-2", "201"), ("k-3", "404")] {
        let first = send(key, status).await;
        let again = send(key, status).await;
        assert_eq!((again.body(), is_replay(&again)), (first.body(), true));
    }
    assert_eq!(work.runs(), 4);
}

#[test]
fn an_operation_keeps_every_choice_whatever_their_order() {
    use lambda_idempotency::{
        Operation, Window,
        http::{HttpOperation, scope},
    };
    let operation = || HttpOperation::new(Operation::declare("o", 1), scope::none());
    let wait = InFlight::Wait(Duration::from_secs(1));
    let (one, other) = (
        operation().in_flight(wait).on_abandoned(OnAbandoned::Reject).window(Window::http()),
        operation().window(Window::http()).on_abandoned(OnAbandoned::Reject).in_flight(wait),
    );
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}
