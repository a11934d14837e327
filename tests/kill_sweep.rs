//! SIGKILL before and after every single request that a route of payments-api makes, to its store, its provider and its carrier. What was on
//! its way then arrives when all is over.

use std::collections::BTreeSet;

use futures::future::join;
use idempotency_core::{Record, Status};
use idempotency_dynamodb::attribute;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, FaultProxy, Gate, RecordedRequest, Rule},
    keyed_service,
    lambda::Sandbox,
};

use crate::{
    effects_world::stock_of,
    world::{Answer, Charge, PATIENCE, World},
};

/// What is sent, and what must be true in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Charge,
    Transfer,
    Order,
    /// An order that the carrier refuses after the card was charged.
    RefusedOrder,
}

impl Route {
    /// What it needs, under a name of its own.
    async fn prepare(self, world: &World, name: &str) {
        match self {
            Self::Charge => {}
            Self::Transfer => {
                world.open_account(&format!("{name}-a"), 1000).await;
                world.open_account(&format!("{name}-b"), 0).await;
            }
            Self::Order | Self::RefusedOrder => world.fill_stock(name, 5).await,
        }
    }

    async fn send(self, world: &World, name: &str) -> Answer {
        match self {
            Self::Charge => {
                let body = serde_json::json!({ "amount": 1200, "currency": "EUR", "customer": name });
                world.charge(&Charge::new(name).body(&body.to_string())).await
            }
            Self::Transfer => world.transfer(name, &format!("{name}-a"), &format!("{name}-b"), 300).await,
            Self::Order | Self::RefusedOrder => world.order(name, name).await,
        }
    }

    /// Asserts what one request under this name has done, and no more.
    async fn assert_done_once(self, world: &World, name: &str, answer: &Answer) {
        let charges: Vec<_> =
            world.stack.provider().ledger().into_iter().filter(|charge| charge.customer == name).collect();
        let refunds: Vec<_> = world.stack.provider().refunds();
        let refunds = refunds.iter().filter(|refund| charges.iter().any(|charge| charge.id == refund.charge)).count();
        let shipments = world.stack.carrier().ledger().iter().filter(|taken| taken.body["sku"] == name).count();
        let events = world.staged_events().await.iter().filter(|event| event["sku"] == name).count();
        let orders = world.items("shop-orders").await.iter().filter(|order| order["sku"] == name).count();
        let stock = stock_of(name);
        let reservations = world.items("stock").await.iter().filter(|item| item["of"] == *stock).count();
        match self {
            Self::Charge => {
                assert_eq!((answer.status, charges.len()), (201, 1));
                let kept = world.items("charges").await;
                assert_eq!(kept.iter().filter(|kept| kept["customer"] == name).count(), 1);
            }
            Self::Transfer => {
                assert_eq!(answer.status, 201);
                let balances = (world.balance(&format!("{name}-a")).await, world.balance(&format!("{name}-b")).await);
                assert_eq!(balances, (700, 300));
                let from = format!("{name}-a");
                assert_eq!(world.items("ledger").await.iter().filter(|entry| entry["from"] == from).count(), 1);
            }
            Self::Order => {
                assert_eq!(answer.status, 201, "{answer:?}");
                assert_eq!((charges.len(), refunds, shipments, orders, events), (1, 0, 1, 1, 1));
                assert_eq!((world.in_stock(name).await, reservations), (3, 1));
            }
            Self::RefusedOrder => {
                assert_eq!(answer.status, 422, "{answer:?}");
                assert_eq!((charges.len(), refunds, shipments, orders, events), (1, 1, 0, 0, 0));
                assert_eq!((world.in_stock(name).await, reservations), (5, 0));
            }
        }
    }

    /// Asserts that what commits with the record has done so if the record says so, and not otherwise, whatever has crashed.
    async fn assert_whole(self, world: &World, name: &str, record: Option<&Record>) {
        let expected = usize::from(record.is_some_and(|record| record.status == Status::Completed));
        let of = async |table: &str, member: &str, value: &str| {
            world.items(table).await.iter().filter(|item| item[member] == value).count()
        };
        match self {
            Self::Charge => {}
            Self::Transfer => assert_eq!(of("ledger", "from", &format!("{name}-a")).await, expected),
            Self::Order | Self::RefusedOrder => {
                let events = world.staged_events().await.iter().filter(|event| event["sku"] == name).count();
                assert_eq!(
                    (of("shop-orders", "sku", name).await, events),
                    (expected, expected),
                    "of {name}: {record:?}"
                );
            }
        }
    }

    const fn ends(self) -> Status {
        match self {
            Self::RefusedOrder => Status::Failed,
            _ => Status::Completed,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Callee {
    Store,
    Provider,
    Carrier,
}

impl Callee {
    const ALL: [Self; 3] = [Self::Store, Self::Provider, Self::Carrier];

    const fn proxy(self, world: &World) -> &FaultProxy {
        match self {
            Self::Store => world.stack.proxy(),
            Self::Provider => world.stack.provider_proxy(),
            Self::Carrier => world.stack.carrier_proxy(),
        }
    }
}

/// What is stored of an order when it crashes.
#[derive(Debug)]
struct Crash {
    record: Option<Record>,
    /// Which steps are done, and which are undone.
    rows: Vec<(String, String)>,
    /// How many requests each callee had had.
    requests: [usize; 3],
}

impl Crash {
    /// Asserts that no request since then does again what was stored as done, or anything new once the failure was stored.
    fn assert_gone_on_behind(&self, world: &World) {
        let later = Callee::ALL.into_iter().zip(self.requests);
        let later: Vec<_> = later.flat_map(|(callee, known)| callee.proxy(world).requests().split_off(known)).collect();
        for (kind, step) in &self.rows {
            let again = later.iter().find(|request| carries_out(request) == Some((kind, step)));
            assert!(again.is_none(), "{kind} {step} is stored, and carried out again: {again:?} {self:?}");
        }
        let is_undone = |step: &str| self.rows.iter().any(|row| row.0 == "undone" && row.1 == step);
        assert!(is_undone("charge-card") || !is_undone("reserve-stock"), "the last step is undone first: {self:?}");
        if self.record.as_ref().is_some_and(|record| record.status == Status::Compensating) {
            let new = later.iter().find(|request| matches!(carries_out(request), Some(("step", _))));
            assert!(new.is_none(), "the failure is stored, and a step is carried out: {new:?} {self:?}");
        }
    }
}

/// Which step of an order a request carries out, or undoes.
fn carries_out(request: &RecordedRequest) -> Option<(&'static str, &'static str)> {
    let changes_stock = |member: &str| {
        request.table.as_deref() == Some("stock") && request.body["TransactItems"][0].get(member).is_some()
    };
    match request.operation.as_str() {
        "TransactWriteItems" if changes_stock("Put") => Some(("step", "reserve-stock")),
        "TransactWriteItems" if changes_stock("Delete") => Some(("undone", "reserve-stock")),
        "POST /v1/charges" => Some(("step", "charge-card")),
        "POST /v1/refunds" => Some(("undone", "charge-card")),
        "POST /v1/shipments" => Some(("step", "book-shipment")),
        _ => None,
    }
}

impl World {
    /// The partitions of the table of records.
    async fn partitions(&self) -> BTreeSet<String> {
        self.records().await.iter().map(|record| record.key.as_str().to_owned()).collect()
    }

    /// What is stored of the one request that was unknown before.
    async fn crashed(&self, known: &BTreeSet<String>) -> Crash {
        let records = self.records().await.into_iter();
        let record = records.filter(|record| !known.contains(record.key.as_str())).last();
        let beside = self.stack.records().beside().await.unwrap();
        let text = |item: &std::collections::HashMap<_, _>, name: &str| {
            let value: Option<&aws_sdk_dynamodb::types::AttributeValue> = item.get(name);
            value.and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
        };
        let new = beside.iter().filter(|item| !known.contains(&text(item, attribute::PK)));
        let rows = new.filter(|item| item.contains_key(attribute::KIND));
        let rows = rows.map(|item| (text(item, attribute::KIND), text(item, attribute::NAME))).collect();
        Crash { record, rows, requests: Callee::ALL.map(|callee| callee.proxy(self).requests().len()) }
    }

    fn clear_proxies(&self) {
        for callee in Callee::ALL {
            callee.proxy(self).clear_rules();
            callee.proxy(self).clear_requests();
        }
    }

    /// Kills the sandbox whose request is held at the gate.
    async fn kill_at(&self, gate: &Gate) {
        tokio::time::timeout(PATIENCE, gate.reached()).await.unwrap();
        let busy = async || self.stack.function().sandboxes().into_iter().find(Sandbox::is_busy);
        let sandbox = eventually(PATIENCE, busy).await.unwrap();
        sandbox.kill();
        sandbox.exited().await;
    }

    /// Repeats a request as its caller does, until the answer is definite. The end of a lease is not waited for.
    async fn until_definite(&self, route: Route, name: &str) -> Answer {
        for _ in 0..10 {
            let answer = route.send(self, name).await;
            if !matches!(answer.status, 409 | 500 | 502 | 503) {
                return answer;
            }
            self.stack.records().end_leases().await.unwrap();
        }
        panic!("{route:?} of {name} has no definite answer");
    }
}

async fn sweep(route: Route) -> usize {
    let world = World::start().await;
    if route == Route::RefusedOrder {
        let refuse = keyed_service::Behaviour { refuse: u32::MAX, ..Default::default() };
        world.stack.carrier().set_behaviour(refuse);
    }
    route.prepare(&world, "undisturbed").await;
    world.clear_proxies();
    let undisturbed = route.send(&world, "undisturbed").await;
    let requests = Callee::ALL.map(|callee| callee.proxy(&world).requests().len() as u64);
    route.assert_done_once(&world, "undisturbed", &undisturbed).await;
    let mut cases = 0;
    for (callee, requests) in Callee::ALL.into_iter().zip(requests) {
        for nth in 1..=requests {
            for is_applied in [false, true] {
                cases += 1;
                let name = format!("case-{cases}");
                route.prepare(&world, &name).await;
                let known = world.partitions().await;
                world.clear_proxies();
                let gate = Gate::new();
                let fault = if is_applied { Fault::HoldAfter(gate.clone()) } else { Fault::Hold(gate.clone()) };
                callee.proxy(&world).inject(Rule::any().nth(nth).fault(fault));
                let (answer, ()) = join(route.send(&world, &name), world.kill_at(&gate)).await;
                assert_eq!(answer.status, 500, "the platform's answer to a crash");
                let crash = world.crashed(&known).await;
                route.assert_whole(&world, &name, crash.record.as_ref()).await;
                world.stack.records().end_leases().await.unwrap();

                let definite = world.until_definite(route, &name).await;
                crash.assert_gone_on_behind(&world);
                let check = async || {
                    route.assert_done_once(&world, &name, &definite).await;
                    for _ in 0..2 {
                        let again = route.send(&world, &name).await;
                        assert!(again.is_replay(), "{callee:?} {nth} {is_applied}: {again:?}");
                        assert_eq!((again.status, &again.body), (definite.status, &definite.body));
                    }
                    route.assert_done_once(&world, &name, &definite).await;
                };
                check().await;
                // What was on its way arrives after all.
                let requests = || callee.proxy(&world).requests().into_iter();
                let held = async || requests().find(|request| request.fault.is_some());
                gate.open();
                eventually(PATIENCE, async || held().await.unwrap().status).await.unwrap();
                check().await;
            }
        }
    }
    assert!(world.records().await.iter().all(|record| record.status == route.ends()));
    world.stop().await;
    cases
}

#[tokio::test]
async fn a_charge_is_made_once_wherever_its_attempt_is_killed() {
    assert_eq!(sweep(Route::Charge).await, 2 * (3 + 1));
}

#[tokio::test]
async fn a_transfer_moves_money_once_wherever_its_attempt_is_killed() {
    assert_eq!(sweep(Route::Transfer).await, 2);
}

#[tokio::test]
async fn an_order_is_placed_once_wherever_its_attempt_is_killed() {
    // Claim, that reserving is begun, reservation and its row, that charging is begun and its row, the shipment's row, and the order with
    // its event.
    assert_eq!(sweep(Route::Order).await, 2 * (8 + 1 + 1));
}

#[tokio::test]
async fn an_order_that_is_refused_is_undone_once_wherever_its_attempt_is_killed() {
    // Claim, that reserving is begun, reservation and its row, that charging is begun and its row; that it is undone, two rows that say
    // what is, the reservation read and given back, the failure. The provider charges and gives back, the carrier refuses.
    assert_eq!(sweep(Route::RefusedOrder).await, 2 * (12 + 2 + 1));
}
