//! The stored layout of a staged event: one entry of the outbox, one item beside the record.

use std::{collections::HashMap, str::FromStr};

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_core::{
    Destination, EpochMillis, EpochSeconds, EventId, ExecutionId, IdempotencyKey, OutboxEntry, RecordError, RecordKey,
};

use crate::item::{Item, attribute, binary, number, string};

/// Names of the attributes that only an entry of the outbox has, beside those of [`attribute`].
pub mod outbox_attribute {
    /// What the receiver knows the event by (S).
    pub const EVENT_ID: &str = "event_id";
    /// The key that the receiver gets (S).
    pub const KEY: &str = "key";
    /// Where the event goes (S): `eventbridge` or `sqs`.
    pub const TO: &str = "to";
    /// The source (S) of an EventBridge event.
    pub const SOURCE: &str = "source";
    /// The detail type (S) of an EventBridge event.
    pub const DETAIL_TYPE: &str = "detail_type";
    /// The queue's logical name (S).
    pub const QUEUE: &str = "queue";
    /// The detail or the message's body (S): JSON text.
    pub const BODY: &str = "body";
    /// When it was staged (N, milliseconds since 1970).
    pub const CREATED_AT: &str = "created_at";
    /// When the relay knew that it was sent (N, milliseconds since 1970). Missing before.
    pub const SENT_AT: &str = "sent_at";
}

use outbox_attribute::{BODY, CREATED_AT, DETAIL_TYPE, EVENT_ID, KEY, QUEUE, SOURCE, TO};

const EVENTBRIDGE: &str = "eventbridge";
const SQS: &str = "sqs";

/// The item of a staged event, which is not sent yet: for the transaction that has the effect, and for tests of a relay.
pub fn item_from_outbox_entry(entry: &OutboxEntry) -> HashMap<String, AttributeValue> {
    let mut item = Item::from([
        (attribute::PK.into(), string(entry.record_key.as_str())),
        (attribute::SK.into(), string(&entry.sort_key())),
        (attribute::EXECUTION.into(), binary(entry.execution.as_bytes())),
        (EVENT_ID.into(), string(entry.id.as_str())),
        (KEY.into(), string(entry.key.as_str())),
        (BODY.into(), string(&entry.body)),
        (CREATED_AT.into(), number(entry.created_at.get())),
        (attribute::EXPIRES_AT.into(), number(entry.expires_at.get())),
        (attribute::SCHEMA.into(), number(OutboxEntry::SCHEMA)),
    ]);
    let destination = match &entry.destination {
        Destination::EventBridge { source, detail_type } => {
            vec![(TO, EVENTBRIDGE), (SOURCE, source.as_str()), (DETAIL_TYPE, detail_type)]
        }
        Destination::Queue { name } => vec![(TO, SQS), (QUEUE, name)],
    };
    item.extend(destination.into_iter().map(|(name, value)| (name.into(), string(value))));
    item
}

/// Reads a staged event from its item, sent or not.
///
/// # Errors
///
/// [`RecordError`] when an attribute is missing or not readable, or the layout is another version's. Such an entry is never treated
/// as absent.
pub fn outbox_entry_from_item(item: &HashMap<String, AttributeValue>) -> Result<OutboxEntry, RecordError> {
    let schema: i64 = integer(item, attribute::SCHEMA)?;
    if schema != i64::from(OutboxEntry::SCHEMA) {
        return Err(RecordError::UnknownSchema { found: schema });
    }
    let execution = ExecutionId::from_bytes(sixteen_bytes(item, attribute::EXECUTION)?);
    Ok(OutboxEntry {
        record_key: RecordKey::from_stored(text(item, attribute::PK)?),
        ordinal: ordinal(text(item, attribute::SK)?, execution)?,
        execution,
        id: EventId::from_stored(text(item, EVENT_ID)?),
        key: IdempotencyKey::new(text(item, KEY)?).map_err(|_| RecordError::Invalid { attribute: KEY })?,
        destination: destination(item)?,
        body: text(item, BODY)?.to_owned(),
        created_at: EpochMillis::new(integer(item, CREATED_AT)?),
        expires_at: EpochSeconds::new(integer(item, attribute::EXPIRES_AT)?),
    })
}

fn destination(item: &Item) -> Result<Destination, RecordError> {
    match text(item, TO)? {
        EVENTBRIDGE => Ok(Destination::EventBridge {
            source: text(item, SOURCE)?.to_owned(),
            detail_type: text(item, DETAIL_TYPE)?.to_owned(),
        }),
        SQS => Ok(Destination::Queue { name: text(item, QUEUE)?.to_owned() }),
        _ => Err(RecordError::Invalid { attribute: TO }),
    }
}

/// The place is in the sort key only. It is read back whole: an item whose sort key is not that of its entry is none.
fn ordinal(sort_key: &str, execution: ExecutionId) -> Result<u32, RecordError> {
    let digits = sort_key
        .strip_prefix(OutboxEntry::SORT_KEY_PREFIX)
        .and_then(|rest| rest.strip_prefix(&execution.to_string()))
        .and_then(|rest| rest.strip_prefix('#'));
    let ordinal = digits.and_then(|digits| digits.parse::<u32>().ok().filter(|at| format!("{at:04}") == digits));
    ordinal.ok_or(RecordError::Invalid { attribute: attribute::SK })
}

fn get<'a>(item: &'a Item, attribute: &'static str) -> Result<&'a AttributeValue, RecordError> {
    item.get(attribute).ok_or(RecordError::Missing { attribute })
}

fn text<'a>(item: &'a Item, attribute: &'static str) -> Result<&'a str, RecordError> {
    let text = get(item, attribute)?.as_s().map_err(|_| RecordError::Invalid { attribute })?;
    Ok(text)
}

fn integer<T: FromStr>(item: &Item, attribute: &'static str) -> Result<T, RecordError> {
    let digits = get(item, attribute)?.as_n().map_err(|_| RecordError::Invalid { attribute })?;
    digits.parse().map_err(|_| RecordError::Invalid { attribute })
}

fn sixteen_bytes(item: &Item, attribute: &'static str) -> Result<[u8; 16], RecordError> {
    let bytes = get(item, attribute)?.as_b().map_err(|_| RecordError::Invalid { attribute })?;
    bytes.as_ref().try_into().map_err(|_| RecordError::Invalid { attribute })
}

#[cfg(test)]
mod tests;
