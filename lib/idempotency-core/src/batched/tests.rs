//! Calls side by side against a memory store that takes its time. Time stands still until every task waits for it, so what is
//! asserted about it is exact.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{future::join_all, poll};
use tokio::time::{Instant, sleep};

use crate::{
    Batched, Claimed, Committed, Completion, Effect, Engine, EpochMillis, EpochSeconds, ExecutionId, Fingerprint,
    IdempotencyKey, Inserted, MemoryStore, Namespace, Operation, Outcome, OwnerToken, Policy, Record, RecordKey,
    Replaced, Request, Row, RowInserted, Scope, Store, StoreError, Version, Window, Write, Written,
};

mod counts;
mod in_time;

/// How long the store takes for one request.
const ROUND_TRIP: Duration = Duration::from_millis(5);

/// Longer than any handler here takes.
const LINGER: Duration = Duration::from_secs(1);

/// A memory store that takes [`ROUND_TRIP`] for each request and tells what it was asked.
#[derive(Clone, Default)]
struct Slow(Arc<Inner>);

#[derive(Default)]
struct Inner {
    store: MemoryStore,
    asked: Mutex<Vec<String>>,
    /// Members of batches that get no answer.
    unanswered: Mutex<usize>,
}

impl Slow {
    async fn note(&self, what: impl Into<String>) {
        self.0.asked.lock().unwrap().push(what.into());
        sleep(ROUND_TRIP).await;
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.asked.lock().unwrap())
    }
}

impl Store for Slow {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        self.note("insert").await;
        self.0.store.insert_if_absent(record, within).await
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        self.note("replace").await;
        self.0.store.replace(expected, record, within).await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        self.note("get").await;
        self.0.store.get(key, within).await
    }

    async fn write_many(&self, writes: &[Write], within: Duration) -> Vec<Result<Written, StoreError>> {
        let inserts = writes.iter().filter(|write| matches!(write, Write::Insert(_))).count();
        self.note(format!("{inserts} inserts, {} replaces", writes.len() - inserts)).await;
        let mut answers = Vec::new();
        for write in writes {
            answers.push(self.0.store.write(write, within).await);
        }
        let mut unanswered = self.0.unanswered.lock().unwrap();
        answers.truncate(answers.len().saturating_sub(std::mem::take(&mut *unanswered)));
        answers
    }

    async fn get_many(&self, keys: &[RecordKey], within: Duration) -> Vec<Result<Option<Record>, StoreError>> {
        self.note(format!("{} gets", keys.len())).await;
        join_all(keys.iter().map(|key| self.0.store.get(key, within))).await
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        self.note("commit").await;
        self.0.store.commit(write, effects, within).await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        self.note("insert row").await;
        self.0.store.insert_row(row, within).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.note("put row").await;
        self.0.store.put_row(row, within).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        self.note("rows").await;
        self.0.store.rows(key, execution, within).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.0.store.put_parts(key, owner, parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.0.store.get_parts(key, owner, count, within).await
    }
}

fn request(key: &str) -> Request {
    Request {
        namespace: Namespace::new("test").unwrap(),
        operation: Operation::declare("handle", 1),
        scope: Scope::none(),
        key: IdempotencyKey::new(key).unwrap(),
        fingerprint: Fingerprint::builder().finish(),
        deadline: EpochMillis::new(i64::MAX / 4),
    }
}

fn policy() -> Policy {
    Policy::new(Window::http())
}

/// Carries out one message: claims, takes `time`, completes. Says whether it ran.
async fn carry_out(engine: &Engine<Batched<Slow>>, key: &str, time: Duration, policy: Policy) -> bool {
    match engine.claim(&request(key), &policy).await.unwrap() {
        Claimed::Fresh(claim) => {
            sleep(time).await;
            assert_eq!(engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
            true
        }
        Claimed::Replay(_) => false,
        other => panic!("{other:?}"),
    }
}

/// Carries out messages side by side.
async fn batch(
    engine: &Engine<Batched<Slow>>,
    keys: &[String],
    time: impl Fn(usize) -> Duration,
    policy: Policy,
) -> usize {
    let flows: Vec<_> = keys.iter().map(|_| engine.store().flow()).collect();
    let messages = keys.iter().zip(flows).enumerate().map(|(n, (key, flow))| {
        let time = time(n);
        async move {
            let _flow = flow;
            carry_out(engine, key, time, policy).await
        }
    });
    join_all(messages).await.into_iter().filter(|ran| *ran).count()
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("key-{n}")).collect()
}

#[tokio::test(start_paused = true)]
async fn ten_fresh_messages_cost_two_requests_and_two_round_trips() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(LINGER);
    let start = Instant::now();
    assert_eq!(batch(&engine, &keys(10), |_| Duration::ZERO, policy()).await, 10);
    assert_eq!(store.asked(), ["10 inserts, 0 replaces", "0 inserts, 10 replaces"]);
    // `sleep(0)` of the handlers takes a tick of a millisecond at most.
    assert!(start.elapsed() < 3 * ROUND_TRIP, "{:?}", start.elapsed());

    assert_eq!(batch(&engine, &keys(10), |_| Duration::ZERO, policy()).await, 0);
    assert_eq!(store.asked(), ["10 inserts, 0 replaces"], "duplicates");
}

#[tokio::test(start_paused = true)]
async fn messages_that_are_probably_duplicates_are_read_first_and_read_together() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(LINGER);
    let looks_first = policy().look_first(true);
    assert_eq!(batch(&engine, &keys(3), |_| Duration::ZERO, policy()).await, 3);
    store.asked();
    assert_eq!(batch(&engine, &keys(5), |_| Duration::ZERO, looks_first).await, 2);
    assert_eq!(store.asked(), ["5 gets", "2 inserts, 0 replaces", "0 inserts, 2 replaces"]);
}

#[tokio::test(start_paused = true)]
async fn ends_wait_for_each_other_as_long_as_the_linger_says_and_no_longer() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(Duration::from_millis(200));
    // Three are done soon, one takes long: it holds nobody up beyond the linger.
    let time = |n| if n == 3 { Duration::from_secs(60) } else { Duration::from_millis(50 * n as u64) };
    assert_eq!(batch(&engine, &keys(4), time, policy()).await, 4);
    assert_eq!(store.asked(), ["4 inserts, 0 replaces", "0 inserts, 3 replaces", "0 inserts, 1 replaces"]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_waits_for_no_handler_and_takes_waiting_ends_along() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(LINGER);
    let (slow, quick) = (engine.store().flow(), engine.store().flow());
    let running = async {
        let _flow = slow;
        carry_out(&engine, "slow", Duration::from_secs(60), policy()).await
    };
    let late = async {
        let _flow = quick;
        carry_out(&engine, "quick", Duration::ZERO, policy()).await;
        sleep(Duration::from_millis(1)).await;
        let start = Instant::now();
        assert!(carry_out(&engine, "next", Duration::ZERO, policy()).await);
        start.elapsed()
    };
    let (_, took) = tokio::join!(running, late);
    // Its claim takes one round trip; its end waits out its linger beside the slow handler.
    assert!(took < LINGER + 3 * ROUND_TRIP, "{took:?}");
    assert_eq!(store.asked().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_member_without_an_answer_is_repeated_alone_and_finds_itself() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(LINGER);
    *store.0.unanswered.lock().unwrap() = 2;
    assert_eq!(batch(&engine, &keys(4), |_| Duration::ZERO, policy()).await, 4);
    assert_eq!(store.asked(), ["4 inserts, 0 replaces", "insert", "insert", "0 inserts, 4 replaces"]);
    assert_eq!(store.0.store.records().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn when_the_call_that_leads_is_dropped_the_others_ask_for_themselves() {
    let store = Slow::default();
    let batched = Arc::new(Batched::new(Arc::new(store.clone()), LINGER));
    let key = RecordKey::from_stored("test#handle#v1#x");
    for polls in [1, 3] {
        let mut leader = Box::pin(batched.get(&key, LINGER));
        let mut follower = Box::pin(batched.get(&key, LINGER));
        for _ in 0..polls {
            // Polled once it gathers, polled more often its request is on its way.
            assert!(poll!(&mut leader).is_pending());
            assert!(poll!(&mut follower).is_pending());
            tokio::task::yield_now().await;
        }
        drop(leader);
        assert_eq!(follower.await.unwrap(), None);
        // And whoever comes later leads again.
        assert_eq!(batched.get(&key, LINGER).await.unwrap(), None);
    }
    assert_eq!(store.asked(), ["get", "1 gets", "2 gets", "get", "1 gets"]);
}

#[tokio::test(start_paused = true)]
async fn an_end_whose_time_runs_out_does_not_linger_it_away() {
    let store = Slow::default();
    let batched = Arc::new(Batched::new(Arc::new(store.clone()), LINGER));
    let engine = Engine::new(store.clone());
    let Claimed::Fresh(claim) = engine.claim(&request("x"), &policy()).await.unwrap() else { panic!() };
    let _slow = (batched.flow(), batched.flow());
    let start = Instant::now();
    let ended = Record { status: crate::Status::Completed, ..claim.record().clone() };
    let within = Duration::from_millis(100);
    assert_eq!(batched.replace(claim.record().version(), &ended, within).await.unwrap(), Replaced::Replaced);
    assert!(start.elapsed() < within, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn no_end_lingers_while_a_next_message_waits_for_it() {
    let store = Slow::default();
    let engine = Engine::new(store.clone()).batched(LINGER);
    let (_slow, mut group) = (engine.store().flow(), engine.store().flow());
    let start = Instant::now();
    for (key, has_next) in [("1", true), ("2", true), ("3", false)] {
        group.hurry(has_next);
        assert!(carry_out(&engine, key, Duration::ZERO, policy()).await);
        if has_next {
            assert!(start.elapsed() < LINGER, "{key}");
        }
    }
    assert!(start.elapsed() >= Duration::from_millis(200), "the last one waits for the slow one, as any other end");
    drop(group);
    assert_eq!(store.asked().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_over_leaves_the_others_theirs() {
    let store = Slow::default();
    let batched = Arc::new(Batched::new(Arc::new(store.clone()), Duration::MAX));
    let key = RecordKey::from_stored("test#handle#v1#x");
    // Both are asked for, and then a handler that never pauses holds up everybody until the first one's time is over.
    let (mut late, mut other) = (Box::pin(batched.get(&key, ROUND_TRIP)), Box::pin(batched.get(&key, LINGER)));
    assert!(poll!(&mut late).is_pending());
    assert!(poll!(&mut other).is_pending());
    tokio::time::advance(2 * ROUND_TRIP).await;
    let (late, other) = tokio::join!(late, other);
    assert!(matches!(late, Err(StoreError::Unknown(_))), "{late:?}");
    assert_eq!(other.unwrap(), None);
    assert_eq!(store.asked(), ["1 gets"]);
}
