//! Runs over real tables, with a folder for a bucket.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_core::{
    AttemptNumber, Claimed, Completion, Engine, Epoch, EpochSeconds, ExecutionId, Fingerprint, IdempotencyKey,
    Namespace, Operation, Policy, Record, RecordKey, Request, Scope, Status, Store, Window,
};
use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table};
use lambda_idempotency::function::stored_value;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::effect_table::effect_tables;

const HOUR: i64 = 3_600_000;
const EFFECTS: &str = r#"[{
    "table": "charges", "business_key": ["order"], "record": "record", "created_at": "created_at", "operations": ["charge"]
}]"#;

struct World {
    dynamodb: EmbeddedDynamoDb,
    folder: TempDir,
    app: App,
    now: i64,
}

impl World {
    /// Two tables, and so many bytes of memory.
    async fn with(memory: usize, segments: u32) -> Self {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        create_idempotency_table(&dynamodb.client(), "records").await.unwrap();
        create_table(&dynamodb.client(), "charges", "charge_id", None).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            namespace: Namespace::new("dev").unwrap(),
            effects: effect_tables(EFFECTS).unwrap(),
            remembered_for: Duration::from_secs(48 * 3600),
            segments,
            read_units_per_second: None,
            memory,
        };
        let storage = Storage::at(&format!("file://{}", folder.path().display())).unwrap();
        let app = App { store: DynamoDbStore::new(dynamodb.client(), "records"), storage, settings };
        Self { dynamodb, folder, app, now: SystemClock.now().get() }
    }

    /// A record that was claimed two hours ago.
    async fn record(&self, namespace: &str, operation: &str, key: &str, status: Status) -> RecordKey {
        let key = record_key(namespace, operation, key);
        let record = Record {
            key: key.clone(),
            status,
            owner: OwnerToken::from_bytes([1; 16]),
            execution: ExecutionId::from_bytes([2; 16]),
            epoch: Epoch::new(self.now - 2 * HOUR),
            attempt: AttemptNumber::FIRST,
            lease_until: EpochMillis::new(self.now - HOUR),
            expires_at: EpochSeconds::new(self.now / 1000 + 3600),
            fingerprint: Fingerprint::builder().finish(),
            result: None,
            renewed: false,
            resolved_at: None,
        };
        self.app.store.insert_if_absent(&record, Duration::from_secs(30)).await.unwrap();
        key
    }

    async fn charge(&self, id: &str, order: &str, record: &RecordKey) {
        self.effect("charges", id, order, record).await;
    }

    async fn effect(&self, table: &str, id: &str, order: &str, record: &RecordKey) {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let item = HashMap::from([
            ("charge_id".to_owned(), text(id)),
            ("order".to_owned(), text(order)),
            ("record".to_owned(), text(record.as_str())),
            ("created_at".to_owned(), AttributeValue::N((self.now - 2 * HOUR).to_string())),
        ]);
        self.dynamodb.client().put_item().table_name(table).set_item(Some(item)).send().await.unwrap();
    }

    /// Completed charges, each with its effect.
    async fn charges(&self, count: usize) {
        for number in 0..count {
            let name = format!("ordinary-{number}");
            let key = self.record("dev", "charge", &name, Status::Completed).await;
            self.charge(&name, &name, &key).await;
        }
    }

    async fn run(&self, left: Duration) -> Progress {
        let now = SystemClock.now();
        run(&self.app, Invocation::default(), now + left).await.unwrap().state
    }

    fn report(&self) -> Value {
        let day = Invocation::default().day(SystemClock.now()).unwrap();
        let path = self.folder.path().join("dev").join(day).join("report.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }
}

fn record_key(namespace: &str, operation: &str, key: &str) -> RecordKey {
    RecordKey::new(
        &Namespace::new(namespace).unwrap(),
        &Operation::new(operation, 1).unwrap(),
        &Scope::none(),
        &IdempotencyKey::new(key).unwrap(),
    )
}

fn counts(report: &Value) -> [u64; 6] {
    ["duplicates", "overdue", "stuck", "compensating", "effects_without_record", "records_without_effect"]
        .map(|kind| report[kind]["count"].as_u64().unwrap())
}

const ENOUGH: Duration = Duration::from_secs(300);

#[tokio::test]
async fn what_does_not_fit_is_found_whatever_the_memory_and_the_cut() {
    // Everything at once; in many flushes; in partitions that need several passes.
    for (memory, segments) in [(1 << 20, 1), (2_000, 4), (300, 3)] {
        let world = World::with(memory, segments).await;
        world.charges(30).await;
        // Another deployment's are left alone.
        world.record("prod", "charge", "p", Status::Stuck).await;
        let twice = world.record("dev", "charge", "twice", Status::Completed).await;
        world.charge("c-1", "twice", &twice).await;
        world.charge("c-2", "twice", &twice).await;
        world.record("dev", "charge", "lost", Status::InFlight).await;
        world.record("dev", "charge", "stuck", Status::Stuck).await;
        world.record("dev", "charge", "undoing", Status::Compensating).await;
        world.record("dev", "charge", "failed", Status::Failed).await;
        let without = world.record("dev", "charge", "without", Status::Completed).await;
        world.record("dev", "other", "other", Status::Completed).await;
        let unknown = record_key("dev", "charge", "unknown");
        world.charge("c-3", "unknown", &unknown).await;

        assert_eq!(world.run(ENOUGH).await, Progress::Finished);
        let report = world.report();
        assert_eq!(counts(&report), [1, 1, 1, 1, 1, 1], "{memory} bytes: {report:#}");
        let duplicate = &report["duplicates"]["examples"][0];
        assert_eq!((&duplicate["table"], &duplicate["business_key"]), (&json!("charges"), &json!(["s:twice"])));
        let mut items: Vec<_> =
            duplicate["items"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
        items.sort_unstable();
        assert_eq!(items, ["charge_id=c-1", "charge_id=c-2"]);
        assert_eq!(report["records_without_effect"]["examples"][0]["record"], without.as_str());
        assert_eq!(report["effects_without_record"]["examples"][0]["item"], "charge_id=c-3");
        assert_eq!(
            report["records"]["charge"],
            json!({
                "completed": 32, "in_flight": 1, "stuck": 1, "compensating": 1, "failed": 1
            })
        );
        assert_eq!(report["tables"][1]["items"], 33);

        assert_eq!(world.run(ENOUGH).await, Progress::FinishedBefore);
        let work = world.folder.path().join("dev").join(report["run"].as_str().unwrap()).join("work");
        let left: usize = std::fs::read_dir(work)
            .map_or(0, |places| places.map(|place| std::fs::read_dir(place.unwrap().path()).unwrap().count()).sum());
        assert_eq!(left, 0, "what was in the works is deleted");
    }
}

#[tokio::test]
async fn a_run_whose_time_is_over_is_gone_on_with_and_counts_nothing_twice() {
    let world = World::with(2_000, 2).await;
    world.charges(40).await;
    let twice = world.record("dev", "charge", "twice", Status::Completed).await;
    world.charge("c-1", "twice", &twice).await;
    world.charge("c-2", "twice", &twice).await;
    world.record("dev", "charge", "stuck", Status::Stuck).await;
    let mut invocations = 1;
    // No invocation has time for much more than it has begun; but some day each has time for that, on a machine that is busy too.
    while world.run(Duration::from_millis(invocations)).await == Progress::Continues {
        invocations += 1;
        assert!(invocations < 1_000);
    }
    let report = world.report();
    assert_eq!(counts(&report), [1, 0, 1, 0, 0, 0], "{report:#}");
    assert_eq!(report["tables"][0]["items"].as_u64().unwrap() + report["tables"][1]["items"].as_u64().unwrap(), 84);
    assert!(invocations > 1, "it was interrupted");
    assert_eq!(report["invocations"], invocations);
}

#[tokio::test]
async fn a_run_that_was_begun_with_another_configuration_begins_afresh_and_reads_what_is_new() {
    let mut world = World::with(2_000, 2).await;
    create_table(&world.dynamodb.client(), "refunds", "charge_id", None).await.unwrap();
    world.charges(10).await;
    for number in 0..6 {
        let key = world.record("dev", "refund", &format!("r-{number}"), Status::Completed).await;
        world.effect("refunds", &format!("r-{number}"), "o", &key).await;
    }
    let with_refunds = [
        r#"[{"table": "charges", "record": "record", "operations": ["charge"]}, {"table": "refunds", "record": "record", "operations": ["refund"]}]"#,
        r#"[{"table": "refunds", "record": "record", "operations": ["refund"]}, {"table": "charges", "record": "record", "operations": ["charge"]}]"#,
    ];
    assert_eq!(world.run(Duration::from_millis(1)).await, Progress::Continues);
    for effects in with_refunds {
        world.app.settings.effects = effect_tables(effects).unwrap();
        assert_eq!(world.run(Duration::from_millis(1)).await, Progress::Continues);
        assert_eq!(world.run(Duration::from_millis(1)).await, Progress::Continues, "the same goes on");
    }
    // Cuts stand in the state.
    (world.app.settings.segments, world.app.settings.memory) = (3, 1_000);
    assert_eq!(world.run(ENOUGH).await, Progress::Finished);
    let report = world.report();
    assert_eq!(counts(&report), [0; 6], "{report:#}");
    assert_eq!((&report["tables"][1]["name"], &report["tables"][1]["items"]), (&json!("refunds"), &json!(6)));
    assert_eq!(report["invocations"], 3, "what was given up is not counted");
    // What is done stays done.
    world.app.settings.effects.clear();
    assert_eq!(world.run(ENOUGH).await, Progress::FinishedBefore);
}

#[tokio::test]
async fn a_state_of_an_older_version_is_not_gone_on_with() {
    let world = World::with(2_000, 2).await;
    world.charges(10).await;
    assert_eq!(world.run(Duration::from_millis(1)).await, Progress::Continues);
    let path = world.folder.path().join("dev").join(Invocation::default().day(SystemClock.now()).unwrap());
    let path = path.join("state.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for new in ["basis", "stored_as"] {
        state.as_object_mut().unwrap().remove(new).unwrap();
    }
    std::fs::write(&path, state.to_string()).unwrap();
    assert_eq!(world.run(ENOUGH).await, Progress::Finished);
    assert_eq!((counts(&world.report()), &world.report()["invocations"]), ([0; 6], &json!(1)));
}

#[tokio::test]
async fn markers_of_an_operation_are_no_records_without_an_effect() {
    #[derive(Debug)]
    struct Then(i64);
    impl Clock for Then {
        fn now(&self) -> EpochMillis {
            EpochMillis::new(self.0)
        }
    }
    let world = World::with(1 << 20, 1).await;
    let engine = Engine::new(world.app.store.clone()).with_clock(Then(world.now - 2 * HOUR));
    for number in 0..3 {
        let request = Request {
            namespace: Namespace::new("dev").unwrap(),
            operation: Operation::new("charge", 1).unwrap(),
            scope: Scope::none(),
            key: IdempotencyKey::new(format!("k-{number}")).unwrap(),
            fingerprint: Fingerprint::builder().finish(),
            deadline: engine.now() + Duration::from_secs(10),
        };
        let Claimed::Fresh(claim) = engine.claim(&request, &Policy::new(Window::http())).await.unwrap() else {
            panic!()
        };
        let once = claim.attempt().once("told", &number.to_string(), async |_| Ok::<_, Error>(())).await;
        assert!(once.unwrap());
        world.charge(&format!("c-{number}"), &format!("o-{number}"), &claim.record().key.clone()).await;
        assert_eq!(engine.complete(claim, stored_value(&json!(number))).await, Completion::Stored);
    }
    assert_eq!(world.run(ENOUGH).await, Progress::Finished);
    let report = world.report();
    assert_eq!(counts(&report), [0; 6], "{report:#}");
    assert_eq!(report["records"]["charge"], json!({ "completed": 6 }), "a marker is a record of its operation");
}

#[tokio::test]
async fn a_table_that_is_not_there_is_told() {
    let mut world = World::with(1 << 20, 1).await;
    world.app.settings.effects = effect_tables(r#"[{"table": "nowhere", "business_key": ["a"]}]"#).unwrap();
    let told = run(&world.app, Invocation::default(), SystemClock.now() + ENOUGH).await.unwrap_err().to_string();
    assert!(told.contains("nowhere") && told.contains("ResourceNotFound"), "{told}");
}

#[test]
fn the_day_of_a_run_is_that_of_its_event() {
    let now = EpochMillis::new(1_790_856_000_000);
    let day = |time: Option<&str>| Invocation { time: time.map(str::to_owned) }.day(now);
    assert_eq!(day(Some("2026-10-02T01:59:59Z")).unwrap(), "2026-10-02");
    assert_eq!(day(Some("2026-10-02T01:00:00+02:00")).unwrap(), "2026-10-01");
    assert_eq!(day(None).unwrap(), "2026-10-01");
    assert!(day(Some("tonight")).unwrap_err().to_string().contains("leave it out"));
}
