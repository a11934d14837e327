//! Markers: several requests ask for one call.

use super::*;
use crate::{Attempt, StepError};

/// A claim on another key, of another request.
async fn claim(world: &World, key: &str, scope: &str, policy: Policy) -> Claim {
    let request =
        Request { key: IdempotencyKey::new(key).unwrap(), scope: Scope::tenant(scope).unwrap(), ..world.request() };
    match world.engine.claim(&request, &policy).await.unwrap() {
        Claimed::Fresh(claim) => claim,
        other => panic!("{other:?}"),
    }
}

async fn tell(attempt: &Attempt, id: &str, mails: &Mutex<Vec<String>>) -> Result<bool, StepError> {
    let mail = async |key: IdempotencyKey| {
        mails.lock().unwrap().push(key.as_str().to_owned());
        Ok::<_, StepError>(())
    };
    attempt.once("received", id, mail).await
}

const HTTP: Policy = Policy::new(Window::http());

#[tokio::test]
async fn two_requests_make_one_call_and_another_id_another() {
    let (world, mails) = (World::new(), Mutex::default());
    let (first, second) = (claim(&world, "1", "t", HTTP).await, claim(&world, "2", "t", HTTP).await);
    world.calls();
    assert!(tell(first.attempt(), "claim-7", &mails).await.unwrap());
    assert_eq!(world.calls(), ["insert", "replace"]);
    assert!(!tell(second.attempt(), "claim-7", &mails).await.unwrap());
    assert!(!tell(first.attempt(), "claim-7", &mails).await.unwrap());
    assert_eq!(world.calls(), ["insert", "insert"]);
    assert!(tell(second.attempt(), "claim-8", &mails).await.unwrap());
    assert_eq!(mails.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_marker_whose_claim_has_no_answer_is_claimed_again_and_the_call_is_made_once() {
    for lost in [Fault::DropBefore, Fault::DropAfter] {
        let (world, mails) = (World::new(), Mutex::default());
        let claim = claim(&world, "1", "t", HTTP).await;
        world.calls();
        world.script([lost]);
        assert!(tell(claim.attempt(), "claim-7", &mails).await.unwrap());
        assert_eq!(world.calls()[..3], ["insert", "replace", "insert"], "claimed, left, claimed again");
        assert_eq!(mails.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn each_scope_has_its_own_marker_and_its_own_key_for_the_call() {
    let (world, mails) = (World::new(), Mutex::default());
    for scope in ["tenant-1", "tenant-2"] {
        let claim = claim(&world, scope, scope, HTTP).await;
        assert!(tell(claim.attempt(), "claim-7", &mails).await.unwrap());
    }
    let mails = mails.into_inner().unwrap();
    // A callee that honours keys must not take the second tenant's mail for the first one's.
    assert_ne!(mails[0], mails[1]);
}

#[tokio::test]
async fn a_marker_is_released_after_an_error_and_the_next_call_has_the_same_key() {
    let (world, mails) = (World::new(), Mutex::new(vec![]));
    let (first, second) = (claim(&world, "1", "t", HTTP).await, claim(&world, "2", "t", HTTP).await);
    let mut failed = None;
    let fails = first.attempt().once("received", "claim-7", async |key| {
        failed = Some(key.as_str().to_owned());
        Err(StepError::InFlight { name: "mail".into() })
    });
    assert!(matches!(fails.await, Err(StepError::InFlight { name }) if name == "mail"));
    world.calls();
    assert!(tell(second.attempt(), "claim-7", &mails).await.unwrap());
    assert_eq!(world.calls(), ["insert", "replace", "replace"]);
    assert_eq!(*mails.lock().unwrap(), [failed.unwrap()]);
}

/// An attempt that is lost while it makes its call.
async fn lost(world: &World, policy: Policy) -> String {
    let claim = claim(world, "lost", "t", policy).await;
    let mut seen = None;
    let hangs = claim.attempt().once::<StepError, _>("received", "claim-7", async |key| {
        seen = Some(key.as_str().to_owned());
        std::future::pending().await
    });
    assert!(tokio::time::timeout(Duration::from_secs(1), hangs).await.is_err());
    seen.unwrap()
}

#[tokio::test(start_paused = true)]
async fn while_it_is_being_done_another_is_told_so_and_after_the_lease_does_it_with_the_same_key() {
    let (world, mails) = (World::new(), Mutex::default());
    let key = lost(&world, HTTP).await;
    let error = tell(claim(&world, "2", "t", HTTP).await.attempt(), "claim-7", &mails).await.unwrap_err();
    assert!(matches!(&error, StepError::InFlight { name } if name == "received") && error.is_retryable());
    world.advance(PAST_THE_LEASE);
    assert!(tell(claim(&world, "3", "t", HTTP).await.attempt(), "claim-7", &mails).await.unwrap());
    assert_eq!(*mails.lock().unwrap(), [key]);
}

#[tokio::test(start_paused = true)]
async fn where_lost_attempts_are_not_repeated_nobody_does_it_again() {
    for on_abandoned in [OnAbandoned::Reject, OnAbandoned::Probe] {
        let (world, mails) = (World::new(), Mutex::default());
        let policy = HTTP.on_abandoned(on_abandoned);
        lost(&world, policy).await;
        world.advance(PAST_THE_LEASE);
        let error = tell(claim(&world, "2", "t", policy).await.attempt(), "claim-7", &mails).await.unwrap_err();
        assert!(matches!(&error, StepError::Uncertain { name } if name == "received") && !error.is_retryable());
        assert_eq!(*mails.lock().unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn where_lost_attempts_are_not_repeated_a_call_that_failed_is_uncertain_once_its_lease_is_over() {
    for on_abandoned in [OnAbandoned::Reject, OnAbandoned::Probe] {
        let (world, mails) = (World::new(), Mutex::default());
        let policy = HTTP.on_abandoned(on_abandoned);
        let first = claim(&world, "1", "t", policy).await;
        world.calls();
        let in_flight = || StepError::InFlight { name: "mail".into() };
        let fails = first.attempt().once("received", "claim-7", async |_| Err(in_flight()));
        assert!(matches!(fails.await, Err(StepError::InFlight { name }) if name == "mail"), "the call's own error");
        assert_eq!(world.calls(), ["insert"], "the marker is not released");
        let second = claim(&world, "2", "t", policy).await;
        for _ in 0..2 {
            let error = tell(second.attempt(), "claim-7", &mails).await.unwrap_err();
            assert!(matches!(error, StepError::InFlight { name } if name == "received"));
        }
        world.advance(PAST_THE_LEASE);
        let third = claim(&world, "3", "t", policy).await;
        for _ in 0..2 {
            let error = tell(third.attempt(), "claim-7", &mails).await.unwrap_err();
            assert!(matches!(&error, StepError::Uncertain { name } if name == "received") && !error.is_retryable());
        }
        assert_eq!(*mails.lock().unwrap(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_made_counts_whatever_becomes_of_the_marker() {
    for faults in [vec![Fault::None, Fault::DropAfter], [vec![Fault::None], vec![Fault::DropBefore; 100_000]].concat()]
    {
        let (world, mails) = (World::new(), Mutex::default());
        let claim = claim(&world, "1", "t", HTTP).await;
        world.script(faults);
        assert!(tell(claim.attempt(), "claim-7", &mails).await.unwrap());
    }
    // A marker that could not be claimed in all the time there is: the call was not made.
    let (world, mails) = (World::new(), Mutex::default());
    let claim = claim(&world, "1", "t", HTTP).await;
    world.script(vec![Fault::DropBefore; 100_000]);
    assert!(matches!(tell(claim.attempt(), "claim-7", &mails).await, Err(StepError::Store(_))));
    assert_eq!(*mails.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn an_unprotected_attempt_makes_the_call_each_time() {
    let (world, mails) = (World::new(), Mutex::default());
    let attempt = world.engine.unprotected_attempt(&world.request(), &HTTP).unwrap();
    for _ in 0..2 {
        assert!(tell(&attempt, "claim-7", &mails).await.unwrap());
    }
    assert_eq!((mails.lock().unwrap().len(), world.calls().len()), (2, 0));
}
