//! Replies that never arrive: the write was applied and nobody heard of it.

use idempotency_core::Status;
use idempotency_testkit::fault_proxy::Fault;

use crate::world::{Charge, World};

/// One request with a fault on its `n`th write, then a retry: one effect, nobody blocked, the same bytes.
async fn one_effect_and_nobody_blocked(n: u64, times: u64, fault: Fault) {
    let world = World::start().await;
    world.fault_on_write(n, times, fault.clone());
    let first = world.charge(&Charge::new("order-42")).await;
    assert_eq!((first.status, first.is_replay()), (201, false), "{fault:?} on write {n}: {first:?}");
    assert_eq!(world.charges(), 1);
    let record = world.record().await;
    assert_eq!((record.status, record.attempt.get()), (Status::Completed, 1));
    first.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_lost_reply_to_the_claim_does_not_block_its_own_request() {
    one_effect_and_nobody_blocked(1, 1, Fault::DropAfter).await;
}

#[tokio::test]
async fn two_lost_replies_to_the_claim_do_not_block_its_own_request() {
    one_effect_and_nobody_blocked(1, 2, Fault::DropAfter).await;
}

#[tokio::test]
async fn a_server_error_after_the_claim_was_applied_does_not_block_its_own_request() {
    one_effect_and_nobody_blocked(1, 1, Fault::ErrorAfter).await;
}

#[tokio::test]
async fn a_lost_reply_to_the_completion_is_recognised_as_success() {
    one_effect_and_nobody_blocked(2, 1, Fault::DropAfter).await;
}

#[tokio::test]
async fn a_completion_outlasts_more_faults_than_the_sdk_repeats() {
    for fault in [Fault::DropBefore, Fault::DropAfter, Fault::ErrorBefore, Fault::Throttle] {
        one_effect_and_nobody_blocked(2, 4, fault).await;
    }
}

#[tokio::test]
async fn a_claim_lost_on_its_way_is_sent_again() {
    for fault in [Fault::DropBefore, Fault::ErrorBefore, Fault::Throttle] {
        one_effect_and_nobody_blocked(1, 1, fault).await;
    }
}

#[tokio::test]
async fn a_lost_reply_to_a_takeover_does_not_block_its_own_request() {
    let world = World::start().await;
    world.provider(idempotency_testkit::payment_provider::Behaviour { fail_before_charging: 1, ..Default::default() });
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    world.end_the_lease().await;
    // The first write of the next request is its attempt to insert, which shows it the old record.
    world.fault_on_write(2, 1, Fault::DropAfter);
    let second = world.charge(&Charge::new("order-42")).await;
    assert_eq!((second.status, second.is_replay()), (201, false));
    assert_eq!(world.charges(), 1);
    assert_eq!(world.record().await.attempt.get(), 2);
    world.stop().await;
}

#[tokio::test]
async fn an_effect_whose_completion_is_never_confirmed_is_told_to_the_caller() {
    let world = World::start().await;
    world.fault_on_write(2, u64::MAX, Fault::DropBefore);
    let answer = world.charge(&Charge::new("order-42")).await;
    assert_eq!((answer.status, answer.is_replay()), (201, false), "an error would invite a second charge");
    assert!(world.log().contains("CompletionUnconfirmed"));
    assert_eq!(world.record().await.status, Status::InFlight);
    world.stop().await;
}

#[tokio::test]
async fn a_claim_that_was_applied_and_never_answered_does_not_keep_its_key() {
    for policy in ["rerun", "reject"] {
        let world = World::with_policy(policy).await;
        // As often as the SDK sends it; what follows is the request that gives it up.
        world.fault_on_write(1, 3, Fault::DropAfter);
        let answer = world.charge(&Charge::new("order-42")).await;
        assert_eq!((answer.status, answer.problem().as_str()), (503, "store-unavailable"));
        assert_eq!((world.charges(), world.record().await.status), (0, Status::Released));
        let retry = world.charge(&Charge::new("order-42")).await;
        assert_eq!((retry.status, retry.is_replay()), (201, false), "{policy}");
        assert_eq!(world.charges(), 1);
        world.stop().await;
    }
}
