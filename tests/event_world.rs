//! A function of records with its table, for tests of triggers: events go in as Lambda delivers them, and answers, runs, requests and
//! records are counted.

use std::{collections::BTreeMap, path::Path, time::Duration};

use idempotency_cli::{Records, Stack};
use idempotency_core::Record;
use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table},
    fault_proxy::{FaultProxy, RecordedRequest},
    function_binary,
    lambda::{Function, FunctionConfig, InvokeError, Logs},
};
use serde_json::Value;

/// The table in which the fixture function counts its runs.
const EFFECTS_TABLE: &str = "effects";

/// Longer than a busy machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct EventWorld {
    pub(crate) dynamodb: EmbeddedDynamoDb,
    pub(crate) proxy: FaultProxy,
    pub(crate) function: Function,
}

impl EventWorld {
    /// A fixture function of this trigger, with these variables.
    pub(crate) async fn start(trigger: &str, variables: &[(&str, &str)]) -> Self {
        Self::start_binary(&function_binary("event-fixture").unwrap(), trigger, variables).await
    }

    /// The same with another binary in the fixture's place.
    pub(crate) async fn start_binary(binary: &Path, trigger: &str, variables: &[(&str, &str)]) -> Self {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        create_idempotency_table(&dynamodb.client(), Stack::TABLE).await.unwrap();
        create_table(&dynamodb.client(), EFFECTS_TABLE, "run", None).await.unwrap();
        let proxy = FaultProxy::start(dynamodb.endpoint_url()).await.unwrap();
        let config = FunctionConfig::new("event-fixture", binary)
            .timeout(PATIENCE)
            .logs(Logs::Captured)
            .env("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint_url())
            .env("IDEMPOTENCY_TABLE", Stack::TABLE)
            .env("IDEMPOTENCY_NAMESPACE", Stack::NAMESPACE)
            .env("EFFECTS_TABLE", EFFECTS_TABLE)
            .env("TRIGGER", trigger);
        let config = variables.iter().fold(config, |config, (name, value)| config.env(*name, *value));
        Self { dynamodb, proxy, function: Function::new(config).unwrap() }
    }

    pub(crate) async fn stop(self) {
        self.function.shutdown().await;
        self.proxy.stop().await;
        self.dynamodb.stop().await;
    }

    /// Delivers an event. The error is the type that Lambda is told.
    pub(crate) async fn deliver(&self, event: &Value) -> Result<Value, String> {
        match self.function.invoke(event.to_string()).await {
            Ok(answer) => Ok(serde_json::from_slice(&answer).unwrap()),
            Err(InvokeError::Handler { error_type, .. }) => Err(error_type),
            Err(error) => panic!("{error}\n{}", self.log()),
        }
    }

    /// How often the handler ran, by key.
    pub(crate) async fn runs(&self) -> BTreeMap<String, usize> {
        let items = self.dynamodb.client().scan().table_name(EFFECTS_TABLE).send().await.unwrap().items.unwrap();
        let mut runs = BTreeMap::new();
        for item in items {
            *runs.entry(item["key"].as_s().unwrap().clone()).or_default() += 1;
        }
        runs
    }

    /// How often the handler ran in all.
    pub(crate) async fn run_count(&self) -> usize {
        self.runs().await.values().sum()
    }

    pub(crate) fn records(&self) -> Records {
        Records::new(self.dynamodb.client())
    }

    pub(crate) async fn all_records(&self) -> Vec<Record> {
        self.records().all().await.unwrap()
    }

    /// The operations on the table of records since the last call, in their order.
    pub(crate) fn store_operations(&self) -> Vec<String> {
        self.store_requests().into_iter().map(|request| request.operation).collect()
    }

    /// The requests to the table of records since the last call, in their order.
    pub(crate) fn store_requests(&self) -> Vec<RecordedRequest> {
        let requests = self.proxy.requests();
        self.proxy.clear_requests();
        requests.into_iter().filter(is_of_the_store).collect()
    }

    pub(crate) fn log(&self) -> String {
        self.function.logs().iter().map(|line| format!("{line:?}\n")).collect()
    }
}

/// Whether a request is about the table of records. Statements name their table themselves.
fn is_of_the_store(request: &RecordedRequest) -> bool {
    match request.operation.as_str() {
        "BatchExecuteStatement" | "BatchGetItem" => true,
        _ => request.table.as_deref() == Some(Stack::TABLE),
    }
}
