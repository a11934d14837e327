//! A lost attempt whose effect the outside world knows about.

use super::*;

const PROBE: Policy = Policy::new(Window::http()).on_abandoned(OnAbandoned::Probe);

/// A world whose only attempt was lost, and what a next request is told.
async fn lost() -> (World, Record, Abandoned) {
    let world = World::new();
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    let before = world.stored();
    world.calls();
    let abandoned = ask(&world).await;
    assert_eq!(world.calls(), ["insert"]);
    assert_eq!(world.stored(), before, "asking writes nothing");
    (world, before, abandoned)
}

async fn ask(world: &World) -> Abandoned {
    match world.engine.claim(&world.request(), &PROBE).await.unwrap() {
        Claimed::Abandoned(abandoned) => abandoned,
        other => panic!("{other:?}"),
    }
}

async fn take_over(world: &World, abandoned: Abandoned) -> Claimed {
    world.engine.take_over(abandoned, &world.request(), &PROBE).await.unwrap()
}

#[tokio::test]
async fn an_effect_that_happened_is_stored_with_one_write_and_replayed() {
    let (world, before, abandoned) = lost().await;
    assert_eq!(abandoned.attempt().step_key("charge"), abandoned.attempt().step_key("charge"));
    let completion = world.engine.complete(abandoned.happened(), Outcome::new("found")).await;
    assert_eq!(completion, Completion::Stored);
    assert_eq!(world.calls(), ["replace"]);
    assert_eq!(world.replay().await.body(), Some(&b"found"[..]));
    let after = world.stored();
    assert_eq!((after.status, after.attempt.get(), after.execution), (Status::Completed, 2, before.execution));
    assert!(after.epoch > before.epoch && after.owner != before.owner);
}

#[tokio::test]
async fn an_effect_that_did_not_happen_is_run_again_with_one_write() {
    let (world, _, abandoned) = lost().await;
    let Claimed::Fresh(claim) = take_over(&world, abandoned).await else { panic!() };
    assert_eq!(world.calls(), ["replace"]);
    assert_eq!(claim.attempt().number().get(), 2);
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
}

#[tokio::test]
async fn a_takeover_after_a_probe_recognises_itself_when_its_reply_was_lost() {
    let (world, _, abandoned) = lost().await;
    world.script([Fault::RepeatAfterLostReply]);
    assert!(matches!(take_over(&world, abandoned).await, Claimed::Fresh(_)));
}

#[tokio::test]
async fn a_probe_that_is_not_answered_by_the_store_runs_nothing_and_keeps_nothing() {
    let (world, _, abandoned) = lost().await;
    world.script([Fault::DropAfter]);
    assert!(world.engine.take_over(abandoned, &world.request(), &PROBE).await.is_err());
    assert_eq!(world.stored().status, Status::Released);
}

#[tokio::test]
async fn an_answer_that_comes_after_its_own_time_claims_nothing() {
    let (world, _, abandoned) = lost().await;
    let before = world.stored();
    let request = world.request();
    // The attempt's deadline is 10 s after its claim.
    world.advance(Duration::from_secs(11));
    let late = world.engine.take_over(abandoned, &request, &PROBE).await.unwrap();
    assert!(matches!(late, Claimed::Conflict { .. }), "{late:?}");
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn of_two_that_ask_at_once_one_runs() {
    let (world, _, first) = lost().await;
    let second = ask(&world).await;
    let Claimed::Fresh(claim) = take_over(&world, first).await else { panic!() };
    assert!(matches!(take_over(&world, second).await, Claimed::Conflict { .. }));
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
}

#[tokio::test]
async fn a_lost_attempt_that_ends_after_all_has_the_last_word() {
    let world = World::new();
    let late = world.fresh().await;
    world.advance(PAST_THE_LEASE);
    let (found, absent) = (ask(&world).await, ask(&world).await);
    assert_eq!(world.engine.complete(late, Outcome::new("late")).await, Completion::Stored);
    let before = world.stored();
    let Completion::Superseded(Some(replay)) = world.engine.complete(found.happened(), Outcome::new("found")).await
    else {
        panic!()
    };
    assert_eq!(replay.body(), Some(&b"late"[..]));
    assert!(matches!(take_over(&world, absent).await, Claimed::Replay(_)));
    assert_eq!(world.stored(), before);
}
