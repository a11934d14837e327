//! Conditional writes as PartiQL statements, for batches.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{
    error::BuildError,
    types::{AttributeValue, BatchStatementRequest, ReturnValuesOnConditionCheckFailure},
};
use idempotency_core::{Record, Version, Write};

use crate::item::{OPTIONAL, attribute, binary, item_from_record, number, string};

/// The statement of one write, which leaves the same item as its `PutItem` does.
pub(crate) fn statement(table: &str, write: &Write) -> Result<BatchStatementRequest, BuildError> {
    let (text, parameters) = match write {
        Write::Insert(record) => insert(table, record),
        Write::Replace { expected, record } => replace(table, *expected, record),
    };
    BatchStatementRequest::builder()
        .statement(text)
        .set_parameters(Some(parameters))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
}

/// "PartiQL insert statements for DynamoDB": the item must not exist.
fn insert(table: &str, record: &Record) -> (String, Vec<AttributeValue>) {
    let item: BTreeMap<_, _> = item_from_record(record).into_iter().collect();
    let members: Vec<_> = item.keys().map(|name| format!("'{name}': ?")).collect();
    let text = format!("INSERT INTO {} VALUE {{{}}}", quoted(table), members.join(", "));
    (text, item.into_values().collect())
}

/// "PartiQL update statements for DynamoDB": the item must exist and be as the `WHERE` clause says. Every attribute of the new item is
/// set and every other one that a record may have is removed, so that nothing of the old record stays.
fn replace(table: &str, expected: Version, record: &Record) -> (String, Vec<AttributeValue>) {
    let item: BTreeMap<_, _> = item_from_record(record).into_iter().collect();
    let absent = OPTIONAL.iter().filter(|name| !item.contains_key(**name)).map(|name| format!(" REMOVE \"{name}\""));
    let absent: String = absent.collect();
    let (mut set, mut parameters, mut key) = (String::new(), Vec::new(), Vec::new());
    for (name, value) in item {
        if name == attribute::PK || name == attribute::SK {
            key.push((name, value));
        } else {
            set.push_str(&format!(" SET \"{name}\" = ?"));
            parameters.push(value);
        }
    }
    key.push((attribute::OWNER.into(), binary(expected.owner.as_bytes())));
    key.push((attribute::STATUS.into(), string(expected.status.as_str())));
    key.push((attribute::EPOCH.into(), number(expected.epoch.get())));
    let conditions: Vec<_> = key.iter().map(|(name, _)| format!("\"{name}\" = ?")).collect();
    parameters.extend(key.into_iter().map(|(_, value)| value));
    (format!("UPDATE {}{set}{absent} WHERE {}", quoted(table), conditions.join(" AND ")), parameters)
}

/// A name in double quotes, in which a quote is written twice.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bytes::Bytes;
    use idempotency_core::{
        AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, RecordKey, Status,
        StoredResult,
    };

    use super::*;

    fn record(result: Option<StoredResult>) -> Record {
        Record {
            key: RecordKey::from_stored("dev#charge#v1#abc"),
            status: Status::Completed,
            owner: OwnerToken::from_bytes([1; 16]),
            execution: ExecutionId::from_bytes([2; 16]),
            renewed: result.is_some(),
            resolved_at: result.as_ref().map(|_| EpochMillis::new(1_700_000_020_000)),
            epoch: Epoch::new(7),
            attempt: AttemptNumber::new(3),
            lease_until: EpochMillis::new(1_700_000_013_000),
            expires_at: EpochSeconds::new(1_700_172_800),
            fingerprint: Fingerprint::from_bytes([4; 32]),
            result,
        }
    }

    fn full() -> Record {
        record(Some(StoredResult::Inline(Bytes::from_static(b"\0done"))))
    }

    #[test]
    fn an_insert_names_every_attribute_with_its_parameter() {
        let (text, parameters) = insert("t", &full());
        assert_eq!(
            text,
            "INSERT INTO \"t\" VALUE {'attempt': ?, 'epoch': ?, 'execution': ?, 'expires_at': ?, 'fingerprint': ?, \
             'lease_until': ?, 'owner': ?, 'pk': ?, 'renewed': ?, 'resolved_at': ?, 'result': ?, 'schema': ?, 'sk': ?, 'status': ?}"
        );
        let item: BTreeMap<_, _> = item_from_record(&full()).into_iter().collect();
        assert_eq!(parameters, item.into_values().collect::<Vec<_>>());
    }

    #[test]
    fn an_update_sets_or_removes_every_attribute_that_a_record_may_have_besides_its_key() {
        let possible: BTreeSet<String> = item_from_record(&full()).into_keys().collect();
        for record in [full(), record(None)] {
            let (text, parameters) = replace("t", full().version(), &record);
            let (changes, condition) = text.split_once(" WHERE ").unwrap();
            let changed = changes.split('"').skip(3).step_by(2).map(ToOwned::to_owned);
            let keyed: BTreeSet<String> = changed.chain(["pk".into(), "sk".into()]).collect();
            assert_eq!(keyed, possible, "{text}");
            let item = item_from_record(&record);
            assert_eq!(changes.matches(" SET ").count(), item.len() - 2, "{text}");
            assert_eq!(text.matches('?').count(), parameters.len(), "{text}");
            assert_eq!(condition, r#""pk" = ? AND "sk" = ? AND "owner" = ? AND "status" = ? AND "epoch" = ?"#);
        }
        assert!(
            replace("t", full().version(), &record(None))
                .0
                .contains(" REMOVE \"renewed\" REMOVE \"resolved_at\" REMOVE \"result\" WHERE ")
        );
    }

    #[test]
    fn a_table_name_stays_one_name_whatever_is_in_it() {
        assert_eq!(quoted("a\" VALUE {'pk': 'x'} --"), "\"a\"\" VALUE {'pk': 'x'} --\"");
        let arn = "arn:aws:dynamodb:us-east-1:123456789012:table/idempotency";
        assert_eq!(quoted(arn), format!("\"{arn}\""));
    }
}
