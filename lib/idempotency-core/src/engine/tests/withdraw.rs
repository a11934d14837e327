//! A claim that should not have been made.

use super::*;

fn other(world: &World) -> Request {
    Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() }
}

#[tokio::test]
async fn a_withdrawn_key_is_new_for_any_request() {
    let world = World::new();
    let claim = world.fresh().await;
    let first = claim.record().clone();
    assert_eq!(world.engine.withdraw(claim).await, Completion::Stored);
    let Claimed::Fresh(claim) = world.engine.claim(&other(&world), &Policy::new(Window::http())).await.unwrap() else {
        panic!()
    };
    assert_eq!(claim.attempt().number(), crate::AttemptNumber::FIRST);
    assert!(claim.record().execution != first.execution && claim.record().epoch > first.epoch);
}

#[tokio::test]
async fn a_claim_that_follows_another_attempt_is_released_and_keeps_its_request_and_its_steps() {
    let world = World::new();
    let first = world.fresh().await;
    let execution = first.record().execution;
    assert_eq!(world.engine.release(first).await, Completion::Stored);
    assert_eq!(world.engine.withdraw(world.fresh().await).await, Completion::Stored);
    let claimed = world.engine.claim(&other(&world), &Policy::new(Window::http())).await.unwrap();
    assert_eq!(claimed, Claimed::Mismatch);
    assert_eq!(world.fresh().await.record().execution, execution);
}

#[tokio::test]
async fn an_atomic_claim_is_withdrawn_without_a_request() {
    let world = World::new();
    let policy = Policy::new(Window::http()).atomic(true);
    let Claimed::Fresh(claim) = world.engine.claim(&world.request(), &policy).await.unwrap() else { panic!() };
    assert_eq!(world.engine.withdraw(claim).await, Completion::Stored);
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn withdrawing_late_does_not_touch_another_attempts_record() {
    let world = World::new();
    let slow = world.fresh().await;
    world.advance(PAST_THE_LEASE);
    let _newer = world.fresh().await;
    let before = world.stored();
    assert!(matches!(world.engine.withdraw(slow).await, Completion::Superseded(_)));
    assert_eq!(world.stored(), before);
}

#[tokio::test]
async fn what_another_system_lost_is_said_over_the_claim_itself() {
    let world = World::new();
    let policy = Policy::new(Window::http()).on_abandoned(OnAbandoned::Probe);
    for happened in [true, false] {
        let world = World::new();
        let abandoned = world.fresh().await.after_a_lost_attempt().unwrap();
        if happened {
            assert_eq!(world.engine.complete(abandoned.happened(), Outcome::new("there")).await, Completion::Stored);
            assert_eq!(world.replay().await.body(), Some(&b"there"[..]));
        } else {
            let claimed = world.engine.take_over(abandoned, &world.request(), &policy).await.unwrap();
            let Claimed::Fresh(claim) = claimed else { panic!("{claimed:?}") };
            assert_eq!(world.engine.complete(claim, Outcome::new("here")).await, Completion::Stored);
        }
    }
    let Claimed::Fresh(atomic) = world.engine.claim(&world.request(), &policy.atomic(true)).await.unwrap() else {
        panic!()
    };
    assert_eq!(atomic.after_a_lost_attempt(), None);
}

#[tokio::test]
async fn what_another_system_lost_is_lost_at_once_and_nothing_is_written_where_nothing_is_claimed() {
    let probe = Policy::new(Window::http()).on_abandoned(OnAbandoned::Probe);
    let reject = probe.on_abandoned(OnAbandoned::Reject);
    let world = World::new();
    let before = world.fresh().await;
    let record = before.record().clone();
    let abandoned = before.after_a_lost_attempt().unwrap();
    assert_eq!(world.engine.still_unknown(abandoned).await, Completion::Stored);
    assert_eq!(world.stored(), Record { lease_until: world.engine.now(), ..record });
    assert_eq!(world.engine.claim(&world.request(), &reject).await.unwrap(), Claimed::Uncertain);
    // An attempt of this system's that was lost: nothing is claimed yet.
    let stored = world.stored();
    let Claimed::Abandoned(abandoned) = world.engine.claim(&world.request(), &probe).await.unwrap() else { panic!() };
    assert_eq!(world.engine.still_unknown(abandoned).await, Completion::Stored);
    assert_eq!(world.stored(), stored);
    let world = World::new();
    let claimed = world.engine.claim(&world.request(), &probe.atomic(true)).await.unwrap();
    let Claimed::Fresh(atomic) = claimed else { panic!("{claimed:?}") };
    assert_eq!(world.engine.lose(atomic).await, Completion::Stored);
    assert!(world.calls().is_empty());
}
