//! What the tests share.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_core::{Clock, Engine, EpochMillis, OwnerToken, Record, Replaced, Resolution};
use idempotency_dynamodb::{AuditEntry, record_from_item};
use idempotency_testkit::{FaultyTable, dynamodb::create_table};
use lambda_http::{Body, Error, Request, http};
use lambda_idempotency::{
    Attempt, DynamoDbStore, Idempotency, Namespace, OnAbandoned, Operation,
    function::BoxError,
    http::{Classify, Failure, HttpOperation, Probed, Reply, run_with, scope},
    migration::{Migration, OldId, PowertoolsFlavour, PowertoolsTable},
    no_undo,
};
use serde_json::{Value, json};

pub(crate) const PYTHON: &str = include_str!("python-rows.json");
pub(crate) const TYPESCRIPT: &str = include_str!("typescript-rows.json");

/// The old table.
pub(crate) const OLD: &str = "old";

/// The row with this name that a package wrote.
pub(crate) fn row(rows: &str, name: &str) -> Value {
    let rows: Value = serde_json::from_str(rows).unwrap();
    rows["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
}

fn attribute(value: &Value) -> AttributeValue {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "S" => AttributeValue::S(value.as_str().unwrap().into()),
        "N" => AttributeValue::N(value.as_str().unwrap().into()),
        "BOOL" => AttributeValue::Bool(value.as_bool().unwrap()),
        "NULL" => AttributeValue::Null(true),
        "L" => AttributeValue::L(value.as_array().unwrap().iter().map(attribute).collect()),
        "M" => AttributeValue::M(attributes(value)),
        other => panic!("{other}"),
    }
}

fn attributes(item: &Value) -> HashMap<String, AttributeValue> {
    item.as_object().unwrap().iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

/// A clock that stands still until it is set.
#[derive(Clone)]
struct Hands(Arc<AtomicI64>);

impl Clock for Hands {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

/// A failure before anything happened.
struct NotNow;

impl Classify for NotNow {
    fn classify(self) -> Failure {
        Failure::Retryable { retry_after: None, source: "not now".into() }
    }
}

pub(crate) struct World {
    pub(crate) table: FaultyTable,
    pub(crate) idempotency: Idempotency,
    pub(crate) runs: AtomicU32,
    pub(crate) probes: AtomicU32,
    /// Whether the handler says that nothing happened.
    pub(crate) fails_retryably: AtomicBool,
    clock: Hands,
}

impl World {
    /// A world in which an operation takes the place of the function that wrote `row`, five seconds after it began.
    pub(crate) async fn after(row: &Value, flavour: PowertoolsFlavour) -> Self {
        let item = &row["in_progress"];
        let (key, sort_key) = if item.get("sk").is_some() { ("pk", Some("sk")) } else { ("id", None) };
        let id = item[sort_key.unwrap_or(key)]["S"].as_str().unwrap().to_owned();
        let table = FaultyTable::start().await.unwrap();
        create_table(&table.client(), OLD, key, sort_key).await.unwrap();
        table.proxy().clear_requests();
        let old = PowertoolsTable::new(table.client(), OLD, flavour).key(key);
        let old = match sort_key {
            Some(sort_key) => old.sort_key(sort_key, item[key]["S"].as_str().unwrap()),
            None => old,
        };
        let of_request = id.clone();
        let migration = Migration::new(old)
            .http("create-charge", move |request: &Request| {
                let validation = request.headers().get("x-validation").map(|hash| hash.to_str()).transpose()?;
                let id = OldId::new(of_request.clone());
                Ok(Some(validation.iter().fold(id, |id, hash| id.validation(*hash))))
            })
            .http("refused", |_| Err("no such member".into()))
            .http("keyless", |_| Ok(None))
            .function("reserve-seat", move |asked| {
                let order = asked.argument("order").and_then(Value::as_str).ok_or("the call has no order")?;
                Ok((order == "o-7").then(|| OldId::new(id.clone())))
            });
        let ends: i64 = item["in_progress_expiration"]["N"].as_str().unwrap().parse().unwrap();
        let clock = Hands(Arc::new(AtomicI64::new(ends - 25_000)));
        let store = DynamoDbStore::new(table.client(), FaultyTable::NAME);
        let engine = Engine::new(store).with_clock(clock.clone());
        let idempotency = Idempotency::with_engine(engine, Namespace::new("test").unwrap()).migrating(migration);
        Self {
            table,
            idempotency,
            clock,
            runs: AtomicU32::new(0),
            probes: AtomicU32::new(0),
            fails_retryably: AtomicBool::new(false),
        }
    }

    pub(crate) fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    /// The only record that this function has.
    pub(crate) async fn record(&self) -> Record {
        let items = self.table.client().scan().table_name(FaultyTable::NAME).send().await.unwrap().items.unwrap();
        self.table.proxy().clear_requests();
        let records: Vec<_> = items.iter().filter(|item| item["sk"] == AttributeValue::S("claim".into())).collect();
        assert_eq!(records.len(), 1);
        record_from_item(records[0]).unwrap()
    }

    /// An operator says that the operation is to be tried again.
    pub(crate) async fn operator_says_rerun(&self) {
        let (found, now) = (self.record().await, self.now());
        Resolution::Rerun.check(&found, now).unwrap();
        let record = Resolution::Rerun.apply(&found, None, OwnerToken::from_bytes([9; 16]), now);
        let audit =
            AuditEntry::of(&found, now, OwnerToken::from_bytes([8; 16]), "rerun", "somebody", "nothing is there");
        let store = DynamoDbStore::new(self.table.client(), FaultyTable::NAME);
        let replaced = store.replace_audited(&found, &record, &audit, Duration::from_secs(5)).await.unwrap();
        assert_eq!(replaced, Replaced::Replaced);
        self.table.proxy().clear_requests();
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// What the old function writes.
    pub(crate) async fn put(&self, item: &Value) {
        let put = self.table.client().put_item().table_name(OLD).set_item(Some(attributes(item)));
        put.send().await.unwrap();
        self.table.proxy().clear_requests();
    }

    pub(crate) fn so_far(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    /// Requests since the last call: what was asked of which table.
    pub(crate) fn asked(&self) -> Vec<String> {
        let requests = self.table.proxy().requests();
        self.table.proxy().clear_requests();
        let short = |table: &str| if table == OLD { "old" } else { "own" };
        requests
            .iter()
            .map(|request| format!("{} {}", request.operation, short(request.table.as_deref().unwrap())))
            .collect()
    }

    /// A charge, under a key that the old function used too.
    pub(crate) async fn charge(&self, on_abandoned: OnAbandoned) -> Reply {
        self.charge_as("create-charge", on_abandoned, None).await
    }

    pub(crate) async fn charge_as(
        &self,
        operation: &'static str,
        on_abandoned: OnAbandoned,
        validation: Option<&str>,
    ) -> Reply {
        let operation = HttpOperation::new(Operation::declare(operation, 1), scope::none()).on_abandoned(on_abandoned);
        self.send(&operation, validation, Ok(Probed::Unknown)).await.unwrap()
    }

    pub(crate) async fn send(
        &self,
        operation: &HttpOperation,
        validation: Option<&str>,
        said: Result<Probed<String>, BoxError>,
    ) -> Result<Reply, Error> {
        let request = http::Request::post("/charges").header("idempotency-key", "order-42");
        let request = validation.iter().fold(request, |request, hash| request.header("x-validation", *hash));
        let body = json!({ "amount": 1200, "validated": validation }).to_string();
        let probe = async |_: Attempt, _: Request| {
            self.probes.fetch_add(1, Ordering::SeqCst);
            said
        };
        let handler = async |_: Request, _: Attempt| {
            self.runs.fetch_add(1, Ordering::SeqCst);
            match self.fails_retryably.load(Ordering::SeqCst) {
                true => Err(NotNow),
                false => Ok("new"),
            }
        };
        run_with(&self.idempotency, operation, request.body(Body::from(body)).unwrap(), Ok, probe, no_undo, handler)
            .await
    }
}
