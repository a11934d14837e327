//! What a function's answer says about its batch.

use std::collections::BTreeSet;

use serde_json::Value;

/// Which messages of a batch failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// These did; none, if it is empty.
    Failed(BTreeSet<String>),
    /// All, because the answer cannot be understood.
    NotUnderstood(&'static str),
}

/// Reads the answer of a function whose mapping reports batch item failures.
///
/// "Handling errors for an SQS event source in Lambda", "Success and failure conditions", and the same for streams: an empty or null answer or list is a
/// complete success; an answer that is not JSON, an identifier that is empty, null, under another name or not in the batch, is
/// a complete failure.
pub(crate) fn verdict(answer: &[u8], batch: &BTreeSet<&str>) -> Verdict {
    if answer.is_empty() {
        return Verdict::Failed(BTreeSet::new());
    }
    let Ok(answer) = serde_json::from_slice::<Value>(answer) else {
        return Verdict::NotUnderstood("the answer is not JSON");
    };
    let failures = match &answer {
        Value::Null => return Verdict::Failed(BTreeSet::new()),
        Value::Object(answer) => answer.get("batchItemFailures").unwrap_or(&Value::Null),
        _ => return Verdict::NotUnderstood("the answer is not a JSON object"),
    };
    let failures = match failures {
        Value::Null => return Verdict::Failed(BTreeSet::new()),
        Value::Array(failures) => failures,
        _ => return Verdict::NotUnderstood("batchItemFailures is not a list"),
    };
    let mut failed = BTreeSet::new();
    for failure in failures {
        match failure.get("itemIdentifier").and_then(Value::as_str) {
            None => return Verdict::NotUnderstood("a failure has no itemIdentifier"),
            Some("") => return Verdict::NotUnderstood("an itemIdentifier is empty"),
            Some(id) if !batch.contains(id) => return Verdict::NotUnderstood("an itemIdentifier is not of this batch"),
            Some(id) => failed.insert(id.to_owned()),
        };
    }
    Verdict::Failed(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str) -> Verdict {
        verdict(answer.as_bytes(), &BTreeSet::from(["m1", "m2"]))
    }

    #[test]
    fn nothing_reported_is_a_complete_success() {
        for answer in ["", "null", "{}", r#"{"batchItemFailures":null}"#, r#"{"batchItemFailures":[]}"#] {
            assert_eq!(read(answer), Verdict::Failed(BTreeSet::new()), "{answer}");
        }
    }

    #[test]
    fn the_reported_messages_failed() {
        let answer = r#"{"batchItemFailures":[{"itemIdentifier":"m2"},{"itemIdentifier":"m2"}]}"#;
        assert_eq!(read(answer), Verdict::Failed(BTreeSet::from(["m2".to_owned()])));
    }

    #[test]
    fn a_report_that_is_not_understood_fails_the_whole_batch() {
        for answer in [
            "{",
            r#""ok""#,
            r#"{"batchItemFailures":{}}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":7}]}"#,
            r#"{"batchItemFailures":[{"id":"m1"}]}"#,
            r#"{"batchItemFailures":["m1"]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":"m1"},{"itemIdentifier":"m3"}]}"#,
        ] {
            assert!(matches!(read(answer), Verdict::NotUnderstood(_)), "{answer}");
        }
    }
}
