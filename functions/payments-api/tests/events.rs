//! Goal: the deployed binary takes a raw API Gateway event, and refuses to start without its environment.
//!
//! Method: the binary under the local Lambda host, with events as API Gateway sends them. (This test also makes cargo build
//! the binary, which the end-to-end tests run.)

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table},
    lambda::{Function, FunctionConfig, InvokeError, Logs},
    payment_provider::PaymentProvider,
};
use serde_json::Value;

const EVENT: &str = include_str!("../../../events/api-gateway-charge.json");

fn function() -> FunctionConfig {
    FunctionConfig::new("payments-api", env!("CARGO_BIN_EXE_payments-api")).logs(Logs::Discard)
}

#[tokio::test]
async fn the_example_event_charges_once_however_often_it_is_invoked() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    create_idempotency_table(&dynamodb.client(), "records").await.unwrap();
    create_table(&dynamodb.client(), "charges", "charge_id", None).await.unwrap();
    let provider = PaymentProvider::start().await.unwrap();
    let config = function()
        .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint_url())
        .env("IDEMPOTENCY_TABLE", "records")
        .env("IDEMPOTENCY_NAMESPACE", "test")
        .env("CHARGES_TABLE", "charges")
        .env("ACCOUNTS_TABLE", "accounts")
        .env("LEDGER_TABLE", "ledger")
        .env("STOCK_TABLE", "stock")
        .env("SHOP_ORDERS_TABLE", "shop-orders")
        .env("CARRIER_URL", "http://127.0.0.1:9")
        .env("PAYMENT_PROVIDER_URL", provider.url());
    let function = Function::new(config).unwrap();

    let mut bodies = Vec::new();
    for replayed in [false, true, true] {
        let response: Value = serde_json::from_slice(&function.invoke(EVENT).await.unwrap()).unwrap();
        assert_eq!(response["statusCode"], 201, "{response}");
        assert_eq!(response["headers"]["idempotent-replayed"] == "true", replayed, "{response}");
        bodies.push(response["body"].clone());
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(provider.ledger().len(), 1);
    function.shutdown().await;
}

#[tokio::test]
async fn without_its_environment_the_function_does_not_start_and_says_what_is_missing() {
    let whole = [
        ("IDEMPOTENCY_TABLE", "records"),
        ("IDEMPOTENCY_NAMESPACE", "test"),
        ("CHARGES_TABLE", "charges"),
        ("ACCOUNTS_TABLE", "accounts"),
        ("LEDGER_TABLE", "ledger"),
        ("STOCK_TABLE", "stock"),
        ("SHOP_ORDERS_TABLE", "shop-orders"),
        ("CARRIER_URL", "http://127.0.0.1:9"),
        ("PAYMENT_PROVIDER_URL", "http://127.0.0.1:9"),
    ];
    for missing in whole {
        let rest = whole.iter().filter(|variable| **variable != missing);
        let config = rest.fold(function().logs(Logs::Captured), |config, (name, value)| config.env(*name, *value));
        assert_does_not_start(config, missing.0).await;
    }
    let config = whole.iter().fold(function().logs(Logs::Captured), |config, (name, value)| config.env(*name, *value));
    assert_does_not_start(config.clone().env("ON_ABANDONED", "sometimes"), "must be rerun, reject or probe").await;
    assert_does_not_start(config.clone().env("IN_FLIGHT", "202"), "must be conflict, wait or accepted").await;
    assert_does_not_start(config.clone().env("IDEMPOTENCY_MODE", "disabled"), "say enforce, shadow or off").await;
    assert_does_not_start(config.env("IDEMPOTENCY_NAMESPACE", "a#b"), "IDEMPOTENCY_NAMESPACE").await;
}

async fn assert_does_not_start(config: FunctionConfig, said: &str) {
    let function = Function::new(config).unwrap();
    let error = function.invoke(EVENT).await.unwrap_err();
    assert!(matches!(error, InvokeError::Init { .. }), "{error:?}");
    let log = format!("{:?}", function.logs());
    assert!(log.contains(said), "{said} is not said in {log}");
    function.shutdown().await;
}
