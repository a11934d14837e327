//! What each path costs: requests to the table of records, counted on the wire.

use idempotency_core::Status;
use idempotency_testkit::fault_proxy::Fault;

use crate::world::{Charge, World};

impl World {
    /// The operations on the table of records since the last call, by name.
    fn operations(&self) -> Vec<String> {
        self.store_requests().into_iter().map(|request| request.operation).collect()
    }
}

#[tokio::test]
async fn fresh_is_two_writes_and_replay_conflict_and_mismatch_are_one_request() {
    let world = World::start().await;
    let charge = Charge::new("order-42");

    assert_eq!(world.charge(&charge).await.status, 201);
    assert_eq!(world.operations(), ["PutItem", "PutItem"], "fresh");
    assert!(world.charge(&charge).await.is_replay());
    assert_eq!(world.operations(), ["PutItem"], "replay");
    assert_eq!(world.charge(&charge.clone().amount(1)).await.status, 422);
    assert_eq!(world.operations(), ["PutItem"], "mismatch");

    let gate = world.hold(Status::Completed, 1);
    let other = Charge::new("order-43");
    let conflict = async {
        gate.reached().await;
        world.operations();
        assert_eq!(world.charge(&other).await.status, 409);
        assert_eq!(world.operations(), ["PutItem"], "conflict");
        gate.open();
    };
    futures::future::join(world.charge(&other), conflict).await;
    world.stop().await;
}

#[tokio::test]
async fn a_lost_reply_adds_no_request_beyond_its_own_repetition() {
    let world = World::start().await;
    world.fault_on_write(1, 1, Fault::DropAfter);
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.operations(), ["PutItem"; 3], "the claim twice, the completion once");
    world.stop().await;
}

#[tokio::test]
async fn starting_a_function_makes_no_request() {
    let world = World::start().await;
    assert_eq!(world.charge(&Charge::new("order-42").keys(&[])).await.status, 400);
    assert_eq!(world.stack.proxy().requests(), []);
    world.stop().await;
}
