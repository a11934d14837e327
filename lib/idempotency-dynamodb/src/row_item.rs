//! The stored layout of rows: one row, one item beside its record.

use idempotency_core::{
    EpochSeconds, ExecutionId, OwnerToken, RecordError, RecordKey, Row, RowKind, SCHEMA, StoredResult,
};

use crate::item::{Fields, Item, attribute, binary, number, result_value, stored_result, string};

const STEP: &str = "step";
const MEMO: &str = "memo";
const BEGUN: &str = "begun";
const UNDONE: &str = "undone";

/// The item of a row.
pub(crate) fn item_from_row(row: &Row) -> Item {
    let mut item = Item::from([
        (attribute::PK.into(), string(row.key.as_str())),
        (attribute::SK.into(), string(&row.sort_key())),
        (attribute::EXECUTION.into(), binary(row.execution.as_bytes())),
        (attribute::NAME.into(), string(&row.name)),
        (attribute::OWNER.into(), binary(row.owner.as_bytes())),
        (attribute::EXPIRES_AT.into(), number(row.expires_at.get())),
        (attribute::SCHEMA.into(), number(SCHEMA)),
    ]);
    let kind = match &row.kind {
        RowKind::Step { ordinal, has_undo } => {
            item.insert(attribute::ORDINAL.into(), number(ordinal));
            item.insert(attribute::HAS_UNDO.into(), aws_sdk_dynamodb::types::AttributeValue::Bool(*has_undo));
            STEP
        }
        RowKind::Memo { input } => {
            item.insert(attribute::INPUT.into(), binary(input));
            MEMO
        }
        RowKind::Begun { ordinal } => {
            item.insert(attribute::ORDINAL.into(), number(ordinal));
            BEGUN
        }
        RowKind::Undone => UNDONE,
    };
    item.insert(attribute::KIND.into(), string(kind));
    if !row.type_name.is_empty() {
        item.insert(attribute::TYPE.into(), string(&row.type_name));
    }
    if let Some(value) = &row.value {
        item.insert(attribute::RESULT.into(), result_value(value));
    }
    item
}

/// Reads a row from its item.
pub(crate) fn row_from_item(item: &Item) -> Result<Row, RecordError> {
    let fields = Fields(item);
    fields.check_schema()?;
    let kind = match fields.text(attribute::KIND)? {
        STEP => RowKind::Step {
            ordinal: fields.integer(attribute::ORDINAL)?,
            has_undo: fields.boolean(attribute::HAS_UNDO)?,
        },
        MEMO => RowKind::Memo { input: fields.bytes(attribute::INPUT)? },
        BEGUN => RowKind::Begun { ordinal: fields.integer(attribute::ORDINAL)? },
        UNDONE => RowKind::Undone,
        _ => return Err(RecordError::Invalid { attribute: attribute::KIND }),
    };
    let value: Option<StoredResult> = item.get(attribute::RESULT).map(stored_result).transpose()?;
    let type_name = if item.contains_key(attribute::TYPE) { fields.text(attribute::TYPE)? } else { "" };
    Ok(Row {
        key: RecordKey::from_stored(fields.text(attribute::PK)?),
        execution: ExecutionId::from_bytes(fields.bytes(attribute::EXECUTION)?),
        kind,
        name: fields.text(attribute::NAME)?.to_owned(),
        owner: OwnerToken::from_bytes(fields.bytes(attribute::OWNER)?),
        type_name: type_name.to_owned(),
        value,
        expires_at: EpochSeconds::new(fields.integer(attribute::EXPIRES_AT)?),
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn row(kind: RowKind) -> Row {
        Row {
            key: RecordKey::from_stored("dev#charge#v1#abc"),
            execution: ExecutionId::from_bytes([2; 16]),
            kind,
            name: "charge-card".to_owned(),
            owner: OwnerToken::from_bytes([1; 16]),
            type_name: "Option<Charge>".to_owned(),
            value: Some(StoredResult::Inline(Bytes::from_static(b"\0null"))),
            expires_at: EpochSeconds::new(1_700_172_800),
        }
    }

    fn rows() -> [Row; 5] {
        [
            row(RowKind::Step { ordinal: 7, has_undo: true }),
            row(RowKind::Step { ordinal: 0, has_undo: false }),
            row(RowKind::Memo { input: [9; 32] }),
            Row { value: None, type_name: String::new(), ..row(RowKind::Begun { ordinal: 3 }) },
            Row { value: None, type_name: String::new(), ..row(RowKind::Undone) },
        ]
    }

    #[test]
    fn a_row_survives_the_way_into_an_item_and_back() {
        for row in rows() {
            assert_eq!(row_from_item(&item_from_row(&row)), Ok(row));
        }
    }

    #[test]
    fn every_attribute_that_is_missing_or_mistyped_is_an_error_and_never_no_row() {
        for whole in rows().map(|row| item_from_row(&row)) {
            let optional = [attribute::SK, attribute::TYPE, attribute::RESULT];
            for name in whole.keys().filter(|name| !optional.contains(&name.as_str())) {
                let mut item = whole.clone();
                item.remove(name);
                assert!(row_from_item(&item).is_err(), "{name}");
                item.insert(name.clone(), aws_sdk_dynamodb::types::AttributeValue::Null(true));
                assert!(row_from_item(&item).is_err(), "{name}");
            }
        }
        let mut item = item_from_row(&rows()[0]);
        item.insert(attribute::SCHEMA.into(), number(2));
        assert_eq!(row_from_item(&item), Err(RecordError::UnknownSchema { found: 2 }));
        item.insert(attribute::SCHEMA.into(), number(SCHEMA));
        item.insert(attribute::KIND.into(), string("saga"));
        assert_eq!(row_from_item(&item), Err(RecordError::Invalid { attribute: "kind" }));
    }
}
