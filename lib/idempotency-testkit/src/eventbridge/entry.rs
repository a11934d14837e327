//! An entry of `PutEvents`, and the event that it becomes.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::civil_time::CivilTime;
use crate::local::{ACCOUNT_ID, REGION};

/// Why an entry is no event: `ErrorCode` and `ErrorMessage` of its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// An entry that is an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) source: String,
    pub(super) detail_type: String,
    /// JSON, byte for byte as it was sent.
    detail: String,
    resources: Vec<String>,
    time: Option<Duration>,
}

impl Entry {
    /// Reads an entry as the API has it: the detail is a string of JSON, the time is in seconds since the Unix epoch.
    pub(super) fn read(entry: &Value) -> Result<Self, Refused> {
        let detail = text(entry, "Detail")?;
        let is_object = serde_json::from_str::<Map<String, Value>>(&detail).is_ok();
        if !is_object {
            return Err(Refused { code: "MalformedDetail", message: "Detail is malformed.".to_owned() });
        }
        let source = text(entry, "Source")?;
        if source.starts_with("aws.") {
            let message = "Not authorized for the source.".to_owned();
            return Err(Refused { code: "NotAuthorizedForSourceException", message });
        }
        let detail_type = text(entry, "DetailType")?;
        if detail_type.chars().count() > 128 {
            return Err(invalid("DetailType", "it has more than 128 characters."));
        }
        let time = match entry.get("Time").filter(|time| !time.is_null()) {
            None => None,
            Some(time) => Some(seconds(time).ok_or_else(|| invalid("Time", "it is no time."))?),
        };
        let resources = entry.get("Resources").and_then(Value::as_array).into_iter().flatten();
        let resources = resources.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { source, detail_type, detail, resources, time })
    }

    /// The event: "Events in Amazon EventBridge" in the EventBridge User Guide. `now` is its time if the entry has none.
    pub(super) fn event(&self, id: &str, now: Duration) -> String {
        let head = json!({
            "version": "0",
            "id": id,
            "detail-type": self.detail_type,
            "source": self.source,
            "account": ACCOUNT_ID,
            "time": CivilTime::of(self.time.unwrap_or(now)).iso_seconds(),
            "region": REGION,
            "resources": self.resources,
        });
        // Parsing and writing could change numbers and the order of members.
        let head = head.to_string();
        format!(r#"{},"detail":{}}}"#, head.strip_suffix('}').unwrap_or(&head), self.detail)
    }
}

/// "Sending events with PutEvents", "Calculating PutEvents event entry size".
pub(super) fn size(entry: &Value) -> usize {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map_or(0, str::len);
    let time = if entry.get("Time").is_some_and(|time| !time.is_null()) { 14 } else { 0 };
    let resources = entry.get("Resources").and_then(Value::as_array).into_iter().flatten();
    let resources: usize = resources.filter_map(Value::as_str).map(str::len).sum();
    time + text("Source") + text("DetailType") + text("Detail") + resources
}

fn text(entry: &Value, name: &str) -> Result<String, Refused> {
    let text = entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    text.ok_or_else(|| invalid(name, &format!("{name} is a required argument.")))
}

fn invalid(name: &str, why: &str) -> Refused {
    Refused { code: "InvalidArgument", message: format!("Parameter {name} is not valid. Reason: {why}") }
}

fn seconds(time: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(time.as_f64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Value {
        json!({
            "Source": "claims", "DetailType": "ClaimFiled", "Detail": r#"{"b": 1.0, "a": 12345678901234567890123}"#,
            "Resources": ["arn:1"], "Time": 1_709_251_199.5,
        })
    }

    #[test]
    fn the_event_has_the_envelope_and_the_detail_as_it_was_sent() {
        let event = Entry::read(&entry()).unwrap().event("e1", Duration::ZERO);

        assert!(event.ends_with(r#","detail":{"b": 1.0, "a": 12345678901234567890123}}"#), "{event}");
        let mut event: Value = serde_json::from_str(&event).unwrap();
        event["detail"] = Value::Null;
        let expected = json!({
            "version": "0",
            "id": "e1",
            "detail-type": "ClaimFiled",
            "source": "claims",
            "account": "123456789012",
            "time": "2024-02-29T23:59:59Z",
            "region": "us-east-1",
            "resources": ["arn:1"],
            "detail": null,
        });
        assert_eq!(event, expected);
    }

    #[test]
    fn without_a_time_it_is_now() {
        let mut entry = entry();
        entry["Time"] = Value::Null;
        let event = Entry::read(&entry).unwrap().event("e1", Duration::from_secs(951_782_400));
        assert_eq!(serde_json::from_str::<Value>(&event).unwrap()["time"], "2000-02-29T00:00:00Z");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (field, value, code) in [
            ("Source", Value::Null, "InvalidArgument"),
            ("Source", json!("aws.s3"), "NotAuthorizedForSourceException"),
            ("DetailType", json!(""), "InvalidArgument"),
            ("DetailType", json!("x".repeat(129)), "InvalidArgument"),
            ("Detail", Value::Null, "InvalidArgument"),
            ("Detail", json!("{"), "MalformedDetail"),
            ("Detail", json!("[]"), "MalformedDetail"),
            ("Time", json!("yesterday"), "InvalidArgument"),
        ] {
            let mut entry = entry();
            entry[field] = value;
            let refused = Entry::read(&entry).unwrap_err();
            assert_eq!(refused.code, code, "{field}: {refused:?}");
        }
    }

    #[test]
    fn the_size_is_counted_as_the_guide_does() {
        assert_eq!(size(&entry()), 14 + "claims".len() + "ClaimFiled".len() + 40 + "arn:1".len());
    }
}
