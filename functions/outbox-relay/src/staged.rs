//! The entries among a batch of a stream's records.

use std::collections::HashMap;

use aws_lambda_events::dynamodb::EventRecord;
use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use idempotency_core::{Namespace, OutboxEntry, RecordError};
use idempotency_dynamodb::{attribute, outbox_entry_from_item};
use serde_dynamo::{AttributeValue as StreamValue, Item};

/// An entry of the outbox, or what should be one.
#[derive(Debug)]
pub(crate) struct Staged {
    /// Its record's place in the batch.
    pub(crate) place: usize,
    pub(crate) pk: String,
    pub(crate) sk: String,
    /// Whether it was read from the table, because it must be sent before something in the batch. Its own record comes later, or came
    /// before and was given up.
    pub(crate) is_ahead: bool,
    pub(crate) entry: Result<OutboxEntry, Unreadable>,
}

impl Staged {
    /// What the sort keys of one execution's entries have in common: all but their places, behind the last `#`.
    pub(crate) fn execution(&self) -> &str {
        self.sk.rsplit_once('#').map_or(&self.sk, |(execution, _)| execution)
    }
}

/// Why a record has no entry that could be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the stream has no new images; set its StreamViewType to NEW_IMAGE")]
    NoImage,
    #[error(transparent)]
    Entry(#[from] RecordError),
    #[error("what is to be sent before it could not be read")]
    Predecessors,
}

/// The entries that were inserted, of this namespace, in their order. The mapping's filter leaves the same ones, if there is one.
pub(crate) fn staged(records: &[EventRecord], namespace: &Namespace) -> Vec<Staged> {
    let prefix = format!("{}#", namespace.as_str());
    let staged = records.iter().enumerate().filter_map(|(place, record)| {
        let (pk, sk) = (text(&record.change.keys, attribute::PK)?, text(&record.change.keys, attribute::SK)?);
        let is_staged = record.event_name == "INSERT"
            && sk.starts_with(OutboxEntry::SORT_KEY_PREFIX)
            && pk.starts_with(prefix.as_str());
        is_staged.then(|| Staged { place, pk: pk.to_owned(), sk: sk.to_owned(), is_ahead: false, entry: entry(record) })
    });
    staged.collect()
}

fn entry(record: &EventRecord) -> Result<OutboxEntry, Unreadable> {
    let image = &record.change.new_image;
    if image.is_empty() {
        return Err(Unreadable::NoImage);
    }
    let image: HashMap<_, _> = image.iter().map(|(name, value)| (name.clone(), value_of_item(value))).collect();
    Ok(outbox_entry_from_item(&image)?)
}

/// An entry has no others; one of another type is told as what cannot be read.
fn value_of_item(value: &StreamValue) -> AttributeValue {
    match value {
        StreamValue::S(text) => AttributeValue::S(text.clone()),
        StreamValue::N(digits) => AttributeValue::N(digits.clone()),
        StreamValue::B(bytes) => AttributeValue::B(Blob::new(bytes.clone())),
        _ => AttributeValue::Null(true),
    }
}

fn text<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    match item.get(name)? {
        StreamValue::S(text) => Some(text),
        _ => None,
    }
}
