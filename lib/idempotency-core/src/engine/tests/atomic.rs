//! Operations whose whole effect is what they stage: nothing is claimed before they run.

use super::*;

const ATOMIC: Policy = Policy::new(Window::http()).atomic(true);

/// An attempt that has staged its effect.
async fn run(world: &World, policy: Policy) -> Claim {
    let claim = world.fresh_under(policy).await;
    world.stage(&claim);
    claim
}

async fn complete(world: &World, claim: Claim, result: &'static str) -> Completion {
    world.engine.complete(claim, Outcome::new(result)).await
}

/// What the request of an attempt gets that came too late.
fn instead(completion: Completion) -> Claimed {
    match completion {
        Completion::Instead(claimed) => *claimed,
        other => panic!("{other:?}"),
    }
}

fn replayed(completion: Completion) -> Replay {
    match instead(completion) {
        Claimed::Replay(replay) => replay,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_fresh_request_is_one_transaction_and_without_anything_staged_one_write() {
    let world = World::new();
    let claim = run(&world, ATOMIC).await;
    assert_eq!(world.calls(), [""; 0], "nothing is claimed");
    assert_eq!(complete(&world, claim, "done").await, Completion::Stored);
    assert_eq!((world.calls(), world.effects()), (vec!["commit"], 2));
    assert_eq!(world.status(), Some(Status::Completed));

    let world = World::new();
    let claim = world.fresh_under(ATOMIC).await;
    assert_eq!(complete(&world, claim, "done").await, Completion::Stored);
    assert_eq!(world.calls(), ["insert"]);
}

#[tokio::test]
async fn a_replay_is_one_call_and_what_its_run_staged_is_not_written() {
    let world = World::new();
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "first").await, Completion::Stored);
    let before = world.stored();
    world.calls();
    let replay = replayed(complete(&world, run(&world, ATOMIC).await, "second").await);
    assert_eq!(world.calls(), ["commit"]);
    assert_eq!((replay.body(), replay.is_failure()), (Some(&b"first"[..]), false));
    assert_eq!((world.effects(), world.stored()), (2, before));
}

#[tokio::test]
async fn a_replay_of_a_request_that_looks_first_is_one_read_and_runs_nothing() {
    let world = World::new();
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "first").await, Completion::Stored);
    world.calls();
    assert!(matches!(world.claim_under(ATOMIC.look_first(true)).await, Claimed::Replay(_)));
    assert_eq!(world.calls(), ["get"]);
}

#[tokio::test]
async fn of_two_side_by_side_one_commits_and_both_get_its_result() {
    let world = World::new();
    let (first, second) = (run(&world, ATOMIC).await, run(&world, ATOMIC).await);
    assert_ne!(first.record().owner, second.record().owner);
    assert_eq!(complete(&world, second, "second").await, Completion::Stored);
    assert_eq!(replayed(complete(&world, first, "first").await).body(), Some(&b"second"[..]));
    assert_eq!(world.effects(), 2);
}

#[tokio::test]
async fn one_whose_reply_was_lost_is_stored_once() {
    for fault in [Fault::RepeatAfterLostReply, Fault::DropAfter, Fault::DropBefore] {
        let world = World::new();
        let claim = run(&world, ATOMIC).await;
        world.script([fault]);
        assert_eq!(complete(&world, claim, "done").await, Completion::Stored);
        assert_eq!(world.effects(), 2);
        assert_eq!(replayed(complete(&world, run(&world, ATOMIC).await, "again").await).body(), Some(&b"done"[..]));
    }
}

#[tokio::test]
async fn a_condition_that_fails_after_its_own_lost_commit_is_no_refusal() {
    let world = World::new();
    let claim = run(&world, ATOMIC).await;
    world.script([Fault::DropAfter]);
    // As that of an insert does when the item is there by then.
    let store = Arc::clone(world.engine.store());
    let completion = tokio::join!(complete(&world, claim, "done"), async move {
        tokio::task::yield_now().await;
        *store.refuses_effect.lock().unwrap() = Some(0);
    });
    assert_eq!((completion.0, world.calls(), world.effects()), (Completion::Stored, vec!["commit", "commit"], 2));
}

#[tokio::test]
async fn one_of_another_request_is_a_mismatch_and_writes_nothing() {
    let world = World::new();
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "first").await, Completion::Stored);
    let before = world.stored();
    let other = Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
    let Claimed::Fresh(claim) = world.engine.claim(&other, &ATOMIC).await.unwrap() else { panic!() };
    world.stage(&claim);
    assert_eq!(instead(complete(&world, claim, "other").await), Claimed::Mismatch);
    assert_eq!((world.effects(), world.stored()), (2, before));
}

#[tokio::test]
async fn an_attempt_that_has_claimed_the_key_is_in_flight_for_one_that_has_not() {
    let world = World::new();
    let _owner = world.fresh().await;
    let before = world.stored();
    let completion = complete(&world, run(&world, ATOMIC).await, "done").await;
    assert!(matches!(instead(completion), Claimed::Conflict { .. }));
    assert_eq!((world.effects(), world.stored()), (0, before));
}

#[tokio::test]
async fn a_lost_attempt_that_had_claimed_the_key_is_taken_over_by_the_commit() {
    let world = World::new();
    drop(world.fresh().await);
    let lost = world.stored();
    world.advance(PAST_THE_LEASE);
    let claim = run(&world, ATOMIC).await;
    world.calls();
    assert_eq!(complete(&world, claim, "done").await, Completion::Stored);
    assert_eq!((world.calls(), world.effects()), (vec!["commit", "commit"], 2));
    let stored = world.stored();
    assert_eq!((stored.execution, stored.attempt.get()), (lost.execution, 2));
    assert!(stored.epoch > lost.epoch);
    assert_eq!(world.replay().await.body(), Some(&b"done"[..]));
}

#[tokio::test]
async fn a_lost_attempt_that_had_claimed_the_key_stays_uncertain_where_the_policy_says_so() {
    for on_abandoned in [OnAbandoned::Reject, OnAbandoned::Probe] {
        let world = World::new();
        drop(world.fresh().await);
        world.advance(PAST_THE_LEASE);
        let before = world.stored();
        let completion = complete(&world, run(&world, ATOMIC.on_abandoned(on_abandoned)).await, "done").await;
        assert_eq!(instead(completion), Claimed::Uncertain);
        assert_eq!((world.effects(), world.stored()), (0, before));
    }
}

#[tokio::test]
async fn released_and_expired_records_make_room_for_the_commit() {
    let world = World::new();
    assert_eq!(world.engine.release(world.fresh().await).await, Completion::Stored);
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "done").await, Completion::Stored);
    assert_eq!((world.stored().attempt.get(), world.effects()), (2, 2));

    let old = world.stored();
    world.advance(Window::http().storage_ttl() + Duration::from_secs(1));
    world.calls();
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "new").await, Completion::Stored);
    let new = world.stored();
    assert_eq!((world.calls(), world.effects(), new.attempt.get()), (vec!["commit", "commit"], 4, 1));
    assert!(new.execution != old.execution && new.epoch > old.epoch);
    assert_eq!(world.replay().await.body(), Some(&b"new"[..]));
}

#[tokio::test]
async fn a_large_result_stays_readable_when_its_record_takes_another_ones_place() {
    let world = World::new();
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    let claim = run(&world, ATOMIC).await;
    let body = noise(100_000);
    world.calls();
    assert_eq!(world.engine.complete(claim, Outcome::new(body.clone())).await, Completion::Stored);
    assert_eq!(world.calls(), ["put parts", "commit", "commit"]);
    assert_eq!(world.replay().await.into_body(), Some(body));
}

#[tokio::test]
async fn one_that_ends_without_a_result_reads_once_and_gets_that_of_another() {
    for abandons in [false, true] {
        let world = World::new();
        let end = async |claim: Claim| match abandons {
            true => world.engine.abandon(claim).await,
            false => world.engine.release(claim).await,
        };
        let alone = run(&world, ATOMIC).await;
        world.calls();
        assert_eq!(end(alone).await, Completion::Stored);
        assert_eq!((world.calls(), world.status(), world.effects()), (vec!["get"], None, 0));

        let late = run(&world, ATOMIC).await;
        assert_eq!(complete(&world, run(&world, ATOMIC).await, "first").await, Completion::Stored);
        world.calls();
        assert_eq!(replayed(end(late).await).body(), Some(&b"first"[..]));
        assert_eq!((world.calls(), world.effects()), (vec!["get"], 2));
    }
}

#[tokio::test]
async fn one_that_failed_is_stored_without_its_effects_and_replayed() {
    let world = World::new();
    let claim = run(&world, ATOMIC).await;
    assert_eq!(world.engine.fail(claim, Outcome::new("declined")).await, Completion::Stored);
    assert_eq!((world.calls(), world.effects()), (vec!["insert"], 0));
    let replay = replayed(complete(&world, run(&world, ATOMIC).await, "done").await);
    assert_eq!((replay.body(), replay.is_failure(), world.effects()), (Some(&b"declined"[..]), true, 0));
}

#[tokio::test]
async fn a_condition_that_does_not_hold_leaves_the_attempt_to_be_failed_or_released() {
    for fails in [false, true] {
        let world = World::new();
        *world.engine.store().refuses_effect.lock().unwrap() = Some(0);
        let Completion::Refused(refusal) = complete(&world, run(&world, ATOMIC).await, "done").await else { panic!() };
        assert_eq!(refusal.refused.name(), "entry");
        assert_eq!((world.calls(), world.status()), (vec!["commit"], None));
        let failure = Outcome::new("no cover");
        let completion = match fails {
            true => world.engine.fail(refusal.claim, failure).await,
            false => world.engine.release(refusal.claim).await,
        };
        assert_eq!(completion, Completion::Stored);
        assert_eq!(world.calls(), [if fails { "insert" } else { "get" }]);
        assert_eq!((world.status(), world.effects()), (fails.then_some(Status::Failed), 0));
    }
}

#[tokio::test]
async fn an_event_whose_place_is_taken_is_refused_by_its_id() {
    let world = World::new();
    *world.engine.store().refuses_effect.lock().unwrap() = Some(1);
    let claim = world.fresh_under(ATOMIC).await;
    claim.attempt().stage(TableWrite::put("ledger", serde_json::json!({ "entry": "t-1" })).unwrap()).unwrap();
    let id = claim.attempt().publish(Event::queue("mails", "charged").unwrap()).unwrap();
    let Completion::Refused(refusal) = complete(&world, claim, "done").await else { panic!() };
    assert_eq!(refusal.refused.name(), id.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_throttled_commit_is_repeated_while_there_is_time_and_then_not_known() {
    let world = World::new();
    world.script([Fault::Throttle; 3]);
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "done").await, Completion::Stored);
    assert_eq!((world.calls(), world.effects()), (vec!["commit"; 4], 2));

    let world = World::new();
    world.script([Fault::Throttle; 64]);
    let timeouts = Timeouts { completion: Duration::from_millis(400), ..Timeouts::default() };
    let engine = world.engine.clone().with_timeouts(timeouts).with_tokens(LongestPauses);
    let completion = engine.complete(run(&world, ATOMIC).await, Outcome::new("done")).await;
    assert_eq!((completion, world.calls()), (Completion::Uncommitted, vec!["commit"; 4]));
    assert_eq!((world.status(), world.effects()), (None, 0));
}

#[tokio::test]
async fn a_commit_that_is_refused_for_good_is_made_once_and_leaves_nothing() {
    let world = World::new();
    world.script([Fault::Refuse]);
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "done").await, Completion::CommitRefused);
    assert_eq!((world.calls(), world.status(), world.effects()), (vec!["commit"], None, 0));
    assert_eq!(complete(&world, run(&world, ATOMIC).await, "done").await, Completion::Stored);
}

#[tokio::test]
async fn a_key_that_is_never_left_alone_ends_in_few_calls() {
    let world = World::new();
    let key = world.request().record_key();
    let claim = run(&world, ATOMIC).await;
    world.calls();
    // Between any two calls another attempt claims the key and releases it.
    let busy = Busy { store: Arc::clone(world.engine.store()), key };
    let engine = Engine::new(busy).with_clock(world.clock.clone()).with_tokens(CountingTokens::default());
    let completion = engine.complete(claim, Outcome::new("done")).await;
    assert!(matches!(completion, Completion::Superseded(None)), "{completion:?}");
    assert_eq!((world.calls(), world.effects()), (vec!["commit"; 5], 0));
}

/// A store in which the record is another one at each commit.
struct Busy {
    store: Arc<Faulty>,
    key: RecordKey,
}

impl Store for Busy {
    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        let epoch = self.store.inner.delete(&self.key).map_or(1, |old| old.epoch.get() + 1);
        let record = write.unwrap().record().clone();
        let other = Record {
            owner: OwnerToken::from_bytes([99; 16]),
            epoch: crate::Epoch::new(epoch),
            status: Status::Released,
            ..record
        };
        self.store.inner.insert_if_absent(&other, within).await?;
        self.store.commit(write, effects, within).await
    }

    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        self.store.insert_if_absent(record, within).await
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        self.store.replace(expected, record, within).await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        self.store.get(key, within).await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        self.store.insert_row(row, within).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.store.put_row(row, within).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        self.store.rows(key, execution, within).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.store.put_parts(key, owner, parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.store.get_parts(key, owner, count, within).await
    }
}

#[tokio::test]
async fn copies_of_an_attempt_stage_into_one_transaction_and_nothing_after_its_end() {
    let world = World::new();
    let claim = world.fresh_under(ATOMIC).await;
    let copy = claim.attempt().clone();
    copy.stage(TableWrite::put("ledger", serde_json::json!({ "entry": "t-1" })).unwrap()).unwrap();
    world.stage(&claim);
    assert_eq!(complete(&world, claim, "done").await, Completion::Stored);
    assert_eq!(world.effects(), 3);
    let late = TableWrite::put("ledger", serde_json::json!({ "entry": "t-2" })).unwrap();
    assert_eq!(copy.stage(late), Err(crate::StageError::Ended));
}
