//! The outbox's entries in the table's stream, and the event source mapping that invokes the relay.

use idempotency_core::OutboxEntry;
use idempotency_testkit::{
    eventbridge::Rule,
    lambda::Function,
    sqs::{Queue, QueueConfig},
    streams::{StreamConfig, StreamMapping},
};
use serde_json::{Map, Value, json};

use super::Services;
use crate::{CliError, Stack};

/// The variable of `outbox-relay` with its queues.
pub(crate) const OUTBOX_QUEUES: &str = "OUTBOX_QUEUES";

/// The queue that is there for the relay without being asked for.
pub(crate) const RECEIPTS: &str = "receipts";

/// The queue that gets what the relay puts on the bus, so that it can be seen.
pub(crate) const BUS_EVENTS: &str = "outbox-bus-events";

/// As in `template.yaml`, with shorter waits.
pub(crate) fn config() -> StreamConfig {
    let namespace = format!("{}#", Stack::NAMESPACE);
    let keys = json!({
        "pk": { "S": [{ "prefix": namespace }] },
        "sk": { "S": [{ "prefix": OutboxEntry::SORT_KEY_PREFIX }] },
    });
    StreamConfig::new()
        .filter(json!({ "eventName": ["INSERT"], "dynamodb": { "Keys": keys } }))
        .maximum_retry_attempts(10)
        .bisect_batch_on_function_error(true)
}

/// Creates the queues of these names that are not there, and gives the value of [`OUTBOX_QUEUES`].
pub(crate) fn outbox_queues<'a>(
    services: &Services,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<String, CliError> {
    let mut urls = Map::new();
    for name in names {
        let queue = services.sqs.queue(name).or_else(|_| services.sqs.create_queue(QueueConfig::new(name)))?;
        urls.insert(name.trim_end_matches(".fifo").to_owned(), queue.url().into());
    }
    Ok(Value::Object(urls).to_string())
}

/// Invokes the function with what is staged. What it gives up goes to the dead letters.
pub(crate) async fn open(
    stem: &str,
    services: &Services,
    function: &Function,
    dynamodb_url: &str,
    config: StreamConfig,
) -> Result<(StreamMapping, Queue), CliError> {
    let dead_letters = services.sqs.create_queue(QueueConfig::new(format!("{stem}-dlq")))?;
    let events = services.sqs.create_queue(QueueConfig::new(BUS_EVENTS))?;
    services.bus.add_rule(Rule::new(BUS_EVENTS).target(events));
    let config = config.on_failure(dead_letters.clone());
    let mapping = StreamMapping::start(dynamodb_url, Stack::TABLE, function.clone(), config).await?;
    Ok((mapping, dead_letters))
}
