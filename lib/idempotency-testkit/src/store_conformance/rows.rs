//! Rows beside a record: the first to insert one says what it is, and a generation's are read together.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{
    EpochSeconds, ExecutionId, Inserted, OwnerToken, Parts, Record, RecordKey, Row, RowInserted, RowKind, Store,
    StoreError, StoredResult,
};

use super::config::Config;
use super::expect::{answered, expect, failed, named};
use super::failure::{FailedCall, Nonconformance};
use super::plain::plain_record;
use super::races::{at_the_same_time, fresh_key};
use super::report::Report;

const FIRST_COUNTS: &str = "the first to insert a row says what it is";
const VALUES: &str = "a row comes back with every value of every field";
const PUT: &str = "a row that is put takes the place of what was there";
const GENERATIONS: &str = "a generation's rows are read, and no others";
const BESIDE: &str = "rows and records do not touch each other";
const PAGES: &str = "rows of more than a megabyte are all read";
const RACE: &str = "one of many inserts of a row wins";

/// As many of the largest inline values as two pages of a query do not hold (1 MB each: "Query", Amazon DynamoDB API Reference).
const MANY: u32 = 70;

const EXECUTION: ExecutionId = ExecutionId::from_bytes([3; 16]);

pub(super) async fn run<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), Nonconformance> {
    let within = config.within;
    named(FIRST_COUNTS, first_counts(&**store, within), report).await?;
    named(VALUES, values(&**store, within), report).await?;
    named(PUT, put(&**store, within), report).await?;
    named(GENERATIONS, generations(&**store, within), report).await?;
    named(BESIDE, beside(&**store, within), report).await?;
    named(PAGES, pages(&**store, within), report).await?;
    named(RACE, race(store, config), report).await
}

/// A row of a step.
fn row(key: &RecordKey, name: &str, owner: u8) -> Row {
    Row {
        key: key.clone(),
        execution: EXECUTION,
        kind: RowKind::Step { ordinal: 0, has_undo: false },
        name: name.to_owned(),
        owner: OwnerToken::from_bytes([owner; 16]),
        type_name: "u32".to_owned(),
        value: Some(StoredResult::Inline(Bytes::from(vec![0, owner]))),
        expires_at: EpochSeconds::new(4_000_000_000),
    }
}

async fn first_counts<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let (first, second) = (row(&key, "charge", 1), row(&key, "charge", 2));
    // It has the same place, for the name says which step it is.
    let second = Row { kind: RowKind::Step { ordinal: 9, has_undo: true }, type_name: "u64".to_owned(), ..second };
    expect("insert a row", store.insert_row(&first, within).await, &RowInserted::Inserted)?;
    let exists = RowInserted::Exists(first.clone());
    expect("insert the same row again", store.insert_row(&first, within).await, &exists)?;
    expect("insert another row in its place", store.insert_row(&second, within).await, &exists)?;
    expect("read the rows", store.rows(&key, EXECUTION, within).await, &vec![first])
}

/// Rows at the ends of what each field can hold.
fn all_kinds(key: &RecordKey) -> Vec<Row> {
    let plain = |name: &str, kind| Row { kind, ..row(key, name, 1) };
    let step = |ordinal, has_undo| RowKind::Step { ordinal, has_undo };
    let parts = |count, length| Some(StoredResult::Parts(Parts { count, length, sha256: [8; 32] }));
    let inline = |bytes: Vec<u8>| Some(StoredResult::Inline(Bytes::from(bytes)));
    vec![
        plain("first", step(0, false)),
        plain("last", step(u32::MAX, true)),
        plain("memo", RowKind::Memo { input: [0; 32] }),
        plain("memo", RowKind::Memo { input: [255; 32] }),
        Row { value: None, type_name: String::new(), ..plain("first", RowKind::Begun { ordinal: 4 }) },
        Row { value: None, type_name: String::new(), ..plain("first", RowKind::Undone) },
        Row { value: inline(Vec::new()), ..plain("empty", step(2, false)) },
        Row { value: inline(vec![255; StoredResult::MAX_INLINE]), ..plain("largest", step(3, false)) },
        Row { value: parts(1, 1), ..plain("parts", step(4, false)) },
        Row { value: parts(u32::MAX, u64::MAX), ..plain("most-parts", step(5, true)) },
        Row { type_name: "Vec<ä>".repeat(200), ..plain(&"n".repeat(128), step(6, false)) },
        Row { owner: OwnerToken::from_bytes([0; 16]), ..plain("A.b_c-9", step(7, false)) },
        Row { expires_at: EpochSeconds::new(i64::MAX), ..plain("forever", step(8, false)) },
    ]
}

async fn values<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let rows = all_kinds(&key);
    for row in &rows {
        let call = format!("insert {:?} {:?}", row.kind, row.name);
        expect(&call, store.insert_row(row, within).await, &RowInserted::Inserted)?;
        let exists = RowInserted::Exists(row.clone());
        expect(&format!("{call} again"), store.insert_row(row, within).await, &exists)?;
    }
    same_rows(store, &key, EXECUTION, rows, within).await
}

async fn put<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let first = row(&key, "charge", 1);
    expect("insert a row", store.insert_row(&first, within).await, &RowInserted::Inserted)?;
    let longer = Row { expires_at: EpochSeconds::new(4_100_000_000), ..first };
    expect("put it with another expiry", store.put_row(&longer, within).await, &())?;
    let alone = Row { value: None, ..row(&key, "alone", 2) };
    expect("put a row where none is", store.put_row(&alone, within).await, &())?;
    same_rows(store, &key, EXECUTION, vec![longer, alone], within).await
}

async fn generations<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let longer_key = RecordKey::from_stored(format!("{}-and-more", key.as_str()));
    let mut almost = [3; 16];
    almost[15] = 2;
    let places = [(&key, EXECUTION), (&key, ExecutionId::from_bytes(almost)), (&key, ExecutionId::from_bytes([0; 16]))];
    let rows: Vec<_> = places
        .into_iter()
        .chain([(&longer_key, EXECUTION)])
        .zip(1_u8..)
        .map(|((key, execution), owner)| Row { execution, ..row(key, "charge", owner) })
        .collect();
    expect("read the rows of a new key", store.rows(&key, EXECUTION, within).await, &Vec::new())?;
    for row in &rows {
        let call = format!("insert the row of {} {}", row.key, row.execution);
        expect(&call, store.insert_row(row, within).await, &RowInserted::Inserted)?;
    }
    for row in rows {
        let (key, execution) = (row.key.clone(), row.execution);
        same_rows(store, &key, execution, vec![row], within).await?;
    }
    Ok(())
}

async fn beside<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let record = plain_record(fresh_key(), OwnerToken::from_bytes([1; 16]), 1);
    let key = &record.key;
    let row = Row { execution: record.execution, ..row(key, "claim", 1) };
    expect("insert a row without a record", store.insert_row(&row, within).await, &RowInserted::Inserted)?;
    expect("read the record", store.get(key, within).await, &None)?;
    let inserted = store.insert_if_absent(&record, within).await;
    expect("insert the record beside the row", inserted, &Inserted::Inserted)?;
    let parts = [Bytes::from_static(b"part")];
    let stored = store.put_parts(key, row.owner, &parts, row.expires_at, within).await;
    expect("store parts under the row's owner", stored, &())?;
    let other = Record { owner: OwnerToken::from_bytes([2; 16]), ..record.clone() };
    answered("replace the record", store.replace(record.version(), &other, within).await)?;
    same_rows(store, key, row.execution, vec![row.clone()], within).await?;
    let read = store.get_parts(key, row.owner, 1, within).await;
    expect("read the parts", read, &Some(parts.to_vec()))?;
    expect("read the record", store.get(key, within).await, &Some(other))
}

async fn pages<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let value = StoredResult::Inline(Bytes::from(vec![7; StoredResult::MAX_INLINE]));
    let rows: Vec<_> = (0..MANY)
        .map(|ordinal| Row {
            kind: RowKind::Step { ordinal, has_undo: false },
            value: Some(value.clone()),
            ..row(&key, &format!("step-{ordinal}"), 1)
        })
        .collect();
    for row in &rows {
        expect("insert a large row", store.insert_row(row, within).await, &RowInserted::Inserted)?;
    }
    same_rows(store, &key, EXECUTION, rows, within).await
}

/// Exactly one is inserted, and all others are shown it.
async fn race<S: Store>(store: &Arc<S>, config: &Config) -> Result<(), FailedCall> {
    let key = fresh_key();
    let rows: Vec<_> = (0..config.callers).zip(1_u8..).map(|(_, owner)| row(&key, "charge", owner)).collect();
    let within = config.within;
    let insert = |store: Arc<S>, row: Row| async move {
        let inserted = store.insert_row(&row, within).await;
        (row, inserted)
    };
    let answers = at_the_same_time(store, rows, insert).await;
    let answers = answers.into_iter().map(|(row, inserted)| Ok((row, answered("insert the row", inserted)?)));
    let answers = answers.collect::<Result<Vec<_>, FailedCall>>()?;
    let winners: Vec<_> = answers.iter().filter(|(_, answer)| *answer == RowInserted::Inserted).collect();
    let [(winner, _)] = winners[..] else {
        let call = format!("{} inserts of one row", config.callers);
        return Err(failed(&call, "one inserts", &format!("{} insert", winners.len())));
    };
    for (row, answer) in &answers {
        let expected = if row == winner { RowInserted::Inserted } else { RowInserted::Exists(winner.clone()) };
        expect("insert the row", Ok::<_, StoreError>(answer.clone()), &expected)?;
    }
    same_rows(&**store, &key, EXECUTION, vec![winner.clone()], within).await
}

/// Their order means nothing.
async fn same_rows<S: Store>(
    store: &S,
    key: &RecordKey,
    execution: ExecutionId,
    mut expected: Vec<Row>,
    within: Duration,
) -> Result<(), FailedCall> {
    let call = format!("read the rows of {key} {execution}");
    let mut rows = answered(&call, store.rows(key, execution, within).await)?;
    rows.sort_by_key(Row::sort_key);
    expected.sort_by_key(Row::sort_key);
    if rows.len() != expected.len() {
        return Err(failed(&call, &format!("{} rows", expected.len()), &format!("{} rows", rows.len())));
    }
    for (row, expected) in rows.into_iter().zip(&expected) {
        expect(&call, Ok::<_, StoreError>(row), expected)?;
    }
    Ok(())
}
