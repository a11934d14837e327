//! The stored layout of what an operator did: one deed, one item beside the record.

use idempotency_core::{Epoch, EpochMillis, EpochSeconds, OwnerToken, Record, RecordError, RecordKey, SCHEMA, Status};

use crate::item::{Fields, Item, attribute, binary, number, string};

/// Names of the attributes that only audit entries have.
const AT: &str = "at";
const ACTION: &str = "action";
const BY: &str = "by";
const REASON: &str = "reason";
const NOW: &str = "now_status";

/// What an operator did to a record, by whose word and why. It is written in one transaction with the deed, and stays in the record's
/// partition when the record itself is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The record.
    pub key: RecordKey,
    /// When.
    pub at: EpochMillis,
    /// 128 bits drawn for this deed. Two deeds never share a place.
    pub id: OwnerToken,
    /// What was done, in one word: `completed`, `failed`, `rerun`, `undo-again`, `evicted`.
    pub action: String,
    /// Who: an ARN, or the name that was given.
    pub by: String,
    /// Why, in the operator's words.
    pub reason: String,
    /// The status before.
    pub status: Status,
    /// The owner before.
    pub owner: OwnerToken,
    /// The epoch before.
    pub epoch: Epoch,
    /// The status after; `None` where the record was removed.
    pub now: Option<Status>,
    /// From when on it may be deleted.
    pub expires_at: EpochSeconds,
}

impl AuditEntry {
    /// What the sort key of every entry begins with, and that of nothing else.
    pub const SORT_KEY_PREFIX: &str = "audit#";

    /// An entry about this record as it was found.
    pub fn of(found: &Record, at: EpochMillis, id: OwnerToken, action: &str, by: &str, reason: &str) -> Self {
        Self {
            key: found.key.clone(),
            at,
            id,
            action: action.to_owned(),
            by: by.to_owned(),
            reason: reason.to_owned(),
            status: found.status,
            owner: found.owner,
            epoch: found.epoch,
            now: None,
            expires_at: found.expires_at,
        }
    }

    /// Where it stands beside its record: `audit#{milliseconds}#{id}`, so that deeds are in order there.
    pub fn sort_key(&self) -> String {
        format!("{}{:015}#{}", Self::SORT_KEY_PREFIX, self.at.get(), self.id)
    }
}

/// The item of an entry.
pub(crate) fn item_from_audit(entry: &AuditEntry) -> Item {
    let mut item = Item::from([
        (attribute::PK.into(), string(entry.key.as_str())),
        (attribute::SK.into(), string(&entry.sort_key())),
        (AT.into(), number(entry.at.get())),
        (ACTION.into(), string(&entry.action)),
        (BY.into(), string(&entry.by)),
        (REASON.into(), string(&entry.reason)),
        (attribute::STATUS.into(), string(entry.status.as_str())),
        (attribute::OWNER.into(), binary(entry.owner.as_bytes())),
        (attribute::EPOCH.into(), number(entry.epoch.get())),
        (attribute::EXPIRES_AT.into(), number(entry.expires_at.get())),
        (attribute::SCHEMA.into(), number(SCHEMA)),
    ]);
    item.extend(entry.now.map(|now| (NOW.into(), string(now.as_str()))));
    // The id stands in the sort key only as text.
    item.insert("id".into(), binary(entry.id.as_bytes()));
    item
}

/// Reads an entry from its item.
pub(crate) fn audit_from_item(item: &Item) -> Result<AuditEntry, RecordError> {
    let fields = Fields(item);
    fields.check_schema()?;
    let now = item.contains_key(NOW).then(|| Status::from_stored(fields.text(NOW)?)).transpose()?;
    Ok(AuditEntry {
        key: RecordKey::from_stored(fields.text(attribute::PK)?),
        at: EpochMillis::new(fields.integer(AT)?),
        id: OwnerToken::from_bytes(fields.bytes("id")?),
        action: fields.text(ACTION)?.to_owned(),
        by: fields.text(BY)?.to_owned(),
        reason: fields.text(REASON)?.to_owned(),
        status: Status::from_stored(fields.text(attribute::STATUS)?)?,
        owner: OwnerToken::from_bytes(fields.bytes(attribute::OWNER)?),
        epoch: Epoch::new(fields.integer(attribute::EPOCH)?),
        now,
        expires_at: EpochSeconds::new(fields.integer(attribute::EXPIRES_AT)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            key: RecordKey::from_stored("dev#charge#v1#abc"),
            at: EpochMillis::new(1_700_000_000_000),
            id: OwnerToken::from_bytes([7; 16]),
            action: "completed".into(),
            by: "arn:aws:iam::1:user/u".into(),
            reason: "the provider has charge ch_1".into(),
            status: Status::InFlight,
            owner: OwnerToken::from_bytes([1; 16]),
            epoch: Epoch::new(3),
            now: Some(Status::Completed),
            expires_at: EpochSeconds::new(1_700_172_800),
        }
    }

    #[test]
    fn an_entry_survives_the_way_into_an_item_and_back() {
        for entry in [entry(), AuditEntry { now: None, ..entry() }] {
            assert_eq!(audit_from_item(&item_from_audit(&entry)), Ok(entry));
        }
    }

    #[test]
    fn deeds_are_in_order_by_their_sort_keys() {
        let at = |millis| AuditEntry { at: EpochMillis::new(millis), ..entry() }.sort_key();
        assert!(at(999) < at(1_000) && at(1_700_000_000_000) < at(1_700_000_000_001));
    }
}
