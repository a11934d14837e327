//! Goal: what callers and the status resource say of an operation that failed while its steps are being undone, and when one of them cannot
//! be undone, stays the same however often they ask.
//!
//! Method: an HTTP handler and a function over the memory store, whose undo says what the test wants, and a clock of the test's own.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use idempotency_core::{Clock, Engine, EpochMillis, MemoryStore, Record, Status};
use lambda_http::{
    Body, Request, Response,
    http::{self, StatusCode},
};
use lambda_idempotency::{
    Attempt, Idempotency, Mode, Namespace, StepError, Undo, Undone,
    function::{self, BoxError, Failed},
    http::{Classify, Failure, Json, Reply},
    idempotent,
};
use serde_json::Value;

#[derive(Clone)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

/// What undoing comes to.
#[derive(Clone, Copy)]
enum Says {
    Done,
    Later,
    Never,
    /// The attempt is lost meanwhile.
    Hangs,
}

impl Says {
    async fn undo(self, undo: Undo) -> Result<Undone, BoxError> {
        assert_eq!(undo.step(), "charge");
        match self {
            Self::Done => Ok(Undone::Done),
            Self::Later => Ok(Undone::Later),
            Self::Never => Err("the provider has closed the account".into()),
            Self::Hangs => std::future::pending().await,
        }
    }
}

/// The carrier refuses, after the card was charged.
#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("the carrier does not serve this address")]
    NotServed,
    #[error(transparent)]
    Step(#[from] StepError),
}

impl Classify for OrderError {
    fn classify(self) -> Failure {
        match self {
            Self::NotServed => {
                let response = Response::builder().status(StatusCode::UNPROCESSABLE_ENTITY);
                Failure::Permanent(Box::new(response.body(Body::from("not served")).unwrap()))
            }
            Self::Step(error) => Failure::Abandoned(error.into()),
        }
    }
}

impl function::Classify for OrderError {
    fn classify(&self) -> function::Failure {
        match self {
            Self::NotServed => function::Failure::Permanent(Failed::new("not served")),
            Self::Step(_) => function::Failure::Abandoned,
        }
    }
}

async fn charged_and_refused(runs: &AtomicU32, attempt: &Attempt) -> Result<String, OrderError> {
    runs.fetch_add(1, Ordering::SeqCst);
    attempt.step_with_undo("charge", async |_| Ok::<_, OrderError>(1200)).await?;
    Err(OrderError::NotServed)
}

#[idempotent(operation = "place-order", version = 1, scope = header("x-tenant-id"), in_flight = accepted, undo = |undo| says.undo(undo))]
async fn place_order(runs: &AtomicU32, says: &Says, attempt: Attempt) -> Result<String, OrderError> {
    let _ = says;
    charged_and_refused(runs, &attempt).await
}

#[idempotent(operation = "book-seat", version = 1, scope = none, key = [seat], undo = |undo| says.undo(undo))]
async fn book_seat(
    seat: u32,
    #[shared] runs: &AtomicU32,
    #[shared] says: &Says,
    attempt: Attempt,
) -> Result<String, OrderError> {
    let _ = (seat, says);
    charged_and_refused(runs, &attempt).await
}

#[idempotent(operation = "buy", version = 1, scope = header("x-tenant-id"), undo = |undo| says.undo(undo))]
async fn buy(runs: &AtomicU32, says: &Says, Json(item): Json<String>, attempt: Attempt) -> Result<String, OrderError> {
    let _ = (item, says);
    charged_and_refused(runs, &attempt).await
}

/// The same in a later deployment, which takes other bodies.
#[idempotent(operation = "buy", version = 1, scope = header("x-tenant-id"), undo = |undo| says.undo(undo))]
async fn buy_by_number(
    runs: &AtomicU32,
    says: &Says,
    Json(item): Json<u32>,
    attempt: Attempt,
) -> Result<String, OrderError> {
    let _ = (item, says);
    charged_and_refused(runs, &attempt).await
}

#[idempotent(operation = "book-meal", version = 1, scope = none, key = [seat], undo = |undo| says.undo(undo))]
async fn book_meal(
    seat: u32,
    meal: String,
    #[shared] runs: &AtomicU32,
    #[shared] says: &Says,
    attempt: Attempt,
) -> Result<String, OrderError> {
    let _ = (seat, meal, says);
    charged_and_refused(runs, &attempt).await
}

/// The same in a later deployment, with an argument that has no JSON.
#[idempotent(operation = "book-meal", version = 1, scope = none, key = [seat], undo = |undo| says.undo(undo))]
async fn book_meals(
    seat: u32,
    meals: BTreeMap<(u8, u8), String>,
    #[shared] runs: &AtomicU32,
    #[shared] says: &Says,
    attempt: Attempt,
) -> Result<String, OrderError> {
    let _ = (seat, meals, says);
    charged_and_refused(runs, &attempt).await
}

struct World {
    idempotency: Idempotency<MemoryStore>,
    clock: TestClock,
    runs: AtomicU32,
}

impl World {
    fn new() -> Self {
        let clock = TestClock(Arc::new(AtomicI64::new(1_700_000_000_000)));
        let engine = Engine::new(MemoryStore::default()).with_clock(clock.clone());
        let idempotency = Idempotency::with_engine(engine, Namespace::new("test").unwrap());
        Self { idempotency, clock, runs: AtomicU32::new(0) }
    }

    /// Past the lease of a handler without a Lambda context: the longest run and the margin.
    fn end_the_lease(&self) {
        self.clock.0.fetch_add(16 * 60 * 1000, Ordering::SeqCst);
    }

    async fn send(&self, says: Says, request: Request) -> Reply {
        place_order(&self.idempotency, &self.runs, &says, request).await.unwrap()
    }

    async fn order(&self, says: Says) -> Reply {
        let request = http::Request::post("/v1/orders").header("idempotency-key", "k-1").header("x-tenant-id", "t");
        self.send(says, request.body(Body::Empty).unwrap()).await
    }

    /// The status resource of the order.
    async fn status(&self) -> Reply {
        let request = http::Request::get("/v1/orders/idempotency/place-order/k-1").header("x-tenant-id", "t");
        let before = self.records();
        // Should it ever undo anything, it would never come back.
        let asked = self.send(Says::Hangs, request.body(Body::Empty).unwrap());
        let reply = tokio::time::timeout(Duration::from_secs(1), asked).await.unwrap();
        assert_eq!(self.records(), before, "asking writes nothing");
        reply
    }

    async fn seat(&self, says: Says) -> function::Error<OrderError> {
        book_seat(&self.idempotency, 7, &self.runs, &says).await.unwrap_err()
    }

    fn records(&self) -> Vec<Record> {
        self.idempotency.engine().store().records()
    }

    fn record(&self) -> Record {
        self.records().pop().unwrap()
    }
}

/// Its status, and the problem that it tells.
fn told(reply: &Reply) -> (u16, String) {
    let body: Value = serde_json::from_slice(reply.body().as_ref()).unwrap();
    let kind = body["type"].as_str().unwrap_or_default();
    (reply.status().as_u16(), kind.rsplit(':').next().unwrap_or_default().to_owned())
}

fn is_same(one: &Reply, other: &Reply) {
    assert_eq!((one.status(), one.body()), (other.status(), other.body()));
}

async fn lost<T>(attempt: impl Future<Output = T>) {
    assert!(tokio::time::timeout(Duration::from_secs(1), attempt).await.is_err(), "it hangs, and is dropped there");
}

#[tokio::test]
async fn a_stuck_operation_answers_the_same_on_every_repetition_and_writes_nothing() {
    let world = World::new();
    let first = world.order(Says::Never).await;
    assert_eq!(told(&first), (500, "compensation-stuck".to_owned()));
    let stuck = world.record();
    assert_eq!(stuck.status, Status::Stuck);
    for _ in 0..3 {
        // Undoing would succeed now, and nobody asks for it.
        let again = world.order(Says::Done).await;
        is_same(&again, &first);
        assert_eq!(again.headers(), first.headers());
        world.end_the_lease();
    }
    assert_eq!((world.records(), world.runs.load(Ordering::SeqCst)), (vec![stuck], 1));
}

#[tokio::test]
async fn a_stuck_function_gives_the_same_error_on_every_repetition_and_writes_nothing() {
    let world = World::new();
    let first = world.seat(Says::Never).await;
    assert!(matches!(first, function::Error::Stuck));
    let stuck = world.record();
    assert_eq!(stuck.status, Status::Stuck);
    for _ in 0..3 {
        let again = world.seat(Says::Done).await;
        assert!(matches!(again, function::Error::Stuck) && again.retry_after().is_none(), "{again:?}");
        assert_eq!(again.to_string(), first.to_string());
        world.end_the_lease();
    }
    assert_eq!((world.records(), world.runs.load(Ordering::SeqCst)), (vec![stuck], 1));
}

#[tokio::test(start_paused = true)]
async fn while_an_order_is_being_undone_a_duplicate_and_the_status_resource_say_that_it_is_in_flight() {
    let world = World::new();
    lost(world.order(Says::Hangs)).await;
    assert_eq!(world.record().status, Status::Compensating);
    let status = world.status().await;
    assert_eq!((told(&status), status.headers().contains_key("retry-after")), ((202, String::new()), true));
    let duplicate = world.order(Says::Done).await;
    assert_eq!((told(&duplicate).0, duplicate.headers().contains_key("location")), (202, true));
    assert_eq!(world.record().status, Status::Compensating);

    // Its attempt is lost: nothing brings a result until somebody repeats the request.
    world.end_the_lease();
    assert_eq!(told(&world.status().await), (404, "result-missing".to_owned()));
    let failed = world.order(Says::Done).await;
    assert_eq!((failed.status().as_u16(), failed.body()), (422, &Body::from("not served")));
    is_same(&world.status().await, &failed);
    assert_eq!(world.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_order_that_is_undone_later_is_told_so_and_its_status_is_that_nobody_is_at_it() {
    let world = World::new();
    for _ in 0..2 {
        let undoing = world.order(Says::Later).await;
        assert_eq!(told(&undoing), (503, "undoing".to_owned()));
        assert_eq!(told(&world.status().await), (404, "result-missing".to_owned()));
    }
    assert!(matches!(world.seat(Says::Later).await, function::Error::Undoing));
}

#[tokio::test]
async fn the_status_resource_of_a_stuck_order_is_what_its_caller_is_told() {
    let world = World::new();
    let stuck = world.order(Says::Never).await;
    for _ in 0..2 {
        is_same(&world.status().await, &stuck);
        world.end_the_lease();
    }
}

fn purchase(tenant: &str, item: &str) -> Request {
    let request = http::Request::post("/purchases").header("idempotency-key", "k-1").header("x-tenant-id", tenant);
    request.body(Body::from(format!("{item:?}"))).unwrap()
}

#[tokio::test]
async fn a_request_that_is_another_one_or_unreadable_now_goes_on_undoing_and_is_told_nothing_of_it() {
    for (mode, is_read) in [(Mode::Enforce, true), (Mode::Enforce, false), (Mode::Shadow, true), (Mode::Shadow, false)]
    {
        let world = World::new();
        let first = async |says: Says| buy(&world.idempotency, &world.runs, &says, purchase("t", "tea")).await.unwrap();
        assert_eq!(told(&first(Says::Later).await), (503, "undoing".to_owned()));
        let left = world.record();
        assert_eq!(left.status, Status::Compensating);

        let idempotency = world.idempotency.clone().with_mode(mode);
        let changed = async |says: Says, tenant: &str| match is_read {
            true => buy(&idempotency, &world.runs, &says, purchase(tenant, "milk")).await.unwrap(),
            false => buy_by_number(&idempotency, &world.runs, &says, purchase(tenant, "tea")).await.unwrap(),
        };
        // Another tenant's key is another key. (What is claimed there fails, and has its own record.)
        if !is_read {
            changed(Says::Hangs, "another").await;
            assert_eq!(world.records(), std::slice::from_ref(&left));
        }
        let reply = changed(Says::Done, "t").await;
        assert_eq!(world.record().status, Status::Failed, "{mode}, {is_read}");
        assert_eq!(world.record().fingerprint, left.fingerprint);
        match (mode, is_read) {
            // The handler runs all the same, and fails as its first one did.
            (Mode::Shadow, true) => assert_eq!(world.runs.load(Ordering::SeqCst), 2),
            (_, true) => assert_eq!(told(&reply), (422, "mismatch".to_owned())),
            (_, false) => assert_eq!(reply.status(), 400),
        }
        let failed = first(Says::Hangs).await;
        assert_eq!((failed.status().as_u16(), failed.body()), (422, &Body::from("not served")));
    }
}

#[tokio::test]
async fn a_call_that_is_another_one_or_unwritable_now_goes_on_undoing_and_is_told_nothing_of_it() {
    for is_written in [true, false] {
        let world = World::new();
        let (idempotency, runs) = (&world.idempotency, &world.runs);
        let undoing = book_meal(idempotency, 7, "soup".into(), runs, &Says::Later).await.unwrap_err();
        assert!(matches!(undoing, function::Error::Undoing));
        let changed = match is_written {
            true => book_meal(idempotency, 7, "fish".into(), runs, &Says::Done).await.unwrap_err(),
            false => {
                let meals = BTreeMap::from([((1, 2), "soup".to_owned())]);
                book_meals(idempotency, 7, meals, runs, &Says::Done).await.unwrap_err()
            }
        };
        assert!(matches!(changed, function::Error::Mismatch | function::Error::Argument { .. }), "{changed:?}");
        assert_eq!(matches!(changed, function::Error::Mismatch), is_written);
        assert_eq!(world.record().status, Status::Failed, "{is_written}");
        let failed = book_meal(idempotency, 7, "soup".into(), runs, &Says::Hangs).await.unwrap_err();
        assert!(matches!(failed, function::Error::Failed(_)), "{failed:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}
