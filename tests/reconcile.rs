//! The nightly comparison: the real function over what real functions have done, with a bucket.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::Stack;
use idempotency_core::{Clock, SystemClock};
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, FaultProxy, Gate, Rule},
    function_binary,
    lambda::{Function, FunctionConfig, Logs},
    payment_provider::Behaviour,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    bucket::{BUCKET, Bucket, Trouble},
    metrics::told_values,
    policy::Policy,
    world::{Charge, PATIENCE, World},
};

const HOUR: i64 = 3_600_000;

/// The tables as `template.yaml` describes them.
const EFFECTS: &str = r#"[
    {"table": "charges", "business_key": ["idempotency_record"], "record": "idempotency_record", "created_at": "created_at", "operations": ["create-charge"]},
    {"table": "ledger", "business_key": ["idempotency_record"], "record": "idempotency_record", "created_at": "created_at", "operations": ["transfer"]},
    {"table": "shop-orders", "business_key": ["idempotency_record"], "record": "idempotency_record", "created_at": "created_at", "operations": ["place-order"]}
]"#;

struct Night {
    world: World,
    bucket: Bucket,
    proxy: FaultProxy,
    function: Function,
}

impl Night {
    /// A day's requests, two hours ago: ordinary ones, one that was declined, and one of each kind that does not fit.
    async fn after_a_day() -> Self {
        let world = World::start().await;
        for key in ["ordinary", "twice", "unknown", "without"] {
            assert_eq!(world.charge(&Charge::new(key)).await.status, 201);
        }
        world.provider(Behaviour { decline: 1, ..Behaviour::default() });
        assert_eq!(world.charge(&Charge::new("declined")).await.status, 402);
        world.open_account("a", 1000).await;
        world.open_account("b", 0).await;
        assert_eq!(world.transfer("t-1", "a", "b", 300).await.status, 201);
        world.fill_stock("sku-1", 5).await;
        assert_eq!(world.order("o-1", "sku-1").await.status, 201);
        let night = Self::begin(world).await;
        night.spoil().await;
        night
    }

    async fn begin(world: World) -> Self {
        let bucket = Bucket::start().await;
        let proxy = FaultProxy::start(world.stack.dynamodb_url()).await.unwrap();
        let config = FunctionConfig::new("reconcile", function_binary("reconcile").unwrap())
            .timeout(PATIENCE)
            .logs(Logs::Captured)
            .env("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint_url())
            .env("AWS_ENDPOINT_URL_S3", &bucket.url)
            .env("IDEMPOTENCY_TABLE", Stack::TABLE)
            .env("IDEMPOTENCY_NAMESPACE", Stack::NAMESPACE)
            .env("REPORT_URL", format!("s3://{BUCKET}/nightly"))
            .env("SEGMENTS", "2")
            .env("EFFECT_TABLES", EFFECTS);
        Self { world, bucket, proxy, function: Function::new(config).unwrap() }
    }

    /// Moves all that was done two hours back, and spoils some of it.
    async fn spoil(&self) {
        let (client, then) = (self.world.stack.dynamodb(), SystemClock.now().get() - 2 * HOUR);
        let number = |number: i64| AttributeValue::N(number.to_string());
        for record in self.world.records().await {
            let update =
                client.update_item().table_name(Stack::TABLE).key("pk", AttributeValue::S(record.key.as_str().into()));
            let update = update
                .key("sk", AttributeValue::S("claim".into()))
                .update_expression("SET epoch = :then, lease_until = :over");
            let update = update.expression_attribute_values(":then", number(then));
            update.expression_attribute_values(":over", number(then + 13_000)).send().await.unwrap();
        }
        for (table, key) in [("charges", "charge_id"), ("ledger", "entry_id"), ("shop-orders", "order_id")] {
            for item in client.scan().table_name(table).send().await.unwrap().items.unwrap() {
                let update = client.update_item().table_name(table).key(key, item[key].clone());
                let update = update.update_expression("SET created_at = :then");
                update.expression_attribute_values(":then", number(then)).send().await.unwrap();
            }
        }
        // A second charge under one record, as something that goes past the toolkit would make it.
        let twice = self.charge_of("twice").await;
        let put = client
            .put_item()
            .table_name("charges")
            .set_item(Some(twice))
            .item("charge_id", AttributeValue::S("ch_again".into()));
        put.send().await.unwrap();
        // One of another deployment that shares the table.
        let elsewhere = self.charge_of("twice").await;
        let put = client.put_item().table_name("charges").set_item(Some(elsewhere));
        let put = put.item("charge_id", AttributeValue::S("ch_elsewhere".into()));
        let record = AttributeValue::S("other#create-charge#v1#elsewhere".into());
        put.item("idempotency_record", record).send().await.unwrap();
        let unknown = self.charge_of("unknown").await;
        let delete = client.delete_item().table_name(Stack::TABLE).key("pk", unknown["idempotency_record"].clone());
        delete.key("sk", AttributeValue::S("claim".into())).send().await.unwrap();
        let without = self.charge_of("without").await;
        client.delete_item().table_name("charges").key("charge_id", without["charge_id"].clone()).send().await.unwrap();
    }

    /// The row of the charge that was made under a key.
    async fn charge_of(&self, key: &str) -> std::collections::HashMap<String, AttributeValue> {
        let entry =
            self.world.stack.provider().ledger().into_iter().find(|entry| entry.key.as_deref() == Some(key)).unwrap();
        let get =
            self.world.stack.dynamodb().get_item().table_name("charges").key("charge_id", AttributeValue::S(entry.id));
        get.send().await.unwrap().item.unwrap()
    }

    async fn invoke(&self) -> Value {
        let event = json!({ "source": "aws.events", "time": "2026-11-30T02:15:00Z" });
        let answer = self.function.invoke(event.to_string()).await;
        serde_json::from_slice(&answer.unwrap_or_else(|error| panic!("{error}: {:?}", self.function.logs()))).unwrap()
    }

    async fn kill(&self) {
        for sandbox in self.function.sandboxes() {
            sandbox.kill();
            sandbox.exited().await;
        }
    }

    /// How often the function has told its metrics so far, after it has told them at least once.
    async fn times_told(&self) -> usize {
        let told = async || {
            let told = told_values(&self.function.logs());
            let duplicates = told.iter().filter(|(name, ..)| name == "DuplicateEffects");
            let values: Vec<_> = duplicates.map(|(.., value)| *value).collect();
            assert!(values.iter().all(|value| *value == 1.0), "{values:?}");
            (!values.is_empty()).then_some(values.len())
        };
        eventually(PATIENCE, told).await.unwrap()
    }

    fn report(&self) -> Value {
        self.bucket.json("nightly/local/2026-11-30/report.json")
    }

    async fn end(self) {
        self.function.shutdown().await;
        self.proxy.stop().await;
        self.world.stop().await;
    }
}

fn assert_found(report: &Value) {
    let count = |kind: &str| report[kind]["count"].as_u64().unwrap();
    let kinds = ["duplicates", "overdue", "stuck", "effects_without_record", "records_without_effect", "unreadable"];
    assert_eq!(kinds.map(count), [1, 0, 0, 1, 1, 0], "{report:#}");
    assert_eq!(report["duplicates"]["examples"][0]["table"], "charges");
    assert!(report["duplicates"]["examples"][0]["items"].as_array().unwrap().contains(&json!("charge_id=ch_again")));
    assert_eq!(report["records_without_effect"]["examples"][0]["table"], "charges");
    assert_eq!(report["records"]["create-charge"], json!({ "completed": 4 }));
    let read: BTreeMap<_, _> = report["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| (table["name"].as_str().unwrap(), table["items"].as_u64().unwrap()))
        .collect();
    assert_eq!((read["charges"], read["ledger"], read["shop-orders"]), (5, 1, 1));
    assert_eq!(report["effects_of_other_namespaces"], 1);
}

#[tokio::test]
async fn what_does_not_fit_is_found_told_and_not_looked_for_again() {
    let night = Night::after_a_day().await;
    let answer = night.invoke().await;
    let report = "s3://reports/nightly/local/2026-11-30/report.json";
    assert_eq!(answer, json!({ "run": "2026-11-30", "state": "finished", "report": report }));
    assert_found(&night.report());
    assert_eq!(night.invoke().await, json!({ "run": "2026-11-30", "state": "finished_before" }));
    // Nothing but the report and the run's state is left in the bucket.
    assert_eq!(night.bucket.keys(), ["nightly/local/2026-11-30/report.json", "nightly/local/2026-11-30/state.json"]);

    let asked = night.proxy.requests();
    let calls = asked.iter().map(|request| (request.operation.clone(), request.body.clone()));
    Policy::of("Reconcile").assert_are_exactly(calls.chain(night.bucket.asked()));

    // Each metric of the run, once: those that are listed for the alarms, and no other.
    let listed: Value = serde_json::from_str(include_str!("../infra/metrics.json")).unwrap();
    let listed = listed["metrics"].as_array().unwrap().iter().filter(|metric| metric["emitted_by"] == "reconcile");
    let listed: BTreeSet<_> = listed
        .map(|metric| (metric["name"].as_str().unwrap().to_owned(), metric["unit"].as_str().unwrap().to_owned()))
        .collect();
    let told = async || {
        let told = told_values(&night.function.logs());
        (told.len() >= listed.len()).then_some(told)
    };
    let told = eventually(PATIENCE, told).await.unwrap();
    assert_eq!(told.iter().map(|(name, unit, _)| (name.clone(), unit.clone())).collect::<BTreeSet<_>>(), listed);
    let value = |wanted: &str| told.iter().filter(|(name, ..)| name == wanted).map(|(.., value)| *value).sum::<f64>();
    let counted =
        ["ReconciledWrites", "DuplicateEffects", "OverdueRecords", "EffectsWithoutRecord", "RecordsWithoutEffect"];
    assert_eq!(counted.map(value), [7.0, 1.0, 0.0, 1.0, 1.0]);
    night.end().await;
}

#[tokio::test]
async fn a_run_whose_process_is_killed_is_gone_on_with_and_finds_the_same() {
    for scan in [1, 4, 8] {
        let night = Night::after_a_day().await;
        let gate = Gate::new();
        night.proxy.inject(Rule::on("Scan").nth(scan).fault(Fault::Hold(gate.clone())));
        let killed = async {
            gate.reached().await;
            night.kill().await;
        };
        let (answer, ()) =
            futures::future::join(night.function.invoke("{\"time\": \"2026-11-30T02:00:00Z\"}"), killed).await;
        assert!(answer.is_err(), "{answer:?}");
        night.proxy.clear_rules();
        assert_eq!(night.invoke().await["state"], "finished");
        assert_found(&night.report());
        night.end().await;
    }
}

#[tokio::test]
async fn an_invocation_that_is_overtaken_ends_and_spoils_nothing() {
    let night = Night::after_a_day().await;
    let gate = Gate::new();
    night.proxy.inject(Rule::on("Scan").nth(1).fault(Fault::Hold(gate.clone())));
    let event = "{\"time\": \"2026-11-30T02:00:00Z\"}";
    let other = async {
        gate.reached().await;
        assert_eq!(night.invoke().await["state"], "finished");
        gate.open();
    };
    let (late, ()) = futures::future::join(night.function.invoke(event), other).await;
    let told = late.unwrap_err().to_string();
    assert!(told.contains("another invocation is at the same work"), "{told}");
    assert_found(&night.report());
    night.end().await;
}

#[tokio::test]
async fn a_lost_answer_of_any_write_of_the_state_is_not_taken_for_another_invocation() {
    let mut nth = 1;
    loop {
        let night = Night::after_a_day().await;
        let mut writes = 0;
        night.bucket.befall(Trouble::AnswerIsLost, move |_| {
            writes += 1;
            writes == nth
        });
        assert_eq!(night.invoke().await["state"], "finished", "write {nth}");
        assert_found(&night.report());
        assert_eq!(night.times_told().await, 1);
        let was_last = !night.bucket.has_befallen();
        night.end().await;
        if was_last {
            break;
        }
        nth += 1;
    }
    assert!(nth > 3, "what was read, what was compared, and the end");
}

#[tokio::test]
async fn what_was_found_is_told_although_the_process_dies_at_the_end() {
    for is_stored in [true, false] {
        let night = Night::after_a_day().await;
        let reached = Arc::new(Notify::new());
        let trouble = if is_stored { Trouble::StaysUnanswered } else { Trouble::StaysAway };
        night.bucket.befall(trouble(Arc::clone(&reached)), |state| {
            serde_json::from_slice::<Value>(state).unwrap()["finished_at"].is_number()
        });
        let killed = async {
            reached.notified().await;
            night.kill().await;
        };
        let event = "{\"time\": \"2026-11-30T02:00:00Z\"}";
        let (answer, ()) = futures::future::join(night.function.invoke(event), killed).await;
        assert!(answer.is_err(), "{answer:?}");
        assert_eq!(night.times_told().await, 1);
        let (state, times) = if is_stored { ("finished_before", 1) } else { ("finished", 2) };
        assert_eq!(night.invoke().await["state"], state);
        let told = async || (night.times_told().await == times).then_some(());
        eventually(PATIENCE, told).await.unwrap();
        assert_found(&night.report());
        night.end().await;
    }
}
