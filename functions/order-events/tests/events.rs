//! Goal: the deployed binary takes a raw EventBridge event, and refuses to start without its environment.
//!
//! Method: the binary under the local Lambda host, with events as EventBridge sends them. (This test also makes cargo build the
//! binary, which the end-to-end tests run.)

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table},
    lambda::{Function, FunctionConfig, InvokeError, Logs},
};

const EVENT: &str = include_str!("../../../events/eventbridge-order.json");

fn function() -> FunctionConfig {
    FunctionConfig::new("order-events", env!("CARGO_BIN_EXE_order-events")).logs(Logs::Discard)
}

#[tokio::test]
async fn the_example_event_is_followed_once_however_often_it_is_delivered() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    let client = dynamodb.client();
    create_idempotency_table(&client, "records").await.unwrap();
    create_table(&client, "orders", "customer_id", Some("order_id")).await.unwrap();
    let config = function()
        .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint_url())
        .env("IDEMPOTENCY_TABLE", "records")
        .env("IDEMPOTENCY_NAMESPACE", "test")
        .env("ORDERS_TABLE", "orders");
    let function = Function::new(config).unwrap();
    for _ in 0..3 {
        assert_eq!(function.invoke(EVENT).await.unwrap(), "null");
    }
    let orders = client.scan().table_name("orders").send().await.unwrap().items.unwrap();
    assert_eq!(orders.len(), 1);
    assert_eq!(orders[0]["status"].as_s().unwrap(), "paid");
    assert_eq!(client.scan().table_name("records").send().await.unwrap().count(), 1);
    function.shutdown().await;
}

#[tokio::test]
async fn without_its_environment_the_function_does_not_start_and_says_what_is_missing() {
    let whole = [("IDEMPOTENCY_TABLE", "records"), ("IDEMPOTENCY_NAMESPACE", "test"), ("ORDERS_TABLE", "orders")];
    for missing in whole {
        let rest = whole.iter().filter(|variable| **variable != missing);
        let config = rest.fold(function().logs(Logs::Captured), |config, (name, value)| config.env(*name, *value));
        let function = Function::new(config).unwrap();
        let error = function.invoke(EVENT).await.unwrap_err();
        assert!(matches!(error, InvokeError::Init { .. }), "{error:?}");
        let log = format!("{:?}", function.logs());
        assert!(log.contains(missing.0), "{} is not said in {log}", missing.0);
        function.shutdown().await;
    }
}
