//! Which records a mapping lets pass: "Filter rule syntax" in the Lambda Developer Guide.

use serde_json::Value;

use super::StreamError;

/// A pattern that is understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter(Value);

impl Filter {
    /// Takes a pattern whose comparisons are all known; one that is not would let the wrong records pass.
    pub(super) fn new(pattern: Value) -> Result<Self, StreamError> {
        if !pattern.is_object() {
            return Err(StreamError::Filter { place: String::new(), why: "a pattern is an object" });
        }
        check(&pattern, "")?;
        Ok(Self(pattern))
    }

    pub(super) fn fits(&self, record: &Value) -> bool {
        fits(&self.0, Some(record))
    }
}

fn check(pattern: &Value, place: &str) -> Result<(), StreamError> {
    let refused = |why| Err(StreamError::Filter { place: place.trim_start_matches('.').to_owned(), why });
    match pattern {
        Value::Object(members) => members.iter().try_for_each(|(name, part)| check(part, &format!("{place}.{name}"))),
        Value::Array(rules) if rules.is_empty() => refused("a list of rules is not empty"),
        Value::Array(rules) => match rules.iter().all(is_rule) {
            true => Ok(()),
            false => refused(
                "a rule is a string, a number, a boolean, null, `prefix` with a string or `exists` with a boolean",
            ),
        },
        _ => refused("rules stand in a list"),
    }
}

fn is_rule(rule: &Value) -> bool {
    match rule {
        Value::Object(rule) => match (rule.len(), rule.get("prefix"), rule.get("exists")) {
            (1, Some(prefix), None) => prefix.is_string(),
            (1, None, Some(exists)) => exists.is_boolean(),
            _ => false,
        },
        Value::Array(_) => false,
        _ => true,
    }
}

/// Every member of the pattern must fit, by one of its rules.
fn fits(pattern: &Value, value: Option<&Value>) -> bool {
    match pattern {
        Value::Object(members) => {
            members.iter().all(|(name, part)| fits(part, value.and_then(|value| value.get(name.as_str()))))
        }
        Value::Array(rules) => rules.iter().any(|rule| follows(rule, value)),
        _ => false,
    }
}

fn follows(rule: &Value, value: Option<&Value>) -> bool {
    if let Some(exists) = rule.get("exists").and_then(Value::as_bool) {
        // Only the end of a path exists or does not.
        return value.is_some_and(|value| !value.is_object()) == exists;
    }
    match rule.get("prefix").and_then(Value::as_str) {
        Some(prefix) => value.and_then(Value::as_str).is_some_and(|text| text.starts_with(prefix)),
        None => value == Some(rule),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_member_must_fit_by_one_of_its_rules() {
        let pattern = json!({
            "eventName": ["INSERT", "MODIFY"],
            "dynamodb": { "Keys": { "sk": { "S": [{ "prefix": "outbox#" }] } }, "OldImage": { "a": { "S": [{ "exists": false }] } } },
        });
        let filter = Filter::new(pattern).unwrap();
        let record =
            |name: &str, sk: Value| json!({ "eventName": name, "dynamodb": { "Keys": { "sk": { "S": sk } } } });
        assert!(filter.fits(&record("INSERT", json!("outbox#1"))));
        assert!(filter.fits(&record("MODIFY", json!("outbox#"))));
        for other in [
            record("REMOVE", json!("outbox#1")),
            record("INSERT", json!("claim")),
            record("INSERT", json!(1)),
            json!({}),
        ] {
            assert!(!filter.fits(&other), "{other}");
        }
        let mut changed = record("INSERT", json!("outbox#1"));
        changed["dynamodb"]["OldImage"] = json!({ "a": { "S": "b" } });
        assert!(!filter.fits(&changed));
    }

    #[test]
    fn what_is_not_understood_is_refused_and_named() {
        for (pattern, place) in [
            (json!("INSERT"), ""),
            (json!({ "a": "b" }), "a"),
            (json!({ "a": [] }), "a"),
            (json!({ "a": { "b": [{ "suffix": "x" }] } }), "a.b"),
            (json!({ "a": [{ "prefix": 1 }] }), "a"),
            (json!({ "a": [["b"]] }), "a"),
        ] {
            let error = Filter::new(pattern.clone()).unwrap_err();
            assert!(matches!(&error, StreamError::Filter { place: at, .. } if at == place), "{pattern}: {error}");
        }
    }
}
