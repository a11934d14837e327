//! Orders: three steps, what takes them back, and the event that tells of them.

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{RelayOptions, Stack};
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Rule},
    keyed_service,
    lambda::Logs,
    payment_provider::Behaviour,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    effects_world::TENANT,
    policy::Policy,
    world::{PATIENCE, World},
};

const SKU: &str = "sku-1";

impl World {
    async fn with_stock() -> Self {
        let world = Self::start().await;
        world.fill_stock(SKU, 5).await;
        world
    }

    pub(crate) fn refuse_shipments(&self, refuse: u32) {
        self.stack.carrier().set_behaviour(keyed_service::Behaviour { refuse, ..Default::default() });
    }

    /// How many charges were made, given back, and how much is left in stock.
    async fn books(&self) -> (usize, usize, u64) {
        (self.charges(), self.stack.provider().refunds().len(), self.in_stock(SKU).await)
    }
}

#[tokio::test]
async fn an_order_is_placed_once_and_its_event_reaches_the_bus_with_its_id() {
    let world = World::with_stock().await;
    let relay = world.stack.relay(RelayOptions { logs: Logs::Discard, ..RelayOptions::default() }).await.unwrap();
    let first = world.order("o-1", SKU).await;
    assert_eq!(first.status, 201, "{first:?}");
    Policy::of("PaymentsApi").assert_allows(&world.stack.proxy().requests(), &["PutItem", "TransactWriteItems"]);
    // Claim, a row for each step and one before each that can be undone, and the order with its event; the reservation is the function's
    // own transaction.
    let operations: Vec<_> = world.stack.proxy().requests().into_iter().map(|request| request.operation).collect();
    let reserve = ["PutItem", "TransactWriteItems", "PutItem"];
    let rest = ["PutItem", "PutItem", "PutItem", "TransactWriteItems"];
    assert_eq!(operations, [&["PutItem"][..], &reserve, &rest].concat(), "no read is made for steps");
    world.stack.proxy().clear_requests();
    first.assert_replayed_by(&world.order("o-1", SKU).await);
    assert_eq!(world.stack.proxy().requests().len(), 1);
    assert_eq!(world.books().await, (1, 0, 3));
    assert_eq!(world.record().await.status, Status::Completed);
    let [order] = &world.items("shop-orders").await[..] else { panic!("there is one order") };
    assert_eq!(order["order_id"], first.json()["id"]);

    let received = async || relay.bus_events().messages().into_iter().next();
    let event: Value = serde_json::from_str(&eventually(PATIENCE, received).await.unwrap().body).unwrap();
    assert_eq!((&event["source"], &event["detail-type"]), (&"com.example.shop".into(), &"OrderPlaced".into()));
    let detail = &event["detail"];
    assert_eq!(detail["order_id"], first.json()["id"]);
    assert_eq!(detail["idempotencyKey"], detail["outboxEventId"], "what a receiver knows it by");
    relay.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn an_item_that_no_order_can_name_is_not_stocked() {
    let world = World::start().await;
    let headers = [("x-tenant-id", TENANT), ("content-type", "application/json")];
    let refused = world.send(Method::PUT, "/stock/sku.1", &headers, br#"{"available":5}"#.to_vec()).await;
    assert_eq!((refused.status, refused.problem().as_str()), (400, "request-invalid"), "{refused:?}");
    assert_eq!(world.items("stock").await.len(), 0);
    world.stop().await;
}

#[tokio::test]
async fn what_is_not_in_stock_is_refused_before_anything_is_charged() {
    let world = World::start().await;
    world.fill_stock(SKU, 1).await;
    let refused = world.order("o-1", SKU).await;
    assert_eq!(refused.status, 410, "{refused:?}");
    assert_eq!(world.books().await, (0, 0, 1));
    refused.assert_replayed_by(&world.order("o-1", SKU).await);
    world.stop().await;
}

#[tokio::test]
async fn an_order_that_nobody_can_send_is_refused_before_its_key_is_claimed() {
    let world = World::with_stock().await;
    let order = json!({
        "sku": SKU, "quantity": 2, "amount": 4200, "currency": "EUR", "customer": "cus_42", "address": "1 Tea Street",
    });
    let too_long = "a".repeat(257);
    for (member, value) in [
        ("quantity", json!(0)),
        ("quantity", json!(10_001)),
        ("address", json!("")),
        ("address", json!("1 Tea\nStreet")),
        ("address", json!(too_long)),
    ] {
        let mut order = order.clone();
        order[member] = value;
        let refused = world.post("/orders", "o-1", &order).await;
        assert_eq!((refused.status, refused.problem().as_str()), (400, "request-invalid"), "{order}");
        assert!(refused.json()["detail"].as_str().unwrap().starts_with(member), "{refused:?}");
    }
    assert_eq!((world.records().await.len(), world.books().await), (0, (0, 0, 5)));
    // So the key is still free for what was meant.
    assert_eq!(world.post("/orders", "o-1", &order).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn another_carrier_takes_the_place_of_the_stand_in_by_its_variable() {
    let carrier = keyed_service::KeyedService::start().await.unwrap();
    let world = World::with(idempotency_cli::StackOptions::default().env("CARRIER_URL", carrier.url())).await;
    world.fill_stock(SKU, 5).await;
    assert_eq!(world.order("o-1", SKU).await.status, 201);
    assert_eq!((carrier.ledger().len(), world.stack.carrier().ledger().len()), (1, 0));
    world.stop().await;
    carrier.stop().await;
}

#[tokio::test]
async fn a_declined_card_gives_the_stock_back() {
    let world = World::with_stock().await;
    world.provider(Behaviour { decline: 1, ..Behaviour::default() });
    let declined = world.order("o-1", SKU).await;
    assert_eq!(declined.status, 402, "{declined:?}");
    assert_eq!(world.books().await, (0, 0, 5));
    assert_eq!(world.record().await.status, Status::Failed);
    declined.assert_replayed_by(&world.order("o-1", SKU).await);
    world.stop().await;
}

#[tokio::test]
async fn an_order_that_the_carrier_refuses_is_undone_the_last_step_first() {
    let world = World::with_stock().await;
    world.refuse_shipments(1);
    let refused = world.order("o-1", SKU).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert_eq!(world.books().await, (1, 1, 5));
    let requests = world.stack.proxy().requests();
    Policy::of("PaymentsApi").assert_allows(&requests, &["GetItem", "PutItem", "TransactWriteItems"]);
    let undone: Vec<_> = requests.iter().filter(|request| request.body["Item"]["kind"]["S"] == "undone").collect();
    let names: Vec<_> = undone.iter().map(|request| request.body["Item"]["name"]["S"].as_str().unwrap()).collect();
    assert_eq!(names, ["charge-card", "reserve-stock"]);
    assert_eq!((world.items("shop-orders").await.len(), world.staged_events().await.len()), (0, 0));
    // The carrier would take it now; the order has failed for good.
    refused.assert_replayed_by(&world.order("o-1", SKU).await);
    assert_eq!(world.order("o-2", SKU).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn a_step_that_cannot_be_undone_now_is_undone_by_the_next_request() {
    let world = World::with_stock().await;
    world.refuse_shipments(1);
    world.provider(Behaviour { turn_away_refunds: 2, ..Behaviour::default() });
    for _ in 0..2 {
        let undoing = world.order("o-1", SKU).await;
        assert_eq!((undoing.status, undoing.problem().as_str()), (503, "undoing"), "{undoing:?}");
        assert!(undoing.headers.contains_key("retry-after"));
        assert_eq!(world.record().await.status, Status::Compensating);
        assert_eq!(world.books().await, (1, 0, 3));
    }
    // Its lease was ended by the attempt itself: nothing is waited for.
    let failed = world.order("o-1", SKU).await;
    assert_eq!((failed.status, world.books().await), (422, (1, 1, 5)));
    let again = world.order("o-1", SKU).await;
    assert_eq!((again.status, &again.body, again.is_replay()), (422, &failed.body, true));
    world.stop().await;
}

#[tokio::test]
async fn a_step_that_cannot_be_undone_at_all_is_stuck_and_seen() {
    let world = World::with_stock().await;
    world.refuse_shipments(1);
    world.provider(Behaviour { refuse_refunds: 1, ..Behaviour::default() });
    let stuck = world.order("o-1", SKU).await;
    assert_eq!((stuck.status, stuck.problem().as_str()), (500, "compensation-stuck"), "{stuck:?}");
    assert_eq!(world.books().await, (1, 0, 3));
    let record = world.record().await;
    assert_eq!(record.status, Status::Stuck);
    assert!(world.log().contains("CompensationStuck"));
    // It stays so, and nothing is written.
    let again = world.order("o-1", SKU).await;
    assert_eq!((again.status, again.body), (stuck.status, stuck.body));
    assert_eq!(world.record().await, record);
    world.stop().await;
}

/// What `docs/guide/http.md` tells an operator to do about a stuck record.
async fn resolve(world: &World, next: &str) {
    let key = AttributeValue::S(world.record().await.key.as_str().to_owned());
    let update = world.stack.dynamodb().update_item().table_name(Stack::TABLE).key("pk", key);
    let update = update.key("sk", AttributeValue::S("claim".to_owned())).update_expression("SET #status = :next");
    let update = update.condition_expression("#status = :stuck").expression_attribute_names("#status", "status");
    let update = update.expression_attribute_values(":stuck", AttributeValue::S("stuck".to_owned()));
    update.expression_attribute_values(":next", AttributeValue::S(next.to_owned())).send().await.unwrap();
}

#[tokio::test]
async fn a_stuck_order_that_an_operator_lets_go_on_is_undone_and_its_failure_is_the_answer() {
    let world = World::with_stock().await;
    world.refuse_shipments(1);
    world.provider(Behaviour { refuse_refunds: 1, ..Behaviour::default() });
    assert_eq!(world.order("o-1", SKU).await.problem(), "compensation-stuck");
    resolve(&world, "compensating").await;
    world.end_the_lease().await;
    let failed = world.order("o-1", SKU).await;
    assert_eq!((failed.status, world.books().await), (422, (1, 1, 5)), "{failed:?}");
    assert_eq!(world.record().await.status, Status::Failed);
    world.stop().await;
}

#[tokio::test]
async fn a_stuck_order_that_an_operator_has_undone_by_hand_gives_its_failure() {
    let world = World::with_stock().await;
    world.refuse_shipments(1);
    world.provider(Behaviour { refuse_refunds: 1, ..Behaviour::default() });
    assert_eq!(world.order("o-1", SKU).await.problem(), "compensation-stuck");
    resolve(&world, "failed").await;
    let failed = world.order("o-1", SKU).await;
    assert_eq!((failed.status, failed.is_replay()), (422, true), "{failed:?}");
    assert_eq!(world.books().await, (1, 0, 3), "nothing ran");
    world.stop().await;
}

#[tokio::test]
async fn a_released_attempt_goes_on_behind_its_steps() {
    let world = World::with_stock().await;
    world.stack.carrier().set_behaviour(keyed_service::Behaviour { turn_away: 1, ..Default::default() });
    let told = world.order("o-1", SKU).await;
    assert_eq!((told.status, told.problem().as_str()), (503, "retryable"), "{told:?}");
    world.stack.proxy().clear_requests();
    assert_eq!(world.order("o-1", SKU).await.status, 201);
    let operations: Vec<_> = world.stack.proxy().requests().into_iter().map(|request| request.operation).collect();
    // Refused, resumed, the steps read at once, the shipment's row, the end.
    assert_eq!(operations, ["PutItem", "PutItem", "Query", "PutItem", "TransactWriteItems"]);
    assert_eq!(world.books().await, (1, 0, 3));
    world.stop().await;
}

#[tokio::test]
async fn without_protection_an_order_is_placed_and_only_one_with_a_claim_is_undone() {
    for mode in ["off", "shadow"] {
        let options = idempotency_cli::StackOptions::default().env("IDEMPOTENCY_MODE", mode);
        let world = World::with(options).await;
        world.fill_stock(SKU, 5).await;
        assert_eq!(world.order("o-1", SKU).await.status, 201, "{mode}");
        assert_eq!((world.items("shop-orders").await.len(), world.staged_events().await.len()), (1, 1));
        world.refuse_shipments(1);
        // Without a claim nothing is taken back, for it may be what another request has done, and the caller is not told that all is as it was.
        let (status, books) = if mode == "off" { (500, (2, 0, 1)) } else { (422, (2, 1, 3)) };
        assert_eq!(world.order("o-2", SKU).await.status, status, "{mode}");
        assert_eq!(world.books().await, books, "{mode}");
        world.stop().await;
    }
}

#[tokio::test]
async fn a_staged_order_that_is_not_stored_is_told_and_the_next_attempt_stores_it() {
    let world = World::with_stock().await;
    let ends =
        |request: &idempotency_testkit::fault_proxy::ProxiedRequest| request.body.to_string().contains("outbox#");
    world.stack.proxy().inject(Rule::on("TransactWriteItems").when(ends).forever().fault(Fault::Throttle));
    let options_time_out = world.order("o-1", SKU).await;
    assert_eq!((options_time_out.status, options_time_out.problem().as_str()), (503, "not-committed"));
    assert_eq!((world.items("shop-orders").await.len(), world.staged_events().await.len()), (0, 0));
    world.stack.proxy().clear_rules();
    world.end_the_lease().await;
    assert_eq!(world.order("o-1", SKU).await.status, 201);
    assert_eq!((world.books().await, world.staged_events().await.len()), ((1, 0, 3), 1));
    world.stop().await;
}
