//! Goal: the embedded DynamoDB and the table set-up work through a real SDK client.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use aws_sdk_dynamodb::types::{AttributeValue, TimeToLiveStatus};
use idempotency_testkit::dynamodb::{
    DynamoDbError, EmbeddedDynamoDb, client_for, create_idempotency_table, create_table,
};

#[tokio::test]
async fn the_idempotency_table_has_its_keys_and_ttl_and_can_be_created_again() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    let client = dynamodb.client();

    create_idempotency_table(&client, "records").await.unwrap();
    create_idempotency_table(&client, "records").await.unwrap();

    let table = client.describe_table().table_name("records").send().await.unwrap().table.unwrap();
    let keys: Vec<_> = table.key_schema().iter().map(|key| (key.attribute_name(), key.key_type().as_str())).collect();
    assert_eq!(keys, [("pk", "HASH"), ("sk", "RANGE")]);
    assert_eq!(table.billing_mode_summary().unwrap().billing_mode().unwrap().as_str(), "PAY_PER_REQUEST");
    let ttl = client.describe_time_to_live().table_name("records").send().await.unwrap();
    let ttl = ttl.time_to_live_description.unwrap();
    assert_eq!(ttl.time_to_live_status(), Some(&TimeToLiveStatus::Enabled));
    assert_eq!(ttl.attribute_name(), Some("expires_at"));
}

#[tokio::test]
async fn a_table_with_other_keys_is_refused() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    let client = dynamodb.client();
    create_table(&client, "records", "id", None).await.unwrap();

    let error = create_idempotency_table(&client, "records").await.unwrap_err();

    assert_eq!(
        error.to_string(),
        "table `records` exists with keys id (S) HASH, not keys pk (S) HASH, sk (S) RANGE: delete it or use another name"
    );
}

#[tokio::test]
async fn an_unreachable_endpoint_keeps_the_source() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    let client = client_for(dynamodb.endpoint_url());
    dynamodb.stop().await;

    let error = create_table(&client, "records", "id", None).await.unwrap_err();

    assert!(matches!(&error, DynamoDbError::Request { action: "create", .. }), "{error:?}");
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn each_one_has_its_own_data_and_its_database_sees_what_clients_write() {
    let (one, other) = (EmbeddedDynamoDb::start().await.unwrap(), EmbeddedDynamoDb::start().await.unwrap());
    for dynamodb in [&one, &other] {
        create_table(&dynamodb.client(), "effects", "id", None).await.unwrap();
    }

    let item = AttributeValue::S("1".into());
    one.client().put_item().table_name("effects").item("id", item).send().await.unwrap();

    assert_eq!(one.client().scan().table_name("effects").send().await.unwrap().count(), 1);
    assert_eq!(other.client().scan().table_name("effects").send().await.unwrap().count(), 0);
    assert_eq!(one.database().sweep_ttl().unwrap(), 0);
}

#[tokio::test]
async fn a_port_in_use_is_named_and_free_again_after_stop() {
    let first = EmbeddedDynamoDb::start().await.unwrap();
    let address = first.endpoint_url().strip_prefix("http://").unwrap().parse().unwrap();

    let error = EmbeddedDynamoDb::start_on(address).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}: another process uses this port"));

    first.stop().await;
    EmbeddedDynamoDb::start_on(address).await.unwrap();
}
