//! Goal: the kill switch and shadow mode let everything run, say so, and lose nothing else of the contract.
//!
//! Method: handlers over the memory store and over one that never answers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use idempotency_core::{
    Committed, Effect, EpochSeconds, ExecutionId, Inserted, MemoryStore, OwnerToken, Record, RecordKey, Replaced, Row,
    RowInserted, Store, StoreError, Version, Write,
};
use lambda_http::{Body, Error, Request, http};
use lambda_idempotency::{
    Attempt, Idempotency, Mode, Namespace, StepError, TableWrite, Undo, Undone,
    http::{Classify, Failure, Json, Reply},
    idempotent,
};

/// How often the handler ran.
#[derive(Default)]
struct Runs(AtomicU32);

#[idempotent(operation = "create-order", version = 1, scope = header("x-tenant-id"))]
async fn create_order(runs: &Runs, Json(item): Json<String>, attempt: Attempt) -> Result<String, Error> {
    let run = runs.0.fetch_add(1, Ordering::SeqCst) + 1;
    Ok(format!("run {run} {item} {}", attempt.key().as_str()))
}

fn post(key: Option<&str>, body: &str) -> Request {
    let request = http::Request::post("/orders").header("x-tenant-id", "tenant-7");
    let request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
    request.body(Body::from(body)).unwrap()
}

fn handle<S: Store>(store: S, mode: Mode) -> Idempotency<S> {
    Idempotency::new(store, Namespace::new("test").unwrap()).with_mode(mode)
}

fn text(reply: &Reply) -> &str {
    str::from_utf8(reply.body().as_ref()).unwrap()
}

/// A table that is down.
struct Down;

impl Store for Down {
    async fn insert_if_absent(&self, _: &Record, _: Duration) -> Result<Inserted, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn replace(&self, _: Version, _: &Record, _: Duration) -> Result<Replaced, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn get(&self, _: &RecordKey, _: Duration) -> Result<Option<Record>, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn commit(&self, _: Option<&Write>, _: &[Effect], _: Duration) -> Result<Committed, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn insert_row(&self, _: &Row, _: Duration) -> Result<RowInserted, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn put_row(&self, _: &Row, _: Duration) -> Result<(), StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn rows(&self, _: &RecordKey, _: ExecutionId, _: Duration) -> Result<Vec<Row>, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn put_parts(
        &self,
        _: &RecordKey,
        _: OwnerToken,
        _: &[Bytes],
        _: EpochSeconds,
        _: Duration,
    ) -> Result<(), StoreError> {
        Err(StoreError::Unknown("down".into()))
    }

    async fn get_parts(
        &self,
        _: &RecordKey,
        _: OwnerToken,
        _: u32,
        _: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        Err(StoreError::Unknown("down".into()))
    }
}

#[tokio::test]
async fn off_runs_everything_without_the_store_and_still_refuses_requests_without_a_key() {
    let (idempotency, runs) = (handle(Down, Mode::Off), Runs::default());
    for run in ["run 1 a k-1", "run 2 a k-1"] {
        let reply = create_order(&idempotency, &runs, post(Some("k-1"), r#""a""#)).await.unwrap();
        assert_eq!(text(&reply), run);
    }
    assert_eq!(create_order(&idempotency, &runs, post(None, r#""a""#)).await.unwrap().status(), 400);
    assert_eq!(create_order(&idempotency, &runs, post(Some("k-1"), "7")).await.unwrap().status(), 400);
    assert_eq!(runs.0.load(Ordering::SeqCst), 2);
    let enforced = create_order(&handle(Down, Mode::Enforce), &runs, post(Some("k-1"), r#""a""#)).await.unwrap();
    assert_eq!((enforced.status().as_u16(), runs.0.load(Ordering::SeqCst)), (503, 2));
}

#[idempotent(operation = "accepted", version = 1, scope = none, in_flight = accepted)]
async fn accepted(attempt: Attempt) -> Result<String, Error> {
    Ok(attempt.key().as_str().to_owned())
}

#[tokio::test]
async fn off_does_not_use_the_table_for_a_status_resource_either() {
    let get = http::Request::get("/orders/idempotency/accepted/k-1").body(Body::Empty).unwrap();
    let status = accepted(&handle(Down, Mode::Off), get).await.unwrap();
    assert_eq!(status.status(), 404);
}

#[tokio::test]
async fn shadow_runs_everything_and_keeps_the_first_result() {
    let (idempotency, runs) = (handle(MemoryStore::default(), Mode::Shadow), Runs::default());
    let send = async |key, body: &str| create_order(&idempotency, &runs, post(key, body)).await.unwrap();
    assert_eq!(text(&send(Some("k-1"), r#""a""#).await), "run 1 a k-1");
    let before = idempotency.engine().store().records();
    assert_eq!(before.len(), 1);
    // A replay, a mismatch.
    assert_eq!(text(&send(Some("k-1"), r#""a""#).await), "run 2 a k-1");
    assert_eq!(text(&send(Some("k-1"), r#""b""#).await), "run 3 b k-1");
    assert_eq!(idempotency.engine().store().records(), before, "a duplicate writes nothing");
    // Switched on, the record that shadow mode wrote counts.
    let enforced = idempotency.clone().with_mode(Mode::Enforce);
    let replay = create_order(&enforced, &runs, post(Some("k-1"), r#""a""#)).await.unwrap();
    assert_eq!(text(&replay), "run 1 a k-1");
    assert!(replay.headers().contains_key("idempotent-replayed"));
}

#[idempotent(operation = "travel", version = 1, scope = none)]
async fn travel(runs: &Runs, attempt: Attempt) -> Result<String, Error> {
    attempt.step("seat", async |_| Ok::<_, Error>(runs.0.fetch_add(1, Ordering::SeqCst))).await?;
    attempt.memo("words", &"text", async || Ok::<_, Error>(1)).await?;
    attempt.once("told", "trip-1", async |_| Ok::<_, Error>(())).await?;
    attempt.stage(TableWrite::put("trips", [("id", "trip-1")].into_iter().collect::<HashMap<_, _>>())?)?;
    Ok("booked".to_owned())
}

#[tokio::test]
async fn shadow_stores_the_steps_of_the_first_request_only_and_off_those_of_none() {
    for (mode, rows, records) in [(Mode::Shadow, 2, 2), (Mode::Off, 0, 0)] {
        let (idempotency, runs) = (handle(MemoryStore::default(), mode), Runs::default());
        for _ in 0..2 {
            assert_eq!(travel(&idempotency, &runs, post(Some("k-1"), "")).await.unwrap().status(), 200);
        }
        let store = idempotency.engine().store();
        assert_eq!((store.all_rows().len(), store.records().len()), (rows, records), "{mode}: a marker is a record");
        assert_eq!((runs.0.load(Ordering::SeqCst), store.effects().len()), (2, 2), "{mode}: everything is done twice");
    }
}

#[tokio::test]
async fn shadow_blocks_nothing_neither_a_missing_key_nor_a_store_that_is_down() {
    let runs = Runs::default();
    let idempotency = handle(MemoryStore::default(), Mode::Shadow);
    let mut keys = Vec::new();
    for _ in 0..2 {
        let reply = create_order(&idempotency, &runs, post(None, r#""a""#)).await.unwrap();
        assert_eq!(reply.status(), 200);
        keys.push(text(&reply).rsplit_once(' ').unwrap().1.to_owned());
    }
    assert_ne!(keys[0], keys[1], "two requests without a key are two requests downstream");
    assert!(idempotency.engine().store().records().is_empty());
    let reply = create_order(&handle(Down, Mode::Shadow), &runs, post(Some("k-1"), r#""a""#)).await.unwrap();
    assert_eq!(text(&reply), "run 3 a k-1");
    // What the handler cannot read is refused as ever.
    assert_eq!(create_order(&idempotency, &runs, post(Some("k-2"), "7")).await.unwrap().status(), 400);
}

#[test]
fn a_mode_that_is_none_is_refused() {
    for (text, mode) in [("enforce", Mode::Enforce), ("shadow", Mode::Shadow), ("off", Mode::Off)] {
        assert_eq!(text.parse(), Ok(mode));
        assert_eq!(mode.to_string(), text);
    }
    let error = "disabled".parse::<Mode>().unwrap_err();
    assert!(error.to_string().contains("say enforce, shadow or off"), "{error}");
}

/// A seat that is reserved in vain, and given back at the second try.
#[derive(Default)]
struct Seat {
    reserved: AtomicU32,
    tries: AtomicU32,
}

#[derive(Debug, thiserror::Error)]
enum SoldOut {
    #[error("sold out")]
    SoldOut,
    #[error(transparent)]
    Step(#[from] StepError),
}

impl Classify for SoldOut {
    fn classify(self) -> Failure {
        match self {
            Self::SoldOut => {
                Failure::Permanent(Box::new(http::Response::builder().status(410).body(Body::Empty).unwrap()))
            }
            Self::Step(error) => Failure::Abandoned(error.into()),
        }
    }
}

#[idempotent(operation = "book", version = 1, scope = none, undo = |undo| give_back(undo, seat))]
async fn book(seat: &Seat, attempt: Attempt) -> Result<String, SoldOut> {
    let reserve = async |_| Ok::<_, SoldOut>(seat.reserved.fetch_add(1, Ordering::SeqCst));
    attempt.step_with_undo("reserve", reserve).await?;
    Err(SoldOut::SoldOut)
}

async fn give_back(_: Undo, seat: &Seat) -> Result<Undone, Error> {
    match seat.tries.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(Undone::Later),
        _ => Ok(Undone::Done),
    }
}

#[tokio::test]
async fn shadow_goes_on_with_undoing_before_anything_else_is_done_under_the_key() {
    let (idempotency, seat) = (handle(MemoryStore::default(), Mode::Shadow), Seat::default());
    let send = async || book(&idempotency, &seat, post(Some("k-1"), "")).await.unwrap().status().as_u16();
    // The caller gets the handler's answer, although the seat is not given back yet.
    assert_eq!((send().await, seat.tries.load(Ordering::SeqCst)), (410, 1));
    assert_eq!((send().await, seat.tries.load(Ordering::SeqCst)), (410, 2));
    assert_eq!(seat.reserved.load(Ordering::SeqCst), 1, "the handler did not run beside the undoing");
    assert_eq!((send().await, seat.reserved.load(Ordering::SeqCst)), (410, 2));
}

/// A shop that charges once per key, as a callee that honours keys does, and whose carrier may refuse.
#[derive(Default)]
struct Shop {
    charged: Mutex<BTreeSet<String>>,
    refunds: AtomicU32,
    refuses: AtomicBool,
}

#[idempotent(operation = "order", version = 1, scope = none, undo = |undo| refund(undo, shop))]
async fn order(shop: &Shop, attempt: Attempt) -> Result<String, SoldOut> {
    attempt
        .step_with_undo("charge", async |key| {
            shop.charged.lock().unwrap().insert(key.as_str().to_owned());
            Ok::<_, SoldOut>(())
        })
        .await?;
    if shop.refuses.load(Ordering::SeqCst) { Err(SoldOut::SoldOut) } else { Ok("placed".to_owned()) }
}

async fn refund(_: Undo, shop: &Shop) -> Result<Undone, Error> {
    shop.refunds.fetch_add(1, Ordering::SeqCst);
    Ok(Undone::Done)
}

#[tokio::test]
async fn an_attempt_that_nothing_protects_takes_nothing_back_of_an_order_that_was_placed_before() {
    for (mode, told) in [(Mode::Off, 500), (Mode::Shadow, 410)] {
        let (idempotency, shop) = (handle(MemoryStore::default(), mode), Shop::default());
        let send = async |key| order(&idempotency, &shop, post(key, "")).await.unwrap();
        assert_eq!(send(Some("k-1")).await.status(), 200);
        shop.refuses.store(true, Ordering::SeqCst);
        let duplicate = send(Some("k-1")).await;
        assert_eq!(duplicate.status().as_u16(), told, "{mode}");
        assert_eq!(text(&duplicate).contains("compensation-stuck"), mode == Mode::Off, "{mode}");
        // The charge is still one, for all attempts have the same key for it, and it stays.
        assert_eq!((shop.charged.lock().unwrap().len(), shop.refunds.load(Ordering::SeqCst)), (1, 0), "{mode}");
        if mode == Mode::Shadow {
            // Nobody else can have the key of a request that brings none.
            assert_eq!(send(None).await.status(), 410);
            assert_eq!((shop.charged.lock().unwrap().len(), shop.refunds.load(Ordering::SeqCst)), (2, 1));
        }
    }
}
