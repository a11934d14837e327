//! What a duplicate gets while the charge is being made, by choice, behind every kind of front; and a lost charge that the
//! provider is asked about.

use futures::future::join;
use idempotency_cli::StackOptions;
use idempotency_core::Status;
use idempotency_testkit::{http_front::HttpKind, payment_provider::Behaviour};

use crate::world::{Charge, World};

every_kind! {
    waits_for_the_result,
    accepted_with_a_status_resource,
    a_lost_charge_is_found,
    a_lost_request_to_charge_runs_again,
}

async fn with(kind: HttpKind, variable: &str, value: &str) -> World {
    World::with(StackOptions { http_kind: kind, ..StackOptions::default() }.env(variable, value)).await
}

async fn waits_for_the_result(kind: HttpKind) {
    let world = with(kind, "IN_FLIGHT", "wait").await;
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let duplicate = async {
        gate.reached().await;
        world.store_requests();
        let release = async {
            // The duplicate has looked at least once.
            world.asked(|request| request.operation == "GetItem").await;
            gate.open();
        };
        join(world.charge(&charge), release).await.0
    };
    let (first, duplicate) = join(world.charge(&charge), duplicate).await;
    first.assert_replayed_by(&duplicate);
    let writes = world.store_requests().into_iter().filter(|request| request.operation == "PutItem").count();
    assert_eq!(writes, 1, "the duplicate's one attempt to claim; the completion was on its way before");
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn accepted_with_a_status_resource(kind: HttpKind) {
    let world = with(kind, "IN_FLIGHT", "accepted").await;
    let gate = world.hold(Status::Completed, 1);
    // What would have to be escaped in a path, and is decoded by some platforms and not by others.
    let charge = Charge::new("order/42%2F~?");
    let duplicate = async {
        gate.reached().await;
        let duplicate = world.charge(&charge).await;
        assert_eq!((duplicate.status, duplicate.json()["status"].as_str()), (202, Some("in_flight")));
        let location = duplicate.headers["location"].to_str().unwrap().to_owned();
        let path = world.resolve("/charges", &location);
        let status = world.get(&path, "tenant-7").await;
        assert_eq!((status.status, status.headers.contains_key("retry-after")), (202, true));
        gate.open();
        path
    };
    let (first, path) = join(world.charge(&charge), duplicate).await;
    assert_eq!((first.status, first.is_replay()), (201, false));
    first.assert_replayed_by(&world.get(&path, "tenant-7").await);
    let foreign = world.get(&path, "tenant-8").await;
    assert_eq!((foreign.status, foreign.problem().as_str()), (404, "result-missing"));
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

/// The provider charged and its answer was lost; the lease is over.
async fn lost(kind: HttpKind, behaviour: Behaviour) -> World {
    let world = with(kind, "ON_ABANDONED", "probe").await;
    world.provider(behaviour);
    assert!(world.charge(&Charge::new("order-42")).await.status >= 500);
    world.end_the_lease().await;
    world
}

async fn a_lost_charge_is_found(kind: HttpKind) {
    let world = lost(kind, Behaviour { fail_after_charging: 1, ..Behaviour::default() }).await;
    let found = world.charge(&Charge::new("order-42")).await;
    assert_eq!((found.status, found.is_replay()), (201, false));
    assert_eq!(found.headers["location"], format!("/charges/{}", world.stack.provider().ledger()[0].id));
    found.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    let record = world.record().await;
    assert_eq!((record.status, record.attempt.get()), (Status::Completed, 2));
    let asked: Vec<_> = world.stack.provider_proxy().requests().into_iter().map(|request| request.operation).collect();
    assert_eq!(asked, ["POST /v1/charges", "GET /v1/charges/by-key/order-42"], "the charge is not made again");
    let location = found.headers["location"].to_str().unwrap();
    assert_eq!(world.get(location, "tenant-7").await.json(), found.json(), "what was left to do is done");
    world.stop().await;
}

async fn a_lost_request_to_charge_runs_again(kind: HttpKind) {
    let world = lost(kind, Behaviour { fail_before_charging: 1, ..Behaviour::default() }).await;
    let charged = world.charge(&Charge::new("order-42")).await;
    assert_eq!((charged.status, world.charges()), (201, 1));
    charged.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    world.stop().await;
}
