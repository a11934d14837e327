//! Goal: each function's policy is enough, and not more. Method: a function goes all its ways (fresh, replayed, refused, waited for, lost,
//! taken over, undone, unprotected, with lost replies), and everything that it asks for on them is decided by its policy in `template.yaml`; what
//! the policy allows and nothing asked for is a fault of the template.
//!
//! The relay's test is with its world, in `outbox.rs`.

use idempotency_cli::{QueueOptions, StackOptions};
use idempotency_core::Status;
use idempotency_testkit::{
    fault_proxy::{Fault, RecordedRequest, Rule},
    payment_provider::Behaviour,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    effects_world::TENANT,
    order_events::{BusWorld, detail},
    policy::Policy,
    queue_world::{QueueWorld, claim, document},
    world::{Charge, World},
};

impl World {
    async fn of(variables: &[(&str, &str)]) -> Self {
        let options = StackOptions::default();
        Self::with(variables.iter().fold(options, |options, (name, value)| options.env(name, value))).await
    }

    async fn put_json(&self, path: &str, body: &Value) {
        let headers = [("x-tenant-id", TENANT), ("content-type", "application/json")];
        let answer = self.send(Method::PUT, path, &headers, body.to_string().into_bytes()).await;
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    }

    async fn close(self) -> Vec<RecordedRequest> {
        let requests = self.stack.proxy().requests();
        self.stop().await;
        requests
    }
}

/// Charges under each policy for lost attempts and duplicates.
async fn charges() -> Vec<RecordedRequest> {
    let mut asked = Vec::new();
    for (on_abandoned, in_flight, mode) in [
        ("rerun", "wait", "enforce"),
        ("reject", "conflict", "enforce"),
        ("probe", "accepted", "enforce"),
        ("rerun", "conflict", "shadow"),
        ("rerun", "conflict", "off"),
    ] {
        let world =
            World::of(&[("ON_ABANDONED", on_abandoned), ("IN_FLIGHT", in_flight), ("IDEMPOTENCY_MODE", mode)]).await;
        // Fresh, with lost replies; replayed; another request.
        for nth in [1, 2] {
            world.fault_on_write(nth, 1, Fault::DropAfter);
        }
        let charge = Charge::new("c-1");
        let made = world.charge(&charge).await;
        assert_eq!(made.status, 201, "{made:?}");
        world.charge(&charge).await;
        world.charge(&charge.clone().amount(7)).await;
        world.get(made.headers["location"].to_str().unwrap(), TENANT).await;
        world.get("/charges/idempotency/create-charge/c-1", TENANT).await;
        // A duplicate of one that is at work.
        if mode == "enforce" {
            let gate = world.hold(Status::Completed, 1);
            let charge = Charge::new("c-2");
            let duplicate = async {
                gate.reached().await;
                let release = async {
                    if in_flight == "wait" {
                        world
                            .asked(|request| {
                                request.operation == "GetItem" && request.table.as_deref() == Some("idempotency")
                            })
                            .await;
                    }
                    gate.open();
                };
                futures::future::join(world.charge(&charge), release).await;
            };
            futures::future::join(world.charge(&charge), duplicate).await;
            world.stack.proxy().clear_rules();
        }
        // One that is declined, and one that is turned away and comes again.
        world.provider(Behaviour { decline: 1, ..Behaviour::default() });
        world.charge(&Charge::new("c-3")).await;
        world.provider(Behaviour { turn_away: 1, ..Behaviour::default() });
        world.charge(&Charge::new("c-4")).await;
        world.charge(&Charge::new("c-4")).await;
        // Two lost ones: before and after the provider charged.
        for (key, behaviour) in [
            ("c-5", Behaviour { fail_before_charging: 1, ..Behaviour::default() }),
            ("c-6", Behaviour { fail_after_charging: 1, ..Behaviour::default() }),
        ] {
            world.provider(behaviour);
            world.charge(&Charge::new(key)).await;
            world.stack.records().end_leases().await.unwrap();
            world.charge(&Charge::new(key)).await;
        }
        // And one long ago.
        world.stack.records().end_storage_ttls().await.unwrap();
        world.charge(&charge).await;
        asked.extend(world.close().await);
    }
    asked
}

/// Transfers, which are atomic.
async fn transfers() -> Vec<RecordedRequest> {
    let mut asked = Vec::new();
    for mode in ["enforce", "shadow", "off"] {
        let world = World::of(&[("IDEMPOTENCY_MODE", mode)]).await;
        world.put_json("/accounts/a", &json!({ "balance": 1000 })).await;
        world.put_json("/accounts/b", &json!({ "balance": 0 })).await;
        world.balance("a").await;
        world.stack.proxy().inject(Rule::on("TransactWriteItems").fault(Fault::DropAfter));
        for (key, from, to, amount) in [
            ("t-1", "a", "b", 300),
            ("t-1", "a", "b", 300),
            ("t-1", "a", "b", 301),
            ("t-2", "b", "a", 5000),
            ("t-2", "b", "a", 5000),
            ("t-3", "x", "a", 1),
            ("t-4", "a", "a", 1),
        ] {
            world.transfer(key, from, to, amount).await;
        }
        world.stack.records().end_storage_ttls().await.unwrap();
        world.transfer("t-1", "a", "b", 300).await;
        asked.extend(world.close().await);
    }
    asked
}

/// Orders, which have steps, what undoes them, and an event.
async fn orders() -> Vec<RecordedRequest> {
    let mut asked = Vec::new();
    for mode in ["enforce", "shadow", "off"] {
        let world = World::of(&[("IDEMPOTENCY_MODE", mode)]).await;
        world.put_json("/stock/sku-1", &json!({ "available": 100 })).await;
        world.stack.proxy().inject(Rule::on("TransactWriteItems").nth(2).fault(Fault::DropAfter));
        world.order("o-1", "sku-1").await;
        world.order("o-1", "sku-1").await;
        // Refused by the carrier, and undone; by the provider; for want of stock.
        world.refuse_shipments(1);
        world.order("o-2", "sku-1").await;
        world.provider(Behaviour { decline: 1, ..Behaviour::default() });
        world.order("o-3", "sku-1").await;
        world.order("o-4", "sku-2").await;
        // Undone by the next request, and not at all.
        for (key, behaviour) in [
            ("o-5", Behaviour { turn_away_refunds: 1, ..Behaviour::default() }),
            ("o-6", Behaviour { refuse_refunds: 1, ..Behaviour::default() }),
        ] {
            world.refuse_shipments(1);
            world.provider(behaviour);
            world.order(key, "sku-1").await;
            world.order(key, "sku-1").await;
        }
        // Lost after two steps, and taken over.
        world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
        world.order("o-7", "sku-1").await;
        world.stack.records().end_leases().await.unwrap();
        world.order("o-7", "sku-1").await;
        asked.extend(world.close().await);
    }
    asked
}

#[tokio::test]
async fn payments_api_asks_for_exactly_what_its_policy_allows() {
    let asked = [charges().await, transfers().await, orders().await].concat();
    Policy::of("PaymentsApi").assert_is_exactly(&asked);
}

/// A claim that comes again, because the table of chunks was down, and takes up the summary that was made.
async fn claim_that_comes_again() -> Vec<RecordedRequest> {
    let world = QueueWorld::start().await;
    world.stack.proxy().inject(Rule::on("BatchWriteItem").forever().fault(Fault::Throttle));
    world.send(&claim("CLM-0", &document(3)));
    world.returned(1).await;
    world.stack.proxy().clear_rules();
    world.come_again();
    world.deleted(1).await;
    let asked = world.stack.proxy().requests();
    world.stop().await;
    asked
}

#[tokio::test]
async fn claims_intake_asks_for_exactly_what_its_policy_allows() {
    let mut asked = claim_that_comes_again().await;
    for mode in ["enforce", "shadow", "off"] {
        let options = QueueWorld::options(QueueOptions { max_receives: 4, ..QueueOptions::default() });
        let world = QueueWorld::with_options(options.env("IDEMPOTENCY_MODE", mode)).await;
        // Batches, of new claims, known ones, others under the same id, and nonsense, with lost replies.
        for operation in ["BatchExecuteStatement", "TransactWriteItems", "PutItem"] {
            world.stack.proxy().inject(Rule::on(operation).fault(Fault::DropAfter));
        }
        for _ in 0..2 {
            for number in 0..10 {
                world.send(&claim(&format!("CLM-{number}"), &document(1)));
            }
            world.send_under("another key", &claim("CLM-1", &document(1)));
            world.send(&claim("CLM-2", &document(2)));
            world.send(&claim("CLM-empty", " "));
        }
        world.emptied().await;
        asked.extend(world.stack.proxy().requests());
        world.stop().await;
    }
    Policy::of("ClaimsIntake").assert_is_exactly(&asked);
}

#[tokio::test]
async fn order_events_asks_for_exactly_what_its_policy_allows() {
    let world = BusWorld::start().await;
    for operation in [1, 2, 3] {
        world.stack.proxy().inject(Rule::on("PutItem").nth(operation).fault(Fault::DropAfter));
    }
    let mut placed = detail("o-1", 1);
    placed["idempotencyKey"] = "placed".into();
    // Fresh, replayed, under the key of another, older than what is there, and unreadable.
    world.followed("OrderPlaced", &placed).await;
    world.followed("OrderPlaced", &placed).await;
    world.put("OrderPaid", &placed).await;
    world.followed("OrderPaid", &detail("o-1", 3)).await;
    world.followed("OrderPaid", &detail("o-1", 2)).await;
    world.followed("OrderPlaced", &json!({ "order_id": "o-1" })).await;
    // One that fails halfway.
    world
        .stack
        .proxy()
        .inject(Rule::on("PutItem").table(idempotency_cli::Stack::ORDERS_TABLE).times(3).fault(Fault::ErrorBefore));
    world.put("OrderCancelled", &detail("o-1", 4)).await;
    world.stack.records().end_leases().await.unwrap();
    world.drained().await;
    Policy::of("OrderEvents").assert_is_exactly(&world.stack.proxy().requests());
    world.stop().await;
}
