//! The stored layout: one record, one item.

use std::{collections::HashMap, str::FromStr};

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Parts, Record, RecordError,
    RecordKey, SCHEMA, Status, StoredResult,
};

/// An item as the SDK has it.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// Names of the table's attributes.
pub mod attribute {
    /// Partition key (S): `{namespace}#{operation}#v{version}#{hash}`.
    pub const PK: &str = "pk";
    /// Sort key (S): `claim` for the record, other values for what belongs to it.
    pub const SK: &str = "sk";
    /// Where the key stands (S).
    pub const STATUS: &str = "status";
    /// Owner token (B, 16 bytes).
    pub const OWNER: &str = "owner";
    /// Generation (B, 16 bytes).
    pub const EXECUTION: &str = "execution";
    /// Whether the generation began where an expired one stood (BOOL). Only where it did.
    pub const RENEWED: &str = "renewed";
    /// When an operator said that the generation is to be tried again (N, milliseconds since 1970). Only where one did.
    pub const RESOLVED_AT: &str = "resolved_at";
    /// Fencing number (N).
    pub const EPOCH: &str = "epoch";
    /// Attempt counter (N), from 1.
    pub const ATTEMPT: &str = "attempt";
    /// End of the lease (N, milliseconds since 1970).
    pub const LEASE_UNTIL: &str = "lease_until";
    /// From when on the key is new (N, whole seconds since 1970). The table's time to live stands on it.
    pub const EXPIRES_AT: &str = "expires_at";
    /// SHA-256 of the request (B, 32 bytes).
    pub const FINGERPRINT: &str = "fingerprint";
    /// The result: B (codec byte and bytes), or M pointing to parts.
    pub const RESULT: &str = "result";
    /// Version of this layout (N).
    pub const SCHEMA: &str = "schema";
    /// One part of a result (B), in an item of its own.
    pub const PART: &str = "part";
    /// What a row says (S): `step`, `memo` or `undone`.
    pub const KIND: &str = "kind";
    /// The name of a row's step or memo (S).
    pub const NAME: &str = "name";
    /// The type of a row's value, by its name (S).
    pub const TYPE: &str = "type";
    /// A step's place in its handler (N), from 0.
    pub const ORDINAL: &str = "ordinal";
    /// Whether a step is undone when its operation fails for good (BOOL).
    pub const HAS_UNDO: &str = "has_undo";
    /// SHA-256 of a memo's input (B, 32 bytes).
    pub const INPUT: &str = "input";
}

/// Attributes that only some records have. A statement that writes a record over another one removes them.
pub(crate) const OPTIONAL: [&str; 3] = [attribute::RENEWED, attribute::RESOLVED_AT, attribute::RESULT];

/// Sort key of the record itself.
pub(crate) const CLAIM: &str = "claim";

/// What the sort key of every part of a result begins with, and that of nothing else.
pub(crate) const PART_PREFIX: &str = "result#";

/// Sort key of one part of a result. It names the owner, so that a zombie's parts never mix with the newer owner's.
pub(crate) fn part_sk(owner: OwnerToken, index: usize) -> String {
    format!("{}{index:04}", parts_of(owner))
}

/// What the sort keys of all parts of one result begin with.
pub(crate) fn parts_of(owner: OwnerToken) -> String {
    format!("{PART_PREFIX}{owner}#")
}

/// The item of a record.
pub(crate) fn item_from_record(record: &Record) -> Item {
    let Record {
        key,
        status,
        owner,
        execution,
        renewed,
        resolved_at,
        epoch,
        attempt,
        lease_until,
        expires_at,
        fingerprint,
        result,
    } = record;
    let mut item = Item::from([
        (attribute::PK.into(), string(key.as_str())),
        (attribute::SK.into(), string(CLAIM)),
        (attribute::STATUS.into(), string(status.as_str())),
        (attribute::OWNER.into(), binary(owner.as_bytes())),
        (attribute::EXECUTION.into(), binary(execution.as_bytes())),
        (attribute::EPOCH.into(), number(epoch.get())),
        (attribute::ATTEMPT.into(), number(attempt.get())),
        (attribute::LEASE_UNTIL.into(), number(lease_until.get())),
        (attribute::EXPIRES_AT.into(), number(expires_at.get())),
        (attribute::FINGERPRINT.into(), binary(fingerprint.as_bytes())),
        (attribute::SCHEMA.into(), number(SCHEMA)),
    ]);
    if *renewed {
        item.insert(attribute::RENEWED.into(), AttributeValue::Bool(true));
    }
    if let Some(resolved_at) = resolved_at {
        item.insert(attribute::RESOLVED_AT.into(), number(resolved_at.get()));
    }
    if let Some(result) = result {
        item.insert(attribute::RESULT.into(), result_value(result));
    }
    item
}

/// The bytes of an item as DynamoDB counts them: names and values in UTF-8, binary values as they are, about a byte for two digits of a
/// number and one more, three more for each map (Amazon DynamoDB Developer Guide, "DynamoDB item sizes and formats").
pub(crate) fn item_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::M(members) => 3 + members.len() + item_size(members),
        // A record has no other.
        _ => 1,
    }
}

pub(crate) fn result_value(result: &StoredResult) -> AttributeValue {
    match result {
        StoredResult::Inline(encoded) => binary(encoded),
        StoredResult::Parts(parts) => AttributeValue::M(HashMap::from([
            ("count".into(), number(parts.count)),
            ("length".into(), number(parts.length)),
            ("sha256".into(), binary(&parts.sha256)),
        ])),
    }
}

/// Reads a record from its item.
///
/// # Errors
///
/// [`RecordError`] when an attribute is missing or not readable, or the layout is another version's. Such an item is
/// never treated as absent.
pub fn record_from_item(item: &HashMap<String, AttributeValue>) -> Result<Record, RecordError> {
    let fields = Fields(item);
    fields.check_schema()?;
    Ok(Record {
        key: RecordKey::from_stored(fields.text(attribute::PK)?),
        status: Status::from_stored(fields.text(attribute::STATUS)?)?,
        owner: OwnerToken::from_bytes(fields.bytes(attribute::OWNER)?),
        execution: ExecutionId::from_bytes(fields.bytes(attribute::EXECUTION)?),
        // An older version knows no such attribute.
        renewed: item.contains_key(attribute::RENEWED) && fields.boolean(attribute::RENEWED)?,
        resolved_at: item
            .contains_key(attribute::RESOLVED_AT)
            .then(|| fields.integer(attribute::RESOLVED_AT).map(EpochMillis::new))
            .transpose()?,
        epoch: Epoch::new(fields.integer(attribute::EPOCH)?),
        attempt: AttemptNumber::new(fields.integer(attribute::ATTEMPT)?),
        lease_until: EpochMillis::new(fields.integer(attribute::LEASE_UNTIL)?),
        expires_at: EpochSeconds::new(fields.integer(attribute::EXPIRES_AT)?),
        fingerprint: Fingerprint::from_bytes(fields.bytes(attribute::FINGERPRINT)?),
        result: item.get(attribute::RESULT).map(stored_result).transpose()?,
    })
}

pub(crate) fn stored_result(value: &AttributeValue) -> Result<StoredResult, RecordError> {
    match value {
        AttributeValue::B(encoded) => Ok(StoredResult::Inline(Bytes::copy_from_slice(encoded.as_ref()))),
        AttributeValue::M(pointer) => {
            let fields = Fields(pointer);
            Ok(StoredResult::Parts(Parts {
                count: fields.integer("count")?,
                length: fields.integer("length")?,
                sha256: fields.bytes("sha256")?,
            }))
        }
        _ => Err(RecordError::Invalid { attribute: attribute::RESULT }),
    }
}

pub(crate) fn string(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn binary(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Typed access to an item's attributes.
pub(crate) struct Fields<'a>(pub(crate) &'a Item);

impl<'a> Fields<'a> {
    fn get(&self, attribute: &'static str) -> Result<&'a AttributeValue, RecordError> {
        self.0.get(attribute).ok_or(RecordError::Missing { attribute })
    }

    /// Whether this version can read the item.
    pub(crate) fn check_schema(&self) -> Result<(), RecordError> {
        match self.integer::<i64>(attribute::SCHEMA)? {
            schema if schema == i64::from(SCHEMA) => Ok(()),
            found => Err(RecordError::UnknownSchema { found }),
        }
    }

    pub(crate) fn boolean(&self, attribute: &'static str) -> Result<bool, RecordError> {
        self.get(attribute)?.as_bool().copied().map_err(|_| RecordError::Invalid { attribute })
    }

    pub(crate) fn text(&self, attribute: &'static str) -> Result<&'a str, RecordError> {
        let text = self.get(attribute)?.as_s().map_err(|_| RecordError::Invalid { attribute })?;
        Ok(text)
    }

    /// An integer that fits into `T`; which number a store carries is decided by the record's types alone.
    pub(crate) fn integer<T: FromStr>(&self, attribute: &'static str) -> Result<T, RecordError> {
        let digits = self.get(attribute)?.as_n().map_err(|_| RecordError::Invalid { attribute })?;
        digits.parse().map_err(|_| RecordError::Invalid { attribute })
    }

    pub(crate) fn bytes<const N: usize>(&self, attribute: &'static str) -> Result<[u8; N], RecordError> {
        let bytes = self.get(attribute)?.as_b().map_err(|_| RecordError::Invalid { attribute })?;
        bytes.as_ref().try_into().map_err(|_| RecordError::Invalid { attribute })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(result: Option<StoredResult>) -> Record {
        Record {
            key: RecordKey::from_stored("dev#charge#v1#abc"),
            status: Status::Completed,
            owner: OwnerToken::from_bytes([1; 16]),
            execution: ExecutionId::from_bytes([2; 16]),
            renewed: result.is_some(),
            resolved_at: result.as_ref().map(|_| EpochMillis::new(1_700_000_020_000)),
            epoch: Epoch::new(1_700_000_000_000),
            attempt: AttemptNumber::new(3),
            lease_until: EpochMillis::new(1_700_000_013_000),
            expires_at: EpochSeconds::new(1_700_172_800),
            fingerprint: Fingerprint::from_bytes([4; 32]),
            result,
        }
    }

    #[test]
    fn a_record_survives_the_way_into_an_item_and_back() {
        // All 64 bits of a length are read back.
        let parts = Parts { count: 2, length: u64::MAX, sha256: [9; 32] };
        let results =
            [None, Some(StoredResult::Inline(Bytes::from_static(b"\0done"))), Some(StoredResult::Parts(parts))];
        for result in results {
            let record = record(result);
            assert_eq!(record_from_item(&item_from_record(&record)), Ok(record));
        }
    }

    #[test]
    fn the_expiry_is_an_integer_number_because_anything_else_never_expires() {
        let item = item_from_record(&record(None));
        assert_eq!(item[attribute::EXPIRES_AT], AttributeValue::N("1700172800".into()));
    }

    #[test]
    fn a_lease_is_stored_in_milliseconds_and_an_expiry_in_whole_seconds() {
        let item = item_from_record(&record(None));
        assert_eq!(item[attribute::LEASE_UNTIL], AttributeValue::N("1700000013000".into()));
        assert_eq!(item[attribute::EXPIRES_AT], AttributeValue::N("1700172800".into()));
    }

    #[test]
    fn a_time_that_is_missing_or_no_integer_is_an_error_and_never_no_lease() {
        for name in [attribute::LEASE_UNTIL, attribute::EXPIRES_AT] {
            let mut item = item_from_record(&record(None));
            for odd in ["1700172800.5", "1.7E9", "", "soon"] {
                item.insert(name.into(), AttributeValue::N(odd.into()));
                assert_eq!(record_from_item(&item), Err(RecordError::Invalid { attribute: name }), "{odd}");
            }
            item.insert(name.into(), AttributeValue::Null(true));
            assert_eq!(record_from_item(&item), Err(RecordError::Invalid { attribute: name }));
            item.remove(name);
            assert_eq!(record_from_item(&item), Err(RecordError::Missing { attribute: name }));
        }
    }

    #[test]
    fn an_unknown_schema_or_status_is_an_error() {
        let mut item = item_from_record(&record(None));
        item.insert(attribute::SCHEMA.into(), number(2));
        assert_eq!(record_from_item(&item), Err(RecordError::UnknownSchema { found: 2 }));
        item.insert(attribute::SCHEMA.into(), number(1));
        item.insert(attribute::STATUS.into(), string("paused"));
        assert_eq!(record_from_item(&item), Err(RecordError::Invalid { attribute: "status" }));
    }

    #[test]
    fn what_only_some_records_have_is_absent_from_others_and_refused_in_another_type() {
        let item = item_from_record(&record(None));
        assert_eq!(OPTIONAL.iter().filter(|name| item.contains_key(**name)).count(), 0);
        for (name, odd) in [(attribute::RENEWED, number(1)), (attribute::RESOLVED_AT, AttributeValue::Bool(true))] {
            let mut item = item.clone();
            item.insert(name.into(), odd);
            assert_eq!(record_from_item(&item), Err(RecordError::Invalid { attribute: name }));
        }
    }

    #[test]
    fn every_missing_or_mistyped_attribute_is_an_error() {
        let whole = item_from_record(&record(None));
        for name in whole.keys().filter(|name| *name != attribute::SK) {
            let mut item = whole.clone();
            item.remove(name);
            assert!(matches!(record_from_item(&item), Err(RecordError::Missing { .. })), "{name}");
            item.insert(name.clone(), AttributeValue::Bool(true));
            assert!(matches!(record_from_item(&item), Err(RecordError::Invalid { .. })), "{name}");
        }
    }
}
