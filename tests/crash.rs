//! SIGKILL before and after the effect, under both policies.

use futures::future::join;
use idempotency_core::Status;
use idempotency_testkit::payment_provider::Behaviour;

use crate::world::{Answer, Charge, World};

/// Sends a charge and kills its sandbox while the write that gives its record this status is held on its way.
async fn killed_at(world: &World, status: Status, let_it_arrive: bool) -> Answer {
    let gate = world.hold(status, 1);
    let charge = Charge::new("order-42");
    let kill = async {
        gate.reached().await;
        let sandbox = world.busy_sandbox();
        sandbox.kill();
        sandbox.exited().await;
        if let_it_arrive {
            gate.open();
        }
    };
    let (answer, ()) = join(world.charge(&charge), kill).await;
    assert_eq!(answer.status, 500, "the platform's answer to a crash");
    answer
}

/// Killed with the claim on its way, which arrives; so the key is claimed and the effect has not begun.
async fn crash_before_the_effect(world: &World) {
    killed_at(world, Status::InFlight, true).await;
    idempotency_testkit::eventually(crate::world::PATIENCE, async || (!world.records().await.is_empty()).then_some(()))
        .await
        .unwrap();
    assert_eq!(world.charges(), 0);
    assert_eq!(world.record().await.status, Status::InFlight);
}

/// Killed with the completion on its way, which never arrives.
async fn crash_after_the_effect(world: &World) {
    killed_at(world, Status::Completed, false).await;
    assert_eq!(world.charges(), 1);
    assert_eq!(world.record().await.status, Status::InFlight);
}

async fn assert_conflict_until_the_lease_is_over(world: &World) {
    let conflict = world.charge(&Charge::new("order-42")).await;
    assert_eq!((conflict.status, conflict.problem().as_str()), (409, "conflict"));
    world.end_the_lease().await;
}

async fn assert_outcome_unknown_for_good(world: &World) {
    let record = world.record().await;
    let uncertain = world.charge(&Charge::new("order-42")).await;
    assert_eq!((uncertain.status, uncertain.problem().as_str()), (500, "outcome-unknown"));
    let again = world.charge(&Charge::new("order-42")).await;
    assert_eq!(again.body, uncertain.body, "the answer is stable");
    assert_eq!(world.record().await, record, "and writes nothing");
}

#[tokio::test]
async fn rerun_after_a_crash_before_the_effect_charges_once() {
    let world = World::with_policy("rerun").await;
    crash_before_the_effect(&world).await;
    assert_conflict_until_the_lease_is_over(&world).await;
    let abandoned = world.record().await;

    let second = world.charge(&Charge::new("order-42")).await;
    assert_eq!((second.status, second.is_replay()), (201, false));
    assert_eq!(world.charges(), 1);
    let record = world.record().await;
    assert_eq!(record.attempt.get(), 2);
    assert_eq!(record.execution, abandoned.execution);
    assert!(record.epoch > abandoned.epoch);
    second.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    world.stop().await;
}

#[tokio::test]
async fn rerun_after_a_crash_after_the_effect_finds_the_charge_by_its_key() {
    let world = World::with_policy("rerun").await;
    crash_after_the_effect(&world).await;
    assert_conflict_until_the_lease_is_over(&world).await;
    let second = world.charge(&Charge::new("order-42")).await;
    assert_eq!((second.status, second.is_replay()), (201, false));
    assert_eq!(world.charges(), 1, "the provider honours the key");
    world.stop().await;
}

#[tokio::test]
async fn rerun_with_a_provider_without_keys_charges_once_per_attempt() {
    // This is what `rerun` promises and no more: effects <= 1 + lost attempts.
    let world = World::with_policy("rerun").await;
    world.provider(Behaviour { ignore_keys: true, ..Behaviour::default() });
    crash_after_the_effect(&world).await;
    world.end_the_lease().await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.charges(), 2);
    world.stop().await;
}

#[tokio::test]
async fn reject_after_a_crash_before_the_effect_never_charges() {
    let world = World::with_policy("reject").await;
    crash_before_the_effect(&world).await;
    assert_conflict_until_the_lease_is_over(&world).await;
    assert_outcome_unknown_for_good(&world).await;
    assert_eq!(world.charges(), 0);
    world.stop().await;
}

#[tokio::test]
async fn reject_after_a_crash_after_the_effect_never_charges_again() {
    let world = World::with_policy("reject").await;
    world.provider(Behaviour { ignore_keys: true, ..Behaviour::default() });
    crash_after_the_effect(&world).await;
    assert_conflict_until_the_lease_is_over(&world).await;
    assert_outcome_unknown_for_good(&world).await;
    assert_eq!(world.charges(), 1);
    // Another key is not affected.
    assert_eq!(world.charge(&Charge::new("order-43")).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn an_unclassified_failure_is_as_good_as_a_crash() {
    let world = World::with_policy("rerun").await;
    world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    assert_eq!(world.charges(), 1);
    assert_conflict_until_the_lease_is_over(&world).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}
