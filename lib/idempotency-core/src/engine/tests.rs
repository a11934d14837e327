//! The engine against the memory store, with single faults, lost replies and a clock of one's own.

mod abandoned;
mod atomic;
mod compensation;
mod events_in_log;
mod fingerprint;
mod home_region;
mod look_up;
mod memos;
mod once;
mod staged;
mod step_rows;
mod steps;
mod undoing;
mod waiting;
mod withdraw;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;

use super::*;
use crate::{
    Abandoned, Claim, Clock, Committed, Effect, EpochSeconds, Event, ExecutionId, Fingerprint, IdempotencyKey,
    Inserted, MemoryStore, Namespace, OnAbandoned, Operation, OwnerToken, Policy, Record, RecordKey, Replaced, Row,
    RowInserted, Scope, Status, Store, StoreError, StoredResult, TableWrite, TokenError, TokenSource, Version, Window,
    Write,
};

/// What happens to one call.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// The call is not applied and gives no answer.
    DropBefore,
    /// The call is applied and its answer is lost.
    DropAfter,
    /// The call's first transmission is applied, its answer is lost, and the store repeats it.
    RepeatAfterLostReply,
    Refuse,
    /// The call is not applied and refused for now.
    Throttle,
    /// The call is not applied, and whoever waits for it is dropped at last.
    HangBefore,
    /// The call is applied, and whoever waits for its answer is dropped at last.
    HangAfter,
}

/// A memory store whose calls fail by a script and are counted.
#[derive(Default)]
struct Faulty {
    inner: MemoryStore,
    script: Mutex<VecDeque<Fault>>,
    calls: Mutex<Vec<&'static str>>,
    /// Whether reads use all the time that they are given, and then give no answer.
    reads_hang: AtomicBool,
    /// Until when parts are kept, in the order in which they were put.
    parts_expire_at: Mutex<Vec<EpochSeconds>>,
    /// Which effect's condition does not hold, in every commit that has one.
    refuses_effect: Mutex<Option<usize>>,
}

impl Faulty {
    async fn call<T, F>(&self, name: &'static str, apply: impl Fn() -> F + Send) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.calls.lock().unwrap().push(name);
        let fault = self.script.lock().unwrap().pop_front().unwrap_or(Fault::None);
        match fault {
            Fault::None => apply().await,
            Fault::DropBefore => Err(StoreError::Unknown("dropped".into())),
            Fault::DropAfter => {
                apply().await?;
                Err(StoreError::Unknown("reply lost".into()))
            }
            Fault::RepeatAfterLostReply => {
                apply().await?;
                apply().await
            }
            Fault::Refuse => Err(StoreError::Refused("refused".into())),
            Fault::Throttle => Err(StoreError::Throttled("throttled".into())),
            Fault::HangBefore => std::future::pending().await,
            Fault::HangAfter => {
                apply().await?;
                std::future::pending().await
            }
        }
    }
}

impl Store for Faulty {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        self.call("insert", || self.inner.insert_if_absent(record, within)).await
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        self.call("replace", || self.inner.replace(expected, record, within)).await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        if self.reads_hang.load(Ordering::SeqCst) {
            tokio::time::sleep(within).await;
            return Err(StoreError::Unknown("late".into()));
        }
        self.call("get", || self.inner.get(key, within)).await
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        let refused = self.refuses_effect.lock().unwrap().filter(|index| *index < effects.len());
        self.call("commit", || async move {
            // The record counts before the effects.
            let stored = write.and_then(|write| self.inner.record(&write.record().key)).map(|stored| stored.version());
            let expected = match write {
                Some(Write::Replace { expected, .. }) => Some(*expected),
                _ => None,
            };
            match refused {
                Some(index) if stored == expected => Ok(Committed::EffectRefused { index, item: None }),
                _ => self.inner.commit(write, effects, within).await,
            }
        })
        .await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        self.call("insert row", || self.inner.insert_row(row, within)).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.call("put row", || self.inner.put_row(row, within)).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        self.call("rows", || self.inner.rows(key, execution, within)).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.parts_expire_at.lock().unwrap().push(expires_at);
        self.call("put parts", || self.inner.put_parts(key, owner, parts, expires_at, within)).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.call("get parts", || self.inner.get_parts(key, owner, count, within)).await
    }
}

#[derive(Clone)]
struct ManualClock(Arc<AtomicI64>);

impl Clock for ManualClock {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

/// Tokens of which no two are the same, and pauses of different lengths.
#[derive(Default)]
struct CountingTokens(AtomicU64);

impl TokenSource for CountingTokens {
    fn draw(&self) -> Result<[u8; 16], TokenError> {
        let count = self.0.fetch_add(1, Ordering::SeqCst);
        let mut token = [count.to_le_bytes()[0]; 16];
        token[8..].copy_from_slice(&count.to_be_bytes());
        Ok(token)
    }
}

/// Each pause is as long as it can be.
struct LongestPauses;

impl TokenSource for LongestPauses {
    fn draw(&self) -> Result<[u8; 16], TokenError> {
        Ok([u8::MAX; 16])
    }
}

struct World {
    engine: Engine<Faulty>,
    clock: ManualClock,
}

impl World {
    fn new() -> Self {
        let clock = ManualClock(Arc::new(AtomicI64::new(1_700_000_000_000)));
        let engine = Engine::new(Faulty::default()).with_clock(clock.clone()).with_tokens(CountingTokens::default());
        Self { engine, clock }
    }

    fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        *self.engine.store().script.lock().unwrap() = faults.into_iter().collect();
    }

    fn advance(&self, time: Duration) {
        self.clock.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.engine.store().calls.lock().unwrap())
    }

    fn request(&self) -> Request {
        Request {
            namespace: Namespace::new("dev").unwrap(),
            operation: Operation::new("charge", 1).unwrap(),
            scope: Scope::tenant("tenant-7").unwrap(),
            key: IdempotencyKey::new("order-42").unwrap(),
            fingerprint: Fingerprint::from_bytes([7; 32]),
            deadline: self.engine.now() + Duration::from_secs(10),
        }
    }

    async fn claim(&self) -> Claimed {
        self.claim_under(Policy::new(Window::http())).await
    }

    async fn claim_under(&self, policy: Policy) -> Claimed {
        self.engine.claim(&self.request(), &policy).await.unwrap()
    }

    async fn fresh_under(&self, policy: Policy) -> Claim {
        match self.claim_under(policy).await {
            Claimed::Fresh(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    async fn fresh(&self) -> Claim {
        match self.claim().await {
            Claimed::Fresh(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    async fn replay(&self) -> Replay {
        match self.claim().await {
            Claimed::Replay(replay) => replay,
            other => panic!("{other:?}"),
        }
    }

    fn stored(&self) -> Record {
        self.engine.store().inner.record(&self.request().record_key()).unwrap()
    }

    /// Stages a write and an event.
    fn stage(&self, claim: &Claim) {
        let put = TableWrite::put("ledger", serde_json::json!({ "entry": "t-1" })).unwrap();
        claim.attempt().stage(put.named("entry")).unwrap();
        claim.attempt().publish(Event::queue("mails", &serde_json::json!({ "charged": "t-1" })).unwrap()).unwrap();
    }

    /// How many effects have committed.
    fn effects(&self) -> usize {
        self.engine.store().inner.effects().len()
    }

    fn status(&self) -> Option<Status> {
        self.engine.store().inner.record(&self.request().record_key()).map(|record| record.status)
    }
}

/// Longer than the lease of a claim in this world.
const PAST_THE_LEASE: Duration = Duration::from_secs(14);

#[tokio::test]
async fn request_counts_per_path() {
    let world = World::new();
    let claim = world.fresh().await;
    assert!(matches!(world.claim().await, Claimed::Conflict { .. }));
    assert_eq!(world.calls(), ["insert", "insert"]);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
    assert_eq!(world.calls(), ["replace"]);
    assert_eq!(world.replay().await.body(), Some(&b"done"[..]));
    assert_eq!(world.calls(), ["insert"]);
    let other = Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
    let mismatch = world.engine.claim(&other, &Policy::new(Window::http())).await.unwrap();
    assert!(matches!(mismatch, Claimed::Mismatch));
    assert_eq!(world.calls(), ["insert"]);
}

#[tokio::test]
async fn falsy_and_empty_results_are_replayed() {
    for result in ["", "null", "0", "false"] {
        let world = World::new();
        let completion = world.engine.complete(world.fresh().await, Outcome::new(result)).await;
        assert_eq!(completion, Completion::Stored);
        assert_eq!(world.replay().await.body(), Some(result.as_bytes()));
    }
}

#[tokio::test]
async fn a_claim_whose_reply_was_lost_recognises_itself() {
    let world = World::new();
    world.script([Fault::RepeatAfterLostReply]);
    let claim = world.fresh().await;
    assert_eq!(world.calls(), ["insert"]);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
}

#[tokio::test]
async fn a_takeover_whose_reply_was_lost_recognises_itself() {
    let world = World::new();
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    world.script([Fault::None, Fault::RepeatAfterLostReply]);
    let claim = world.fresh().await;
    assert_eq!(claim.attempt().number().get(), 2);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
}

#[tokio::test]
async fn an_unanswered_claim_never_runs() {
    for fault in [Fault::DropBefore, Fault::DropAfter, Fault::Refuse] {
        let world = World::new();
        world.script([fault]);
        let claimed = world.engine.claim(&world.request(), &Policy::new(Window::http())).await;
        assert!(matches!(claimed, Err(ClaimError::Store(_))), "{claimed:?}");
    }
}

#[tokio::test]
async fn an_unanswered_claim_that_was_stored_does_not_keep_the_key() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject] {
        let world = World::new();
        let policy = Policy::new(Window::http()).on_abandoned(on_abandoned);
        world.script([Fault::DropAfter]);
        assert!(world.engine.claim(&world.request(), &policy).await.is_err());
        assert_eq!(world.calls(), ["insert", "replace"]);
        assert_eq!(world.stored().status, Status::Released);
        let claimed = world.engine.claim(&world.request(), &policy).await.unwrap();
        assert!(matches!(claimed, Claimed::Fresh(_)), "{claimed:?}");
    }
}

#[tokio::test]
async fn giving_up_a_claim_does_not_touch_another_claims_record() {
    let world = World::new();
    let _owner = world.fresh().await;
    let before = world.stored();
    world.script([Fault::DropAfter]);
    assert!(world.engine.claim(&world.request(), &Policy::new(Window::http())).await.is_err());
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn an_attempt_whose_record_made_room_for_another_request_answers_its_own_result() {
    let world = World::new();
    let first = world.fresh().await;
    world.engine.store().inner.delete(&first.record().key);
    let other = Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
    let Claimed::Fresh(second) = world.engine.claim(&other, &Policy::new(Window::http())).await.unwrap() else {
        panic!()
    };
    assert_eq!(world.engine.complete(second, Outcome::new("other")).await, Completion::Stored);
    let before = world.stored();
    assert_eq!(world.engine.complete(first, Outcome::new("first")).await, Completion::Vanished);
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn a_completion_whose_reply_was_lost_is_stored() {
    for fault in [Fault::RepeatAfterLostReply, Fault::DropAfter, Fault::DropBefore] {
        let world = World::new();
        let claim = world.fresh().await;
        world.script([fault]);
        assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
        assert_eq!(world.replay().await.body(), Some(&b"done"[..]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_completion_without_any_answer_gives_up_and_is_unconfirmed() {
    let world = World::new();
    let claim = world.fresh().await;
    world.calls();
    world.script([Fault::DropBefore; 64]);
    let timeouts = Timeouts { completion: Duration::from_millis(400), ..Timeouts::default() };
    let engine = world.engine.clone().with_timeouts(timeouts).with_tokens(LongestPauses);
    assert_eq!(engine.complete(claim, Outcome::new("done")).await, Completion::Unconfirmed);
    // At once and after pauses of 50, 100 and 200 ms; there is no time for one of 400.
    assert_eq!(world.calls().len(), 4);
}

#[tokio::test]
async fn a_refused_completion_is_not_repeated() {
    let world = World::new();
    let claim = world.fresh().await;
    world.calls();
    world.script([Fault::Refuse]);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Unconfirmed);
    assert_eq!(world.calls(), ["replace"]);
}

#[tokio::test]
async fn a_slow_owner_does_not_write_over_the_newer_owners_result() {
    let world = World::new();
    let slow = world.fresh().await;
    world.advance(PAST_THE_LEASE);
    let newer = world.fresh().await;
    assert!(newer.attempt().epoch() > slow.attempt().epoch());
    assert_eq!(world.engine.complete(newer, Outcome::new("newer")).await, Completion::Stored);
    let before = world.stored();
    match world.engine.complete(slow, Outcome::new("slow")).await {
        Completion::Superseded(Some(replay)) => assert_eq!(replay.body(), Some(&b"newer"[..])),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn a_slow_owner_that_fails_late_does_not_release_or_fail_the_newer_owners_record() {
    for (release, newer_has_ended) in [(true, false), (false, false), (true, true), (false, true)] {
        let world = World::new();
        let slow = world.fresh().await;
        world.advance(PAST_THE_LEASE);
        let newer = world.fresh().await;
        if newer_has_ended {
            assert_eq!(world.engine.complete(newer, Outcome::new("newer")).await, Completion::Stored);
        }
        let before = world.stored();
        let completion = match release {
            true => world.engine.release(slow).await,
            false => world.engine.fail(slow, Outcome::new("failed")).await,
        };
        let Completion::Superseded(replay) = completion else { panic!("{completion:?}") };
        assert_eq!(replay.is_some(), newer_has_ended);
        assert_eq!(world.stored(), before);
        // No third run.
        match world.claim().await {
            Claimed::Replay(replay) if newer_has_ended => assert_eq!(replay.body(), Some(&b"newer"[..])),
            Claimed::Conflict { .. } if !newer_has_ended => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_duplicate_that_is_turned_away_changes_nothing_whatever_becomes_of_it() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe] {
        let policy = Policy::new(Window::http()).on_abandoned(on_abandoned);
        let world = World::new();
        let other = || Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
        let turned_away = async |request: Request, expected: &str| {
            let before = world.stored();
            let claimed = world.engine.claim(&request, &policy).await;
            assert!(format!("{claimed:?}").contains(expected), "{expected}: {claimed:?}");
            drop(claimed);
            assert_eq!(world.stored(), before, "{expected}");
        };
        let owner = world.fresh().await;
        turned_away(world.request(), "Conflict").await;
        turned_away(other(), "Mismatch").await;
        world.script([Fault::DropAfter]);
        turned_away(world.request(), "Unknown").await;
        if on_abandoned != OnAbandoned::Rerun {
            world.advance(PAST_THE_LEASE);
            let word = if on_abandoned == OnAbandoned::Reject { "Uncertain" } else { "Abandoned" };
            turned_away(world.request(), word).await;
            turned_away(other(), "Mismatch").await;
        }
        // Nobody took the owner's record away.
        assert_eq!(world.engine.complete(owner, Outcome::new("done")).await, Completion::Stored);
        turned_away(world.request(), "Replay").await;
        turned_away(other(), "Mismatch").await;
    }
}

#[tokio::test]
async fn a_record_deleted_during_the_run_is_not_half_created() {
    let world = World::new();
    let claim = world.fresh().await;
    let key = claim.record().key.clone();
    world.engine.store().inner.delete(&key);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Vanished);
    assert_eq!(world.engine.store().inner.record(&key), None);
}

#[tokio::test]
async fn a_released_key_is_claimed_at_once_by_the_next_attempt() {
    let world = World::new();
    assert_eq!(world.engine.release(world.fresh().await).await, Completion::Stored);
    let claim = world.fresh().await;
    assert_eq!(claim.attempt().number().get(), 2);
    assert_eq!(claim.record().status, Status::InFlight);
}

#[tokio::test]
async fn a_permanent_failure_is_replayed_as_a_failure() {
    let world = World::new();
    let completion = world.engine.fail(world.fresh().await, Outcome::new("declined")).await;
    assert_eq!(completion, Completion::Stored);
    let replay = world.replay().await;
    assert!(replay.is_failure());
    assert_eq!(replay.body(), Some(&b"declined"[..]));
}

#[tokio::test]
async fn an_abandoned_attempt_is_uncertain_under_reject() {
    let world = World::new();
    let reject = Policy::new(Window::http()).on_abandoned(OnAbandoned::Reject);
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    let before = world.stored();
    assert!(matches!(world.engine.claim(&world.request(), &reject).await.unwrap(), Claimed::Uncertain));
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn after_the_storage_ttl_a_key_is_new_although_its_record_is_still_there() {
    let world = World::new();
    let first = world.fresh().await;
    let (execution, epoch) = (first.record().execution, first.record().epoch);
    assert_eq!(world.engine.complete(first, Outcome::new("old")).await, Completion::Stored);
    world.advance(Window::http().storage_ttl() + Duration::from_secs(1));
    let second = world.fresh().await;
    assert_eq!(second.attempt().number().get(), 1);
    assert_ne!(second.record().execution, execution);
    assert!(second.record().epoch > epoch);
}

/// Bytes that do not compress.
fn noise(length: usize) -> Bytes {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        })
        .collect()
}

#[tokio::test]
async fn a_large_result_is_stored_beside_a_small_record_and_comes_back() {
    let world = World::new();
    let body = noise(6 * 1024 * 1024);
    assert_eq!(world.engine.complete(world.fresh().await, Outcome::new(body.clone())).await, Completion::Stored);
    assert!(matches!(world.stored().result, Some(StoredResult::Parts(parts)) if parts.count == 18));
    assert_eq!(world.calls(), ["insert", "put parts", "replace"]);
    assert_eq!(world.replay().await.into_body(), Some(body));
    assert_eq!(world.calls(), ["insert", "get parts"]);
}

#[tokio::test]
async fn a_result_that_cannot_be_stored_does_not_lose_the_record() {
    let world = World::new();
    let claim = world.fresh().await;
    world.script([Fault::DropBefore]);
    let outcome = Outcome::new(noise(100_000)).or_reduced("headers only");
    assert_eq!(world.engine.complete(claim, outcome).await, Completion::Stored);
    assert_eq!(world.replay().await.body(), Some(&b"headers only"[..]));

    let world = World::new();
    let claim = world.fresh().await;
    world.script([Fault::DropBefore]);
    assert_eq!(world.engine.complete(claim, Outcome::new(noise(100_000))).await, Completion::Stored);
    assert_eq!(world.replay().await.body(), None);
}

#[tokio::test]
async fn altered_or_missing_parts_are_an_error_and_nothing_runs() {
    let world = World::new();
    let body = noise(100_000);
    assert_eq!(world.engine.complete(world.fresh().await, Outcome::new(body)).await, Completion::Stored);
    let record = world.stored();
    for parts in [vec![Bytes::from_static(b"altered")], vec![]] {
        let store = &world.engine.store().inner;
        store.put_parts(&record.key, record.owner, &parts, record.expires_at, Duration::ZERO).await.unwrap();
        let claimed = world.engine.claim(&world.request(), &Policy::new(Window::http())).await;
        assert!(matches!(claimed, Err(ClaimError::Result(_))), "{claimed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_concurrent_claims_have_one_owner() {
    let world = Arc::new(World::new());
    let claims: Vec<_> = (0..16)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.claim().await })
        })
        .collect();
    let mut owners = 0;
    for claimed in claims {
        match claimed.await.unwrap() {
            Claimed::Fresh(_) => owners += 1,
            Claimed::Conflict { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(owners, 1);
}
