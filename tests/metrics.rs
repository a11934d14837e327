//! Metrics, as CloudWatch reads them out of the log of real functions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
};

use futures::future::{join, join_all};
use idempotency_cli::{Stack, StackOptions};
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Rule},
    function_binary, keyed_service,
    lambda::{Function, LogLine},
    payment_provider::Behaviour,
};
use lambda_idempotency::metrics::{CLOUDWATCH_NAMESPACE, Metric, MetricKind};
use serde_json::{Value, json};

use crate::{
    event_world::EventWorld,
    queue_world::{QueueWorld, claim, document},
    world::{Charge, PATIENCE, World},
};

/// The alarms and the dashboard are checked against it.
const LISTED: &str = include_str!("../infra/metrics.json");

/// Name, unit and dimensions of a metric.
type Shape = (String, String, Vec<String>);

/// What a function has told CloudWatch: each value with its shape and its operation.
#[derive(Default)]
struct Told(Vec<(Shape, Option<String>, f64)>);

impl Told {
    fn by(function: &Function) -> Self {
        Self::read(&function.logs())
    }

    fn read(logs: &[LogLine]) -> Self {
        let documents = logs.iter().filter(|line| line.text.starts_with(r#"{"_aws":"#));
        Self(documents.flat_map(|line| values(&serde_json::from_str(&line.text).unwrap())).collect())
    }

    /// The sum of each counter of an operation, and of all of them together where none is named.
    fn counts(&self, operation: Option<&str>) -> BTreeMap<String, u64> {
        let counters: BTreeSet<_> = kinds(MetricKind::Count);
        let mut counts = BTreeMap::new();
        for ((name, _, _), of, value) in &self.0 {
            if counters.contains(name.as_str()) && of.as_deref() == operation {
                *counts.entry(name.clone()).or_default() += *value as u64;
            }
        }
        counts
    }

    fn values(&self, metric: Metric) -> Vec<f64> {
        let of_all = self.0.iter().filter(|((name, ..), of, _)| name == metric.name() && of.is_none());
        of_all.map(|(.., value)| *value).collect()
    }

    fn shapes(self) -> BTreeSet<Shape> {
        self.0.into_iter().map(|(shape, ..)| shape).collect()
    }
}

/// Name, unit and value of all that a function has told.
pub(crate) fn told_values(logs: &[LogLine]) -> Vec<(String, String, f64)> {
    Told::read(logs).0.into_iter().map(|((name, unit, _), _, value)| (name, unit, value)).collect()
}

fn kinds(kind: MetricKind) -> BTreeSet<&'static str> {
    Metric::ALL.iter().filter(|metric| metric.kind() == kind).map(|metric| metric.name()).collect()
}

/// Reads one document of the embedded metric format, and checks what CloudWatch demands of it.
fn values(document: &Value) -> Vec<(Shape, Option<String>, f64)> {
    assert!(document["_aws"]["Timestamp"].as_u64().unwrap() > 1_700_000_000_000);
    let [directive] = &document["_aws"]["CloudWatchMetrics"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!(directive["Namespace"], CLOUDWATCH_NAMESPACE);
    let [dimensions] = &directive["Dimensions"].as_array().unwrap()[..] else { panic!("{document}") };
    let dimensions: Vec<String> =
        dimensions.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(dimensions.iter().all(|name| document[name].is_string()), "{document}");
    assert_eq!(document["Deployment"], Stack::NAMESPACE);
    let operation = document["Operation"].as_str().map(str::to_owned);
    let metrics = directive["Metrics"].as_array().unwrap().iter().flat_map(|metric| {
        let text = |member: &str| metric[member].as_str().unwrap().to_owned();
        let shape = (text("Name"), text("Unit"), dimensions.clone());
        let values = match &document[&shape.0] {
            Value::Array(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
            value => vec![value.as_f64().unwrap()],
        };
        assert!(!values.is_empty() && values.len() <= 100, "{document}");
        let operation = operation.clone();
        values.into_iter().map(move |value| (shape.clone(), operation.clone(), value)).collect::<Vec<_>>()
    });
    metrics.collect()
}

/// Waits until the function has told exactly these counts of an operation, and of all operations together.
async fn assert_counts(function: &Function, operation: &str, expected: &[(Metric, u64)]) -> Told {
    let expected: BTreeMap<_, _> = expected.iter().map(|(metric, count)| (metric.name().to_owned(), *count)).collect();
    let told = async || {
        let told = Told::by(function);
        (told.counts(Some(operation)) == expected && told.counts(None) == expected).then_some(told)
    };
    eventually(PATIENCE, told).await.unwrap_or_else(|_| {
        let told = Told::by(function);
        let logs: String = function.logs().iter().map(|line| format!("{line:?}\n")).collect();
        panic!("{:?} and {:?}, not {expected:?}\n{logs}", told.counts(Some(operation)), told.counts(None))
    })
}

async fn assert_charges(world: World, expected: &[(Metric, u64)]) -> Told {
    let told = assert_counts(world.stack.function(), "create-charge", expected).await;
    world.stop().await;
    told
}

async fn ordinary_requests() -> Told {
    let world = World::start().await;
    let charge = Charge::new("order-42");
    assert_eq!(world.charge(&charge).await.status, 201);
    for _ in 0..2 {
        assert!(world.charge(&charge).await.is_replay());
    }
    assert_eq!(world.charge(&charge.clone().amount(7)).await.status, 422);
    assert_eq!(world.charge(&charge.clone().keys(&[])).await.status, 400);
    assert_eq!(world.charge(&charge.clone().tenant(None)).await.status, 403);
    world.stack.proxy().inject(Rule::any().forever().fault(Fault::ErrorBefore));
    assert_eq!(world.charge(&Charge::new("order-43")).await.status, 503);
    world.stack.proxy().clear_rules();
    let stored = u64::try_from(world.record().await.result.map_or(0, |result| format!("{result:?}").len())).unwrap();
    assert!(stored > 0);
    let expected = [
        (Metric::Requests, 5),
        (Metric::Fresh, 1),
        (Metric::Replay, 2),
        (Metric::Mismatch, 1),
        (Metric::InvalidKey, 2),
        (Metric::StoreUnavailable, 1),
    ];
    let told = assert_charges(world, &expected).await;
    let (latencies, sizes) = (told.values(Metric::StoreLatency), told.values(Metric::RecordBytes));
    // Of each claim and completion, the one that failed and the one that gave it up too.
    assert_eq!((latencies.len(), sizes.len()), (7, 7), "{latencies:?} {sizes:?}");
    assert!(latencies.iter().all(|latency| *latency > 0.0 && *latency < 60_000.0), "{latencies:?}");
    assert!(sizes.iter().all(|bytes| (200.0..1000.0).contains(bytes)), "{sizes:?}");
    told
}

async fn failures() -> Told {
    let world = World::start().await;
    world.provider(Behaviour { turn_away: 1, ..Behaviour::default() });
    assert_eq!(world.charge(&Charge::new("order-1")).await.status, 503);
    world.charge_elsewhere("order-2", 1).await;
    assert_eq!(world.charge(&Charge::new("order-2")).await.status, 400);
    world.provider(Behaviour { fail_before_charging: 1, ..Behaviour::default() });
    assert_eq!(world.charge(&Charge::new("order-3")).await.status, 500);
    let expected =
        [(Metric::Requests, 3), (Metric::Fresh, 3), (Metric::Released, 1), (Metric::Failed, 1), (Metric::Abandoned, 1)];
    assert_charges(world, &expected).await
}

/// One attempt is late with its completion, another takes its key over meanwhile.
async fn a_takeover() -> Told {
    let world = World::start().await;
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let takeover = async {
        gate.reached().await;
        assert_eq!(world.charge(&charge).await.status, 409);
        world.end_the_lease().await;
        assert_eq!(world.charge(&charge).await.status, 201);
        gate.open();
    };
    let (late, ()) = join(world.charge(&charge), takeover).await;
    assert!(late.is_replay());
    let expected = [
        (Metric::Requests, 3),
        (Metric::Fresh, 2),
        (Metric::Conflict, 1),
        (Metric::Takeover, 1),
        (Metric::Superseded, 1),
    ];
    assert_charges(world, &expected).await
}

async fn an_unconfirmed_completion() -> Told {
    let world = World::start().await;
    let gate = world.hold(Status::Completed, 1);
    let deleted = async {
        gate.reached().await;
        world.delete_the_record().await;
        gate.open();
    };
    let (answer, ()) = join(world.charge(&Charge::new("order-42")), deleted).await;
    assert_eq!(answer.status, 201);
    let expected = [(Metric::Requests, 1), (Metric::Fresh, 1), (Metric::CompletionUnconfirmed, 1)];
    assert_charges(world, &expected).await
}

async fn an_uncertain_outcome() -> Told {
    let world = World::with_policy("reject").await;
    world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    world.end_the_lease().await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.problem(), "outcome-unknown");
    let expected = [(Metric::Requests, 2), (Metric::Fresh, 1), (Metric::Abandoned, 1), (Metric::Uncertain, 1)];
    assert_charges(world, &expected).await
}

async fn a_charge_that_a_probe_has_found() -> Told {
    let world = World::with_policy("probe").await;
    world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    world.end_the_lease().await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    let expected = [(Metric::Requests, 2), (Metric::Fresh, 1), (Metric::Abandoned, 1), (Metric::Replay, 1)];
    assert_charges(world, &expected).await
}

async fn without_protection() -> Told {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "off")).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.get("/charges/unknown", "tenant-7").await.status, 404);
    assert_charges(world, &[(Metric::Unprotected, 1)]).await
}

async fn shadowed() -> Told {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "shadow")).await;
    for _ in 0..2 {
        assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    }
    let expected = [(Metric::Requests, 2), (Metric::Fresh, 1), (Metric::Replay, 1), (Metric::Unprotected, 1)];
    assert_charges(world, &expected).await
}

async fn in_another_region() -> Told {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_HOME_REGION", "mars-north-1")).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.problem(), "misdirected");
    assert_charges(world, &[(Metric::Requests, 1), (Metric::Misdirected, 1)]).await
}

/// An order whose refund is refused, first for now and then for good.
async fn a_stuck_order() -> Told {
    let world = World::start().await;
    world.fill_stock("sku-1", 5).await;
    world.stack.carrier().set_behaviour(keyed_service::Behaviour { refuse: 1, ..Default::default() });
    world.provider(Behaviour { turn_away_refunds: 1, refuse_refunds: 1, ..Behaviour::default() });
    assert_eq!(world.order("o-1", "sku-1").await.problem(), "undoing");
    for _ in 0..2 {
        assert_eq!(world.order("o-1", "sku-1").await.problem(), "compensation-stuck");
    }
    let expected =
        [(Metric::Requests, 3), (Metric::Fresh, 1), (Metric::CompensationPending, 1), (Metric::CompensationStuck, 2)];
    let told = assert_counts(world.stack.function(), "place-order", &expected).await;
    world.stop().await;
    told
}

/// An order that fails for good where nothing protects it: what it did stays done.
async fn a_lost_compensation() -> Told {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "off")).await;
    world.fill_stock("sku-1", 5).await;
    world.stack.carrier().set_behaviour(keyed_service::Behaviour { refuse: 1, ..Default::default() });
    assert_eq!(world.order("o-1", "sku-1").await.problem(), "compensation-stuck");
    let expected = [(Metric::Unprotected, 1), (Metric::CompensationLost, 1)];
    let told = assert_counts(world.stack.function(), "place-order", &expected).await;
    world.stop().await;
    told
}

async fn transfers() -> Told {
    let options = StackOptions { timeout: std::time::Duration::from_secs(2), ..StackOptions::default() };
    let world = World::with_timeout(options).await;
    world.open_account("a", 1000).await;
    world.open_account("b", 0).await;
    world.stack.proxy().inject(Rule::on("TransactWriteItems").forever().fault(Fault::DropAfter));
    assert_eq!(world.transfer("t-1", "a", "b", 300).await.problem(), "not-committed");
    world.stack.proxy().clear_rules();
    assert!(world.transfer("t-1", "a", "b", 300).await.is_replay());
    assert_eq!(world.transfer("t-2", "a", "b", 300).await.status, 201);
    let body = json!({ "__type": "com.amazon.coral.validate#ValidationException", "message": "no" });
    world.stack.proxy().inject(Rule::on("TransactWriteItems").fault(Fault::Answer { status: 400, body }));
    assert_eq!(world.transfer("t-3", "a", "b", 300).await.problem(), "commit-refused");
    let expected = [
        (Metric::Requests, 4),
        (Metric::Uncommitted, 1),
        (Metric::Replay, 1),
        (Metric::Fresh, 1),
        (Metric::CommitRefused, 1),
    ];
    let told = assert_counts(world.stack.function(), "transfer", &expected).await;
    world.stop().await;
    told
}

async fn messages() -> Told {
    let world = QueueWorld::start().await;
    for number in 0..3 {
        world.send(&claim(&format!("claim-{number}"), &document(1)));
    }
    world.deleted(3).await;
    let expected = [(Metric::Requests, 3), (Metric::Fresh, 3)];
    // Its notifications have records and claims of their own, and are steps of the operation.
    let told = assert_counts(world.stack.function(), "take-in-claim", &expected).await;
    assert_eq!(told.values(Metric::BatchSize).iter().sum::<f64>(), 3.0);
    world.stop().await;
    told
}

#[tokio::test]
async fn each_outcome_is_counted_once_for_its_operation_and_once_for_all() {
    type Scene = futures::future::LocalBoxFuture<'static, Told>;
    let scenes: [Scene; 13] = [
        Box::pin(ordinary_requests()),
        Box::pin(failures()),
        Box::pin(a_takeover()),
        Box::pin(an_unconfirmed_completion()),
        Box::pin(an_uncertain_outcome()),
        Box::pin(a_charge_that_a_probe_has_found()),
        Box::pin(without_protection()),
        Box::pin(shadowed()),
        Box::pin(in_another_region()),
        Box::pin(a_stuck_order()),
        Box::pin(a_lost_compensation()),
        Box::pin(transfers()),
        Box::pin(messages()),
    ];
    let emitted: BTreeSet<Shape> = join_all(scenes).await.into_iter().flat_map(Told::shapes).collect();

    let listed: Value = serde_json::from_str(LISTED).unwrap();
    assert_eq!(listed["namespace"], CLOUDWATCH_NAMESPACE);
    let of_functions =
        listed["metrics"].as_array().unwrap().iter().filter(|metric| metric["emitted_by"] == "functions");
    let listed: BTreeSet<Shape> = of_functions
        .flat_map(|metric| {
            let text = |member: &str| metric[member].as_str().unwrap().to_owned();
            let sets = metric["dimension_sets"].as_array().unwrap().iter();
            sets.map(move |set| (text("name"), text("unit"), serde_json::from_value(set.clone()).unwrap()))
        })
        .collect();
    assert_eq!(emitted, listed, "what functions tell, and what infra/metrics.json says");
}

#[test]
fn the_list_of_metrics_says_what_the_code_says() {
    let listed: Value = serde_json::from_str(LISTED).unwrap();
    let listed = listed["metrics"].as_array().unwrap().iter().filter(|metric| metric["emitted_by"] == "functions");
    let listed: Vec<_> = listed.map(|metric| (metric["name"].clone(), metric["meaning"].clone())).collect();
    let known: Vec<_> =
        Metric::ALL.iter().map(|metric| (json!(metric.name()), json!(metric.description().trim()))).collect();
    assert_eq!(listed, known);
}

#[tokio::test]
async fn no_line_is_written_where_metrics_are_off() {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_METRICS", "off")).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert!(world.log().contains("outcome"), "{}", world.log());
    assert!(!world.log().contains("_aws"), "{}", world.log());
    world.stop().await;
}

#[tokio::test]
async fn a_function_with_an_unknown_choice_of_metrics_does_not_start_and_says_what_to_do() {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_METRICS", "on")).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    let said = async || {
        world.log().contains("IDEMPOTENCY_METRICS: \\\"on\\\" is no choice; say embedded or off").then_some(())
    };
    eventually(PATIENCE, said).await.unwrap_or_else(|_| panic!("{}", world.log()));
    world.stop().await;
}

#[tokio::test]
async fn a_batch_of_more_values_than_a_line_may_have_loses_none() {
    let world = EventWorld::start("sqs", &[]).await;
    let body = json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "Message": "not authorized" });
    // Batches are refused, so each record is claimed and completed by a request of its own.
    world.proxy.inject(Rule::on("BatchExecuteStatement").forever().fault(Fault::Answer { status: 400, body }));
    let records: Vec<_> = (0..150)
        .map(|number| json!({ "messageId": format!("m-{number}"), "eventSource": "aws:sqs", "body": json!({ "id": format!("order-{number}") }).to_string() }))
        .collect();
    let answer = world.deliver(&json!({ "Records": records })).await.unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    // Each claim and each completion is a request, besides those that were refused.
    let all_told = async || {
        let told = Told::by(&world.function);
        (told.values(Metric::StoreLatency).len() > 300 && told.values(Metric::RecordBytes).len() >= 300).then_some(())
    };
    eventually(PATIENCE, all_told).await.unwrap_or_else(|_| panic!("{}", world.log()));
    assert!(!world.log().contains("Failed to record"), "{}", world.log());
    world.stop().await;
}

#[tokio::test]
async fn a_log_that_takes_nothing_fails_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("event-fixture");
    let binary = function_binary("event-fixture").unwrap();
    // Every write to /dev/full fails ("full(4)", Linux manual).
    fs::write(&script, format!("#!/bin/sh\nexec '{}' >/dev/full 2>/dev/full\n", binary.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let world = EventWorld::start_binary(&script, "sqs", &[]).await;
    let event = json!({ "Records": [
        { "messageId": "m-1", "eventSource": "aws:sqs", "body": json!({ "id": "order-1" }).to_string() },
        { "messageId": "m-2", "eventSource": "aws:sqs", "body": "no JSON" },
    ] });
    for _ in 0..2 {
        let answer = world.deliver(&event).await.unwrap();
        assert_eq!(answer, json!({ "batchItemFailures": [{ "itemIdentifier": "m-2" }] }));
    }
    assert_eq!(world.run_count().await, 1);
    assert!(world.function.logs().is_empty());
    world.stop().await;
}
