//! Orders from an event bus: the view is that of each order's newest event, whatever comes twice, late or after a crash.

use std::{collections::HashMap, num::NonZeroU32, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{Stack, StackOptions};
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Gate, Rule},
    lambda::{AsyncInvoker, Logs},
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{policy::Policy, world::PATIENCE};

type Item = HashMap<String, AttributeValue>;

/// `order-events` behind its bus.
pub(crate) struct BusWorld {
    pub(crate) stack: Stack,
    http: reqwest::Client,
}

/// An order in the view.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    order_id: String,
    status: String,
    version: u64,
}

fn order(order_id: &str, status: &str, version: u64) -> Order {
    Order { order_id: order_id.to_owned(), status: status.to_owned(), version }
}

pub(crate) fn detail(order_id: &str, sequence: u64) -> Value {
    json!({
        "order_id": order_id, "customer_id": "cus-42", "amount": 4200, "currency": "EUR",
        "occurred_at": "2026-10-01T12:00:00Z", "sequence": sequence,
    })
}

impl BusWorld {
    pub(crate) async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = StackOptions {
            function: "order-events".to_owned(),
            timeout: PATIENCE,
            logs: Logs::Captured,
            // A conflict is an error, and what is in flight ends soon.
            retry_after: vec![Duration::from_millis(50); 100],
            ..StackOptions::default()
        };
        Self { stack: Stack::start(options).await.unwrap(), http: reqwest::Client::new() }
    }

    pub(crate) async fn stop(self) {
        self.stack.stop().await;
    }

    pub(crate) fn invoker(&self) -> &AsyncInvoker {
        self.stack.invoker().unwrap()
    }

    /// Puts an event on the bus.
    pub(crate) async fn put(&self, detail_type: &str, detail: &Value) {
        let event = json!({ "source": "com.example.orders", "detail-type": detail_type, "detail": detail });
        let response = self.http.post(format!("{}/events", self.stack.url())).json(&event).send().await.unwrap();
        assert_eq!(response.status(), 202);
    }

    /// Puts an event on the bus, and waits until it is done with.
    pub(crate) async fn followed(&self, detail_type: &str, detail: &Value) {
        self.put(detail_type, detail).await;
        self.drained().await;
    }

    /// Waits until every event is done with.
    pub(crate) async fn drained(&self) {
        timeout(PATIENCE, self.invoker().drained()).await.unwrap();
    }

    async fn orders(&self) -> Vec<Order> {
        let scan = self.stack.dynamodb().scan().table_name(Stack::ORDERS_TABLE).consistent_read(true);
        let items = scan.send().await.unwrap().items.unwrap();
        let text = |item: &Item, name: &str| item[name].as_s().unwrap().clone();
        let version = |item: &Item| item["version"].as_n().unwrap().parse().unwrap();
        let mut orders: Vec<_> = items
            .iter()
            .map(|item| Order {
                order_id: text(item, "order_id"),
                status: text(item, "status"),
                version: version(item),
            })
            .collect();
        orders.sort_by(|a, b| a.order_id.cmp(&b.order_id));
        orders
    }

    /// Writes of orders so far.
    fn writes(&self) -> usize {
        let requests = self.stack.proxy().requests();
        requests.iter().filter(|request| request.table.as_deref() == Some(Stack::ORDERS_TABLE)).count()
    }

    fn dead_letters(&self) -> usize {
        self.stack.dead_letters().unwrap().counts().total()
    }
}

#[tokio::test]
async fn an_event_that_is_delivered_twice_is_followed_once() {
    let world = BusWorld::start().await;
    world.stack.bus().duplicate_every(Some(NonZeroU32::MIN));
    world.followed("OrderPlaced", &detail("o-1", 1)).await;
    assert_eq!(world.stack.bus().counts().delivered, 2);
    assert_eq!(world.invoker().counts().succeeded, 2);
    assert_eq!(world.orders().await, [order("o-1", "placed", 1)]);
    assert_eq!(world.writes(), 1);
    let records = world.stack.records().all().await.unwrap();
    assert_eq!((records.len(), records[0].status), (1, Status::Completed));
    world.stop().await;
}

#[tokio::test]
async fn an_event_that_is_put_twice_under_one_key_is_followed_once() {
    let world = BusWorld::start().await;
    let mut detail = detail("o-1", 1);
    detail["idempotencyKey"] = "o-1-placed".into();
    world.followed("OrderPlaced", &detail).await;
    world.followed("OrderPlaced", &detail).await;
    assert_eq!((world.invoker().counts().succeeded, world.writes()), (2, 1));
    world.stop().await;
}

#[tokio::test]
async fn an_older_event_never_overwrites_a_newer_one() {
    let world = BusWorld::start().await;
    world.followed("OrderPlaced", &detail("o-1", 1)).await;
    world.followed("OrderCancelled", &detail("o-1", 3)).await;
    world.followed("OrderPaid", &detail("o-1", 2)).await;
    // Another event of the same number: the first one stays.
    world.followed("OrderPaid", &detail("o-1", 3)).await;
    // Numbers, not texts, are compared; and each order for itself.
    world.followed("OrderPlaced", &detail("o-2", 9)).await;
    world.followed("OrderPaid", &detail("o-2", 10)).await;
    assert_eq!(world.orders().await, [order("o-1", "cancelled", 3), order("o-2", "paid", 10)]);
    assert_eq!((world.invoker().counts().succeeded, world.dead_letters()), (6, 0));
    Policy::of("OrderEvents").assert_allows(&world.stack.proxy().requests(), &["PutItem"]);
    world.stop().await;
}

#[tokio::test]
async fn an_attempt_that_dies_after_its_write_and_runs_again_later_undoes_nothing() {
    let world = BusWorld::start().await;
    let gate = Gate::new();
    let completion = Rule::on("PutItem").table(Stack::TABLE).when(|request| {
        let item = &request.body["Item"];
        item["status"]["S"] == "completed" && item["attempt"]["N"] == "1"
    });
    world.stack.proxy().inject(completion.fault(Fault::Hold(gate.clone())));
    world.put("OrderPlaced", &detail("o-1", 1)).await;
    timeout(PATIENCE, gate.reached()).await.unwrap();
    world.stack.function().sandboxes()[0].kill();
    // Its retries are conflicts as long as its lease runs. Meanwhile a newer event comes.
    world.put("OrderPaid", &detail("o-1", 2)).await;
    eventually(PATIENCE, async || (world.invoker().counts().succeeded == 1).then_some(())).await.unwrap();
    world.stack.records().end_leases().await.unwrap();
    world.drained().await;
    assert_eq!(world.invoker().counts().succeeded, 2);
    assert_eq!(world.orders().await, [order("o-1", "paid", 2)]);
    assert_eq!(world.writes(), 3, "the first, the newer one, and the first again, which changes nothing");
    assert_eq!(world.dead_letters(), 0);
    world.stop().await;
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_kept_among_the_dead_letters() {
    let world = BusWorld::start().await;
    world.followed("OrderPlaced", &json!({ "order_id": "o-1", "customer_id": "cus-42" })).await;
    assert_eq!((world.dead_letters(), world.invoker().counts().failed), (1, 1));
    assert_eq!((world.orders().await, world.writes()), (vec![], 0));
    assert_eq!(world.stack.records().all().await.unwrap(), []);
    // No rule is about this one.
    world.put("OrderShipped", &detail("o-1", 1)).await;
    assert_eq!(world.stack.bus().counts().delivered, 1);
    world.stop().await;
}
