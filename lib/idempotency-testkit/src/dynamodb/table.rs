use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, StreamSpecification,
    StreamViewType, TableDescription, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};

use super::DynamoDbError;
use crate::eventually;

const TTL_ATTRIBUTE: &str = "expires_at";
/// DynamoDB Local and the embedded database need milliseconds; AWS needs seconds.
const ACTIVE_WITHIN: Duration = Duration::from_secs(30);

/// Creates the toolkit's table: string keys `pk` and `sk`, on demand, TTL on `expires_at`, a stream of new images.
///
/// A table of that name and shape is taken as it is, so that a DynamoDB Local can be used again; one without a stream gets one.
/// Dropping the future leaves whatever DynamoDB has done by then; calling again completes it.
///
/// # Errors
///
/// [`DynamoDbError::SchemaDiffers`] when the name is taken by another kind of table, and
/// [`DynamoDbError::Request`] when DynamoDB cannot be reached or refuses.
pub async fn create_idempotency_table(client: &Client, name: &str) -> Result<(), DynamoDbError> {
    let table = create(client, name, &keys("pk", Some("sk")), Some(new_images(name)?)).await?;
    enable_stream(client, name, &table).await?;
    enable_ttl(client, name).await
}

/// Creates an on-demand table with string keys and waits until it is active.
///
/// A table of that name and key schema is taken as it is. Dropping the future leaves whatever
/// DynamoDB has done by then; calling again completes it.
///
/// # Errors
///
/// [`DynamoDbError::SchemaDiffers`] when the name is taken by a table with other keys, and
/// [`DynamoDbError::Request`] when DynamoDB cannot be reached or refuses.
pub async fn create_table(
    client: &Client,
    name: &str,
    hash_key: &str,
    range_key: Option<&str>,
) -> Result<(), DynamoDbError> {
    create(client, name, &keys(hash_key, range_key), None).await.map(drop)
}

async fn create(
    client: &Client,
    name: &str,
    keys: &[(String, KeyType)],
    stream: Option<StreamSpecification>,
) -> Result<TableDescription, DynamoDbError> {
    let mut request = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    request = request.set_stream_specification(stream);
    for (attribute, kind) in keys {
        let (definition, element) = key_element(attribute, kind).map_err(|error| refused("create", name, error))?;
        request = request.attribute_definitions(definition).key_schema(element);
    }
    match request.send().await.map_err(aws_sdk_dynamodb::Error::from) {
        Ok(_) | Err(aws_sdk_dynamodb::Error::ResourceInUseException(_)) => {}
        Err(error) => return Err(refused("create", name, error)),
    }
    let table = wait_until_active(client, name).await?;
    check_keys(name, keys, &table)?;
    Ok(table)
}

fn new_images(table: &str) -> Result<StreamSpecification, DynamoDbError> {
    let stream = StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::NewImage);
    stream.build().map_err(|error| refused("describe the stream of", table, error))
}

/// A table that was made by an earlier version has no stream.
async fn enable_stream(client: &Client, name: &str, table: &TableDescription) -> Result<(), DynamoDbError> {
    let stream = table.stream_specification().filter(|stream| stream.stream_enabled());
    match stream.map(StreamSpecification::stream_view_type) {
        Some(Some(StreamViewType::NewImage | StreamViewType::NewAndOldImages)) => Ok(()),
        Some(other) => Err(DynamoDbError::SchemaDiffers {
            table: name.to_owned(),
            expected: "a stream of new images".to_owned(),
            found: format!("a stream of {}", other.map_or("nothing", StreamViewType::as_str)),
        }),
        None => {
            let update = client.update_table().table_name(name).stream_specification(new_images(name)?);
            update.send().await.map_err(|error| refused("enable the stream of", name, error))?;
            wait_until_active(client, name).await.map(drop)
        }
    }
}

fn keys(hash_key: &str, range_key: Option<&str>) -> Vec<(String, KeyType)> {
    let range = range_key.map(|name| (name.to_owned(), KeyType::Range));
    std::iter::once((hash_key.to_owned(), KeyType::Hash)).chain(range).collect()
}

fn key_element(name: &str, kind: &KeyType) -> Result<(AttributeDefinition, KeySchemaElement), BuildError> {
    let definition =
        AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build()?;
    let element = KeySchemaElement::builder().attribute_name(name).key_type(kind.clone()).build()?;
    Ok((definition, element))
}

async fn wait_until_active(client: &Client, name: &str) -> Result<TableDescription, DynamoDbError> {
    let active = eventually(ACTIVE_WITHIN, async || match client.describe_table().table_name(name).send().await {
        Ok(output) => output.table.filter(|table| table.table_status() == Some(&TableStatus::Active)).map(Ok),
        Err(error) => Some(Err(refused("describe", name, error))),
    });
    active.await.unwrap_or_else(|_| Err(DynamoDbError::NotActive { table: name.to_owned() }))
}

fn check_keys(name: &str, expected: &[(String, KeyType)], table: &TableDescription) -> Result<(), DynamoDbError> {
    let wanted = expected.iter().map(|(key, kind)| describe_key(key, kind, &ScalarAttributeType::S));
    let found = table.key_schema().iter().map(|element| {
        let definition = table.attribute_definitions().iter().find(|d| d.attribute_name() == element.attribute_name());
        let scalar = definition.map_or(ScalarAttributeType::S, |d| d.attribute_type().clone());
        describe_key(element.attribute_name(), element.key_type(), &scalar)
    });
    let (expected, found) = (join(wanted), join(found));
    if expected == found {
        return Ok(());
    }
    Err(DynamoDbError::SchemaDiffers { table: name.to_owned(), expected, found })
}

fn describe_key(name: &str, kind: &KeyType, scalar: &ScalarAttributeType) -> String {
    format!("{name} ({scalar}) {kind}")
}

fn join(keys: impl Iterator<Item = String>) -> String {
    format!("keys {}", keys.collect::<Vec<_>>().join(", "))
}

async fn enable_ttl(client: &Client, name: &str) -> Result<(), DynamoDbError> {
    let current = client.describe_time_to_live().table_name(name).send().await;
    let current = current.map_err(|error| refused("read the TTL of", name, error))?.time_to_live_description;
    let on = current
        .as_ref()
        .and_then(|ttl| ttl.time_to_live_status())
        .is_some_and(|status| matches!(status, TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling));
    if on {
        // Enabling it twice is an error in DynamoDB, and moving it to another attribute takes an hour.
        return match current.as_ref().and_then(|ttl| ttl.attribute_name()) {
            Some(TTL_ATTRIBUTE) => Ok(()),
            other => Err(DynamoDbError::SchemaDiffers {
                table: name.to_owned(),
                expected: format!("TTL on {TTL_ATTRIBUTE}"),
                found: format!("TTL on {}", other.unwrap_or("nothing")),
            }),
        };
    }
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name(TTL_ATTRIBUTE).build();
    let ttl = ttl.map_err(|error| refused("enable TTL on", name, error))?;
    let enabled = client.update_time_to_live().table_name(name).time_to_live_specification(ttl).send().await;
    enabled.map(drop).map_err(|error| refused("enable TTL on", name, error))
}

fn refused(action: &'static str, table: &str, error: impl Into<aws_sdk_dynamodb::Error>) -> DynamoDbError {
    DynamoDbError::Request { action, table: table.to_owned(), source: Box::new(error.into()) }
}
