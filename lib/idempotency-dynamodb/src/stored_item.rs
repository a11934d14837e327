//! Whatever stands in the table, read.

use idempotency_core::{EpochMillis, ExecutionId, OutboxEntry, OwnerToken, Record, RecordError, RecordKey, Row};

use crate::{
    audit_item::{AuditEntry, audit_from_item},
    item::{CLAIM, Fields, Item, PART_PREFIX, attribute, parts_of, record_from_item},
    outbox_item::{outbox_attribute, outbox_entry_from_item},
    row_item::row_from_item,
};

/// An item of the table: a record, or what stands beside one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredItem {
    /// The record of a key.
    Record(Record),
    /// A step, memo or undoing of a key's generation.
    Row(Row),
    /// A staged event.
    Event {
        /// The event.
        entry: OutboxEntry,
        /// When the relay knew that it was sent; `None` before.
        sent_at: Option<EpochMillis>,
    },
    /// A part of a large result.
    Part {
        /// The record beside which it stands.
        key: RecordKey,
        /// Where it stands there.
        sort_key: String,
    },
    /// What an operator did.
    Audit(AuditEntry),
    /// What this version cannot read: another version's, or a stranger's. It is never taken for absent.
    Unreadable {
        /// Its partition key; empty where there is none.
        key: RecordKey,
        /// Its sort key; empty where there is none.
        sort_key: String,
        /// Why.
        error: RecordError,
    },
}

impl StoredItem {
    /// Reads an item.
    pub(crate) fn read(item: &Item) -> Self {
        let key = || RecordKey::from_stored(text(item, attribute::PK));
        let sort_key = text(item, attribute::SK);
        let read = match sort_key {
            CLAIM => record_from_item(item).map(Self::Record),
            sk if sk.starts_with(OutboxEntry::SORT_KEY_PREFIX) => event(item),
            sk if sk.starts_with(AuditEntry::SORT_KEY_PREFIX) => audit_from_item(item).map(Self::Audit),
            sk if sk.starts_with(PART_PREFIX) => Ok(Self::Part { key: key(), sort_key: sk.to_owned() }),
            _ => row_from_item(item).map(Self::Row),
        };
        read.unwrap_or_else(|error| Self::Unreadable { key: key(), sort_key: sort_key.to_owned(), error })
    }

    /// Whether it is a part of the result that this owner has stored.
    pub fn is_part_of(&self, owner: OwnerToken) -> bool {
        matches!(self, Self::Part { sort_key, .. } if sort_key.starts_with(&parts_of(owner)))
    }

    /// The partition key of the record, or of the one beside which it stands.
    pub const fn key(&self) -> &RecordKey {
        match self {
            Self::Record(record) => &record.key,
            Self::Row(row) => &row.key,
            Self::Event { entry, .. } => &entry.record_key,
            Self::Audit(entry) => &entry.key,
            Self::Part { key, .. } | Self::Unreadable { key, .. } => key,
        }
    }

    /// The sort key.
    pub fn sort_key(&self) -> String {
        match self {
            Self::Record(_) => CLAIM.to_owned(),
            Self::Row(row) => row.sort_key(),
            Self::Event { entry, .. } => entry.sort_key(),
            Self::Audit(entry) => entry.sort_key(),
            Self::Part { sort_key, .. } | Self::Unreadable { sort_key, .. } => sort_key.clone(),
        }
    }

    /// The generation that a row or event belongs to; `None` for what belongs to none or is none's alone.
    pub const fn execution(&self) -> Option<ExecutionId> {
        match self {
            Self::Record(record) => Some(record.execution),
            Self::Row(row) => Some(row.execution),
            Self::Event { entry, .. } => Some(entry.execution),
            _ => None,
        }
    }
}

fn event(item: &Item) -> Result<StoredItem, RecordError> {
    let sent_at = match item.contains_key(outbox_attribute::SENT_AT) {
        true => Some(EpochMillis::new(Fields(item).integer(outbox_attribute::SENT_AT)?)),
        false => None,
    };
    Ok(StoredItem::Event { entry: outbox_entry_from_item(item)?, sent_at })
}

fn text<'a>(item: &'a Item, name: &str) -> &'a str {
    item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}
