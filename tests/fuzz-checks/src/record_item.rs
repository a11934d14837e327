//! A record as DynamoDB gives it back: read whole, or refused; never half, and never taken for absent.

use std::collections::HashMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use idempotency_core::{Record, RecordError, SCHEMA, StoredResult};
use idempotency_dynamodb::{attribute, record_from_item};

use crate::Choices;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// A valid item, with something wrong with it or not.
pub fn mutated(choices: &mut Choices<'_>) -> Item {
    let mut item = valid(choices);
    for _ in 0..choices.below(4) {
        let mut names: Vec<String> = item.keys().cloned().collect();
        names.sort();
        names.push("another".into());
        let name = names[choices.below(names.len())].clone();
        match choices.below(4) {
            0 => drop(item.remove(&name)),
            1 => drop(item.insert(name, any(choices))),
            2 => {
                let other = item.get(&names[choices.below(names.len())]).cloned();
                item.extend(other.map(|value| (name, value)));
            }
            _ => drop(item.insert(name, number(choices))),
        }
    }
    item
}

fn valid(choices: &mut Choices<'_>) -> Item {
    let status = choices.one_of(&["in_flight", "released", "completed", "failed"]);
    let mut item = Item::from([
        (attribute::PK.into(), AttributeValue::S("dev#charge#v1#abc".into())),
        (attribute::SK.into(), AttributeValue::S("claim".into())),
        (attribute::STATUS.into(), AttributeValue::S(status.into())),
        (attribute::OWNER.into(), binary(16, choices)),
        (attribute::EXECUTION.into(), binary(16, choices)),
        (attribute::EPOCH.into(), AttributeValue::N("1795978800000".into())),
        (attribute::ATTEMPT.into(), AttributeValue::N("3".into())),
        (attribute::LEASE_UNTIL.into(), AttributeValue::N("1795978833000".into())),
        (attribute::EXPIRES_AT.into(), AttributeValue::N("1796151600".into())),
        (attribute::FINGERPRINT.into(), binary(32, choices)),
        (attribute::SCHEMA.into(), AttributeValue::N("1".into())),
    ]);
    match choices.below(3) {
        0 => {}
        1 => drop(item.insert(attribute::RESULT.into(), binary(5, choices))),
        _ => {
            let mut pointer = Item::from([
                ("count".into(), AttributeValue::N("2".into())),
                ("length".into(), AttributeValue::N("400000".into())),
                ("sha256".into(), binary(32, choices)),
            ]);
            match choices.below(6) {
                0 => drop(pointer.remove("count")),
                1 => drop(pointer.insert("length".into(), number(choices))),
                2 => drop(pointer.insert("sha256".into(), any(choices))),
                _ => {}
            }
            item.insert(attribute::RESULT.into(), AttributeValue::M(pointer));
        }
    }
    item
}

fn binary(length: usize, choices: &mut Choices<'_>) -> AttributeValue {
    let first = u8::try_from(choices.below(256)).unwrap_or_default();
    AttributeValue::B(Blob::new(vec![first; length]))
}

/// A number as DynamoDB may write it: up to 38 digits, fractions, exponents; and what is none.
fn number(choices: &mut Choices<'_>) -> AttributeValue {
    AttributeValue::N(
        choices
            .one_of(&[
                "0",
                "1",
                "2",
                "-1",
                "4294967295",
                "4294967296",
                "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775808",
                "18446744073709551616",
                "99999999999999999999999999999999999999",
                "1.5",
                "1E10",
                "1e+2",
                "+1",
                "01",
                "-0",
                "",
                " 1",
                "NaN",
            ])
            .into(),
    )
}

fn any(choices: &mut Choices<'_>) -> AttributeValue {
    match choices.below(12) {
        0 => AttributeValue::Null(true),
        1 => AttributeValue::Bool(choices.once_in(2)),
        2 => AttributeValue::S(choices.one_of(&["", "1", "completed", "COMPLETED", "in flight", "\u{0}"]).into()),
        3 => AttributeValue::B(Blob::new([])),
        4 => AttributeValue::L(vec![]),
        5 => AttributeValue::M(Item::new()),
        6 => AttributeValue::Ss(vec!["completed".into()]),
        7 => AttributeValue::Ns(vec!["1".into()]),
        8 => AttributeValue::Bs(vec![Blob::new([0; 16])]),
        9 => binary(choices.one_of(&[1, 15, 16, 17, 31, 32, 33, 64]), choices),
        _ => number(choices),
    }
}

/// Checks the reading of an item: an error, or a record that says everything that the item says.
pub fn check(item: &Item) {
    match record_from_item(item) {
        Ok(record) => {
            for (name, value) in written(&record) {
                assert!(
                    item.get(name).is_some_and(|found| equal(found, &value)),
                    "{name} of {record:?} is not {item:?}"
                );
            }
            assert_eq!(record.result.is_some(), item.contains_key(attribute::RESULT), "{item:?}");
        }
        // The reason is true: the schema is another one, or the attribute is missing or is there.
        Err(RecordError::UnknownSchema { found }) => {
            assert_ne!(found, i64::from(SCHEMA));
            assert!(equal(&item[attribute::SCHEMA], &AttributeValue::N(found.to_string())), "{item:?}");
        }
        Err(RecordError::Missing { attribute }) => {
            let nested = matches!(item.get(attribute::RESULT), Some(AttributeValue::M(pointer)) if !pointer.contains_key(attribute));
            assert!(nested || !item.contains_key(attribute), "{attribute} is there: {item:?}");
        }
        Err(RecordError::Invalid { attribute }) => {
            let nested = matches!(item.get(attribute::RESULT), Some(AttributeValue::M(pointer)) if pointer.contains_key(attribute));
            assert!(nested || item.contains_key(attribute), "{attribute} is not there: {item:?}");
        }
        Err(error) => panic!("a kind of error that this check does not know: {error}"),
    }
}

/// The attributes that a record must have come from. (Written again here, so that writer and reader cannot err together.)
fn written(record: &Record) -> Vec<(&'static str, AttributeValue)> {
    let number = |value: i64| AttributeValue::N(value.to_string());
    let binary = |bytes: &[u8]| AttributeValue::B(Blob::new(bytes));
    let mut all = vec![
        (attribute::PK, AttributeValue::S(record.key.as_str().into())),
        (attribute::STATUS, AttributeValue::S(record.status.as_str().into())),
        (attribute::OWNER, binary(record.owner.as_bytes())),
        (attribute::EXECUTION, binary(record.execution.as_bytes())),
        (attribute::EPOCH, number(record.epoch.get())),
        (attribute::ATTEMPT, number(record.attempt.get().into())),
        (attribute::LEASE_UNTIL, number(record.lease_until.get())),
        (attribute::EXPIRES_AT, number(record.expires_at.get())),
        (attribute::FINGERPRINT, binary(record.fingerprint.as_bytes())),
        (attribute::SCHEMA, number(SCHEMA.into())),
    ];
    match &record.result {
        None => {}
        Some(StoredResult::Inline(bytes)) => all.push((attribute::RESULT, binary(bytes))),
        Some(StoredResult::Parts(parts)) => {
            let pointer = [
                ("count".into(), number(parts.count.into())),
                ("length".into(), AttributeValue::N(parts.length.to_string())),
                ("sha256".into(), binary(&parts.sha256)),
            ];
            all.push((attribute::RESULT, AttributeValue::M(pointer.into())));
        }
    }
    all
}

/// Whether the item's value says what the record says. Numbers are compared as numbers: `+1` and `01` are 1.
fn equal(found: &AttributeValue, value: &AttributeValue) -> bool {
    match (found, value) {
        (AttributeValue::N(found), AttributeValue::N(value)) => found.parse::<i128>() == value.parse::<i128>(),
        (AttributeValue::M(found), AttributeValue::M(value)) => {
            value.iter().all(|(name, value)| found.get(name).is_some_and(|found| equal(found, value)))
        }
        _ => found == value,
    }
}
