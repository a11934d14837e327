//! What an effect says of the record that it was done under: the nightly comparison (`functions/reconcile`) reads it.

use lambda_idempotency::Attempt;
use serde_json::Value;

/// The attribute with the record's partition key. No two effects of an operation have the same.
pub(crate) const RECORD: &str = "idempotency_record";

/// The attribute with the time of the attempt, in milliseconds since 1970.
pub(crate) const CREATED_AT: &str = "created_at";

/// The record of an attempt, and its time: an epoch is the time of its claim, or a little later.
pub(crate) fn evidence(attempt: &Attempt) -> (&str, i64) {
    (attempt.record().as_str(), attempt.epoch().get())
}

/// The same row, with the record of the attempt that wrote it.
pub(crate) fn with_evidence(mut row: Value, attempt: &Attempt) -> Value {
    let (record, created_at) = evidence(attempt);
    if let Value::Object(members) = &mut row {
        members.insert(RECORD.to_owned(), record.into());
        members.insert(CREATED_AT.to_owned(), created_at.into());
    }
    row
}
