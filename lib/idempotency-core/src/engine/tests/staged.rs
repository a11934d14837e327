//! What is staged by attempts that have claimed their key.

use super::*;
use crate::StageError;

/// An attempt that owns the key and has staged its effect. The calls until then are forgotten.
async fn run(world: &World) -> Claim {
    let claim = world.fresh().await;
    world.stage(&claim);
    world.calls();
    claim
}

async fn complete(world: &World, claim: Claim) -> Completion {
    world.engine.complete(claim, Outcome::new("done")).await
}

fn write() -> TableWrite {
    TableWrite::put("ledger", serde_json::json!({ "entry": "t-2" })).unwrap()
}

#[tokio::test]
async fn what_is_staged_commits_with_the_result_in_one_call() {
    let world = World::new();
    let claim = run(&world).await;
    let (record, copy) = (world.stored(), claim.attempt().clone());
    assert_eq!(complete(&world, claim).await, Completion::Stored);
    assert_eq!((world.calls(), world.status()), (vec!["commit"], Some(Status::Completed)));
    let effects = world.engine.store().inner.effects();
    let [Effect::Table(entry), Effect::Event(event)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(entry.label(), "entry");
    assert_eq!((&event.record_key, event.execution, event.ordinal), (&record.key, record.execution, 0));
    assert_eq!(event.expires_at, record.expires_at, "an event is there as long as its record");
    assert_eq!(copy.stage(write()), Err(StageError::Ended));
    assert!(matches!(copy.publish(Event::queue("mails", "late").unwrap()), Err(StageError::Ended)));
}

#[tokio::test]
async fn nothing_staged_is_written_unless_the_attempt_completes() {
    type End = for<'a> fn(&'a World, Claim) -> futures::future::BoxFuture<'a, Completion>;
    let ends: [(&str, End); 3] = [
        ("failed", |world, claim| Box::pin(world.engine.fail(claim, Outcome::new("declined")))),
        ("released", |world, claim| Box::pin(world.engine.release(claim))),
        ("in_flight", |world, claim| Box::pin(world.engine.abandon(claim))),
    ];
    for (status, end) in ends {
        let world = World::new();
        let claim = run(&world).await;
        let copy = claim.attempt().clone();
        assert_eq!(end(&world, claim).await, Completion::Stored);
        assert_eq!((world.effects(), world.stored().status.as_str()), (0, status));
        assert_eq!(copy.stage(write()), Err(StageError::Ended), "{status}");
    }
}

#[tokio::test]
async fn a_superseded_attempt_writes_nothing_of_what_it_staged() {
    let world = World::new();
    let slow = run(&world).await;
    world.advance(PAST_THE_LEASE);
    let owner = run(&world).await;
    let completion = complete(&world, slow).await;
    assert_eq!((completion, world.effects()), (Completion::Superseded(None), 0));

    world.advance(PAST_THE_LEASE);
    let last = run(&world).await;
    assert_eq!(world.engine.complete(last, Outcome::new("last")).await, Completion::Stored);
    let Completion::Superseded(Some(replay)) = complete(&world, owner).await else { panic!() };
    assert_eq!((replay.body(), world.effects()), (Some(&b"last"[..]), 2));
}

#[tokio::test]
async fn an_attempt_without_its_record_writes_nothing_of_what_it_staged() {
    let world = World::new();
    let claim = run(&world).await;
    world.engine.store().inner.delete(&claim.record().key);
    // The effect did not happen, so the caller is not told that it did.
    assert_eq!(complete(&world, claim).await, Completion::Uncommitted);
    assert_eq!((world.effects(), world.status()), (0, None));
}

#[tokio::test]
async fn a_commit_whose_reply_was_lost_is_written_once() {
    for fault in [Fault::RepeatAfterLostReply, Fault::DropAfter, Fault::DropBefore, Fault::Throttle] {
        let world = World::new();
        let claim = run(&world).await;
        world.script([fault]);
        assert_eq!(complete(&world, claim).await, Completion::Stored);
        assert_eq!((world.effects(), world.replay().await.body()), (2, Some(&b"done"[..])));
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_without_any_answer_is_not_known_and_the_next_attempt_runs_after_the_lease() {
    let world = World::new();
    let claim = run(&world).await;
    world.script([Fault::DropBefore; 64]);
    let timeouts = Timeouts { completion: Duration::from_millis(400), ..Timeouts::default() };
    let engine = world.engine.clone().with_timeouts(timeouts).with_tokens(LongestPauses);
    assert_eq!(engine.complete(claim, Outcome::new("done")).await, Completion::Uncommitted);
    assert_eq!((world.calls(), world.status()), (vec!["commit"; 4], Some(Status::InFlight)));
    world.script([]);
    assert!(matches!(world.claim().await, Claimed::Conflict { .. }));
    world.advance(PAST_THE_LEASE);
    assert_eq!(complete(&world, run(&world).await).await, Completion::Stored);
    assert_eq!(world.effects(), 2);
}

#[tokio::test]
async fn a_commit_that_is_refused_behind_one_without_an_answer_is_not_known() {
    for lost in [Fault::DropBefore, Fault::DropAfter, Fault::Throttle] {
        let world = World::new();
        let claim = world.fresh_under(Policy::new(Window::http()).on_abandoned(OnAbandoned::Reject)).await;
        world.stage(&claim);
        world.script([lost, Fault::Refuse]);
        assert_eq!(complete(&world, claim).await, Completion::Uncommitted);
    }
}

#[tokio::test]
async fn a_commit_that_is_refused_for_good_releases_the_key() {
    let world = World::new();
    let claim = run(&world).await;
    world.script([Fault::Refuse]);
    assert_eq!(complete(&world, claim).await, Completion::CommitRefused);
    assert_eq!((world.calls(), world.status()), (vec!["commit", "replace"], Some(Status::Released)));
    assert_eq!(run(&world).await.attempt().number().get(), 2);
}

#[tokio::test]
async fn a_commit_that_is_refused_for_good_keeps_the_key_where_the_handler_may_not_run_again() {
    for on_abandoned in [OnAbandoned::Reject, OnAbandoned::Probe] {
        let (world, policy) = (World::new(), Policy::new(Window::http()).on_abandoned(on_abandoned));
        let claim = world.fresh_under(policy).await;
        world.stage(&claim);
        world.calls();
        world.script([Fault::Refuse]);
        assert_eq!(complete(&world, claim).await, Completion::CommitRefused);
        assert_eq!((world.calls(), world.status()), (vec!["commit"], Some(Status::InFlight)), "the lease stays");
        assert!(matches!(world.claim_under(policy).await, Claimed::Conflict { .. }));
        world.advance(PAST_THE_LEASE);
        match (on_abandoned, world.claim_under(policy).await) {
            (OnAbandoned::Reject, Claimed::Uncertain) | (OnAbandoned::Probe, Claimed::Abandoned(_)) => {}
            (_, claimed) => panic!("{claimed:?}"),
        }
        assert_eq!(world.effects(), 0);
    }
}

#[tokio::test]
async fn a_condition_that_does_not_hold_leaves_the_claim_to_be_ended() {
    let world = World::new();
    let claim = run(&world).await;
    *world.engine.store().refuses_effect.lock().unwrap() = Some(1);
    let Completion::Refused(refusal) = complete(&world, claim).await else { panic!() };
    assert_eq!((world.calls(), world.status()), (vec!["commit"], Some(Status::InFlight)));
    assert_eq!(refusal.claim.attempt().stage(write()), Err(StageError::Ended));
    assert_eq!(world.engine.fail(refusal.claim, Outcome::new("no cover")).await, Completion::Stored);
    assert_eq!((world.calls(), world.effects()), (vec!["replace"], 0));
    assert!(world.replay().await.is_failure());
}

#[tokio::test]
async fn what_a_lost_attempt_staged_is_forgotten_and_the_ids_of_events_are_the_same_again() {
    let world = World::new();
    let publish = |claim: &Claim| claim.attempt().publish(Event::queue("mails", "charged").unwrap()).unwrap();
    let lost = world.fresh().await;
    let (first, second) = (publish(&lost), publish(&lost));
    assert_ne!(first, second);
    drop(lost);
    world.advance(PAST_THE_LEASE);
    let claim = world.fresh().await;
    assert_eq!((publish(&claim), publish(&claim)), (first, second));
    assert_eq!(complete(&world, claim).await, Completion::Stored);
    assert_eq!(world.effects(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_unprotected_attempt_writes_what_it_staged_in_one_call_and_repeats_only_what_was_not_applied() {
    let apply = async |faults: &[Fault], stages: bool| {
        let world = World::new();
        let attempt = world.engine.unprotected_attempt(&world.request(), &Policy::new(Window::http())).unwrap();
        if stages {
            attempt.stage(write()).unwrap();
        }
        world.script(faults.iter().copied());
        let applied = world.engine.apply(&attempt).await;
        assert_eq!(attempt.stage(write()), Err(StageError::Ended));
        (applied, world.calls().len(), world.effects())
    };
    assert_eq!(apply(&[], true).await, (Applied::Stored, 1, 1));
    assert_eq!(apply(&[], false).await, (Applied::Stored, 0, 0));
    assert_eq!(apply(&[Fault::Throttle, Fault::Throttle], true).await, (Applied::Stored, 3, 1));
    // Nothing tells whether it was applied, so it is not tried again.
    assert_eq!(apply(&[Fault::DropAfter], true).await, (Applied::Unknown, 1, 1));
    assert_eq!(apply(&[Fault::DropBefore], true).await, (Applied::Unknown, 1, 0));
    // A refusal for good is known, unless a call before it may have been applied.
    assert_eq!(apply(&[Fault::Refuse], true).await, (Applied::CommitRefused, 1, 0));
    assert_eq!(apply(&[Fault::Throttle, Fault::Refuse], true).await, (Applied::Unknown, 2, 0));
}
