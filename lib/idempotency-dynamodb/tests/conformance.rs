//! Goal: the store keeps the store contract on every engine at hand, and when the network loses, refuses and repeats.
//!
//! Method: the testkit's conformance suite, on the embedded engine and, when `IDEMPOTENCY_TEST_ENDPOINT` is set, on that
//! endpoint too (`tests/second-engine` sets it).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{env, error::Error, fmt::Debug, str::FromStr, time::Duration};

use aws_sdk_dynamodb::{Client, config::retry::RetryPartition, types::AttributeValue};
use idempotency_dynamodb::{DynamoDbStore, client_from_env, retries};
use idempotency_testkit::{
    FaultyTable,
    dynamodb::{EmbeddedDynamoDb, client_for, create_idempotency_table, create_table},
    fault_proxy::{Fault, Rule},
    store_conformance::{Config, Counters, check, check_effects, check_under_faults},
};
use serde_json::json;
use uuid::Uuid;

/// The same calls on every engine, so that a failure on one is a difference between them. `IDEMPOTENCY_TEST_CASES` asks for
/// more sequences than a test run should wait for.
fn config(cases: u32) -> Config {
    Config::default().cases(number("IDEMPOTENCY_TEST_CASES").unwrap_or(cases))
}

fn number<T: FromStr<Err: Debug>>(variable: &str) -> Option<T> {
    env::var(variable).ok().map(|number| number.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_conforms_on_the_embedded_engine_and_on_the_endpoint_in_the_environment() {
    let embedded = EmbeddedDynamoDb::start().await.unwrap();
    conforms("embedded", embedded.client(), config(32)).await;
    if let Ok(endpoint) = env::var("IDEMPOTENCY_TEST_ENDPOINT") {
        // 1 for an engine that is known to lose races (`docs/engines.md`): then there are none.
        let callers = number("IDEMPOTENCY_TEST_CALLERS");
        let config = callers.map_or(config(32), |callers| config(32).callers(callers));
        conforms(&endpoint, client(&endpoint).await, config).await;
    }
}

/// In a table of its own, which is deleted whatever happens.
async fn conforms(engine: &str, client: Client, config: Config) {
    let table = format!("idempotency-conformance-{}", Uuid::new_v4());
    create_idempotency_table(&client, &table).await.unwrap();
    let counters = CounterTable::create(&client).await;
    let store = DynamoDbStore::new(client.clone(), &table);
    // First, for moto copies all of its tables for each transaction.
    let effects = check_effects(store.clone(), &counters, &config).await;
    let result = check(store, &config).await;
    for table in [table, counters.table] {
        client.delete_table().table_name(&table).send().await.unwrap();
    }
    println!("{engine}: effects: {}; {}", effects.unwrap(), result.unwrap());
}

/// A table of the user's.
struct CounterTable {
    client: Client,
    table: String,
}

impl CounterTable {
    async fn create(client: &Client) -> Self {
        let table = format!("idempotency-counters-{}", Uuid::new_v4());
        create_table(client, &table, "id", None).await.unwrap();
        Self { client: client.clone(), table }
    }
}

impl Counters for CounterTable {
    fn table(&self) -> &str {
        &self.table
    }

    async fn number(&self, id: &str) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        let id = AttributeValue::S(id.to_owned());
        let get = self.client.get_item().table_name(&self.table).key("id", id).consistent_read(true).send().await?;
        Ok(get.item.map(|item| item["n"].as_n().unwrap().parse().unwrap()))
    }
}

/// Local engines speak plain HTTP and take any credentials. AWS does not: then those of the environment are used.
async fn client(endpoint: &str) -> Client {
    if endpoint.starts_with("http://") {
        return client_for(endpoint);
    }
    let config = client_from_env().await.config().to_builder().endpoint_url(endpoint);
    Client::from_conf(config.build())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_conforms_even_if_every_eventually_consistent_read_misses_what_was_written() {
    let table = FaultyTable::start().await.unwrap();
    let eventual = Rule::any().when(|request| {
        let read = ["GetItem", "BatchGetItem", "Query", "Scan"].contains(&request.operation.as_str());
        read && request.body["ConsistentRead"] != true
    });
    table.proxy().inject(eventual.forever().fault(Fault::Answer { status: 200, body: json!({}) }));

    let report = check(DynamoDbStore::new(table.client(), FaultyTable::NAME), &config(8)).await.unwrap();

    assert!(report.answers["parts read"] > 0 && report.answers["record read"] > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_and_stored_is_right_when_requests_are_lost_refused_repeated_and_late() {
    let table = FaultyTable::start().await.unwrap();
    let make_store = || {
        // Production's number of attempts, with pauses as short as they get, and an allowance of retries for each store.
        let retries = retries().with_initial_backoff(Duration::from_millis(1));
        let config = table.client().config().to_builder().retry_config(retries);
        let config = config.retry_partition(RetryPartition::new(Uuid::new_v4().to_string()));
        DynamoDbStore::new(Client::from_conf(config.build()), FaultyTable::NAME)
    };

    let report = check_under_faults(table.proxy(), make_store, &config(24)).await.unwrap();

    println!("{report}");
    for kind in ["unknown", "throttled", "given up", "own record exists", "own record differs", "parts missing"] {
        assert!(report.answers[kind] > 5, "{kind}: {report}");
    }
}
