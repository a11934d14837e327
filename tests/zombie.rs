//! Attempts that everybody has given up on and that still act.

use std::time::Duration;

use futures::future::join;
use idempotency_core::Status;
use idempotency_testkit::{eventually, payment_provider::Behaviour};

use crate::world::{Charge, PATIENCE, World};

#[tokio::test]
async fn a_frozen_sandbox_that_thaws_after_a_takeover_does_not_change_the_record() {
    let world = World::start().await;
    world.provider(Behaviour { delay_after_charging: Duration::from_millis(500), ..Behaviour::default() });
    let charge = Charge::new("order-42");
    let takeover = async {
        world.charged(1).await;
        let frozen = world.busy_sandbox();
        assert!(frozen.pause());
        world.provider(Behaviour::default());
        world.end_the_lease().await;
        // The provider may still be answering the frozen attempt; then the next one is told to come again.
        let second = eventually(PATIENCE, async || {
            let answer = world.charge(&charge).await;
            assert!(matches!(answer.status, 201 | 503), "{answer:?}");
            (answer.status == 201).then_some(answer)
        })
        .await
        .unwrap();
        assert!(!second.is_replay());
        let record = world.record().await;
        assert!(record.attempt.get() >= 2);
        assert!(frozen.resume());
        (second, record)
    };
    let (zombie, (second, record)) = join(world.charge(&charge), takeover).await;
    assert_eq!(world.record().await, record, "the zombie's completion lost");
    second.assert_replayed_by(&zombie);
    assert_eq!(world.charges(), 1);
    assert!(world.log().contains("Superseded"));
    world.stop().await;
}

#[tokio::test]
async fn a_completion_that_arrives_after_a_takeover_does_not_change_the_record() {
    let world = World::start().await;
    world.provider(Behaviour { ignore_keys: true, ..Behaviour::default() });
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let takeover = async {
        gate.reached().await;
        world.end_the_lease().await;
        let second = world.charge(&charge).await;
        assert_eq!((second.status, second.is_replay()), (201, false));
        let record = world.record().await;
        gate.open();
        (second, record)
    };
    let (late, (second, record)) = join(world.charge(&charge), takeover).await;
    assert_eq!(world.record().await, record);
    second.assert_replayed_by(&late);
    world.stop().await;
}

#[tokio::test]
async fn a_completion_that_arrives_during_a_takeover_does_not_end_the_other_attempt() {
    let world = World::start().await;
    let charge = Charge::new("order-42");
    let (late, second) = (world.hold(Status::Completed, 1), world.hold(Status::Completed, 2));
    let first = world.charge(&charge);
    let other = async {
        late.reached().await;
        world.end_the_lease().await;
        let meanwhile = async {
            second.reached().await;
            let record = world.record().await;
            late.open();
            record
        };
        let (answer, record) = join(world.charge(&charge), meanwhile).await;
        (answer, record)
    };
    let release = async {
        // The late answer is a conflict: the other attempt has not ended, so its result cannot be told.
        let answer = first.await;
        assert_eq!((answer.status, answer.problem().as_str()), (409, "conflict"));
        assert_eq!(world.record().await.status, Status::InFlight);
        second.open();
    };
    let ((answer, in_flight), ()) = join(other, release).await;
    assert_eq!((answer.status, answer.is_replay()), (201, false));
    let record = world.record().await;
    assert_eq!((record.status, record.owner), (Status::Completed, in_flight.owner));
    assert_eq!(world.charges(), 1);
    world.stop().await;
}
