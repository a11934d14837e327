//! Keys older than the storage TTL, with the expired record still in the table.

use idempotency_core::Status;
use idempotency_testkit::payment_provider::Behaviour;

use crate::world::{Charge, World};

#[tokio::test]
async fn a_key_older_than_the_storage_ttl_is_new() {
    let world = World::start().await;
    world.provider(Behaviour { ignore_keys: true, ..Behaviour::default() });
    let first = world.charge(&Charge::new("order-42")).await;
    let expired = world.record().await;
    world.end_the_storage_ttl().await;

    let second = world.charge(&Charge::new("order-42")).await;
    assert_eq!((second.status, second.is_replay()), (201, false));
    assert_ne!(first.json()["id"], second.json()["id"]);
    assert_eq!(world.charges(), 2);
    let record = world.record().await;
    assert_ne!(record.execution, expired.execution, "a new generation");
    assert_eq!(record.attempt.get(), 1);
    assert!(record.epoch > expired.epoch);
    second.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    world.stop().await;
}

#[tokio::test]
async fn an_expired_key_with_another_body_is_new_and_no_mismatch() {
    let world = World::start().await;
    world.provider(Behaviour { ignore_keys: true, ..Behaviour::default() });
    world.charge(&Charge::new("order-42")).await;
    world.end_the_storage_ttl().await;
    let second = world.charge(&Charge::new("order-42").amount(5)).await;
    assert_eq!((second.status, second.is_replay()), (201, false));
    assert_eq!(second.json()["amount"], 5);
    world.stop().await;
}

#[tokio::test]
async fn a_record_deleted_while_its_attempt_runs_is_not_half_written() {
    let world = World::start().await;
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let delete = async {
        gate.reached().await;
        world.delete_the_record().await;
        gate.open();
    };
    let (answer, ()) = futures::future::join(world.charge(&charge), delete).await;
    assert_eq!((answer.status, answer.is_replay()), (201, false), "the effect happened and is told");
    assert_eq!(world.records().await, []);
    world.stop().await;
}
