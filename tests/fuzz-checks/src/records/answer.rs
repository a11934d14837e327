//! The answer that a source must get.

use serde_json::{Value, json};

use super::known::Known;

/// The answer to an event of whose records these are not done: `Err` where it must be an error.
pub(super) fn expected<Src: Known>(records: &[Src::Record], not_done: &[usize]) -> Result<Value, ()> {
    if !Src::REPORTS {
        return if not_done.is_empty() { Ok(Value::Null) } else { Err(()) };
    }
    let told = Src::told(records, not_done);
    let identifiers: Option<Vec<Value>> = told.iter().map(|record| Src::identifier(&records[*record])).collect();
    match identifiers {
        Some(identifiers) if identifiers.iter().all(is_usable) => Ok(report(&identifiers)),
        _ => Err(()),
    }
}

/// An empty or unknown identifier would fail the whole batch (AWS Lambda Developer Guide, "Handling errors for an SQS event source in
/// Lambda").
fn is_usable(identifier: &Value) -> bool {
    !identifier.is_null() && identifier != ""
}

fn report(identifiers: &[Value]) -> Value {
    let failures: Vec<_> = identifiers.iter().map(|identifier| json!({ "itemIdentifier": identifier })).collect();
    json!({ "batchItemFailures": failures })
}

/// The identifiers in an answer.
pub(super) fn identifiers(answer: &Value) -> Vec<&Value> {
    let failures = answer["batchItemFailures"].as_array().into_iter().flatten();
    failures.map(|failure| &failure["itemIdentifier"]).collect()
}
