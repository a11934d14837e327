//! What an invocation was about, and what its answer says of it.

use base64::Engine as _;
use serde_json::Value;

use crate::Trigger;

/// What an event is about, in a few words, and the key that travels with it. Never its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) what: String,
    pub(super) key: Option<String>,
}

impl About {
    pub(super) fn of(event: &Value, trigger: Trigger) -> Self {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        match trigger {
            Trigger::Http => {
                let method = text("/requestContext/http/method").or(text("/httpMethod")).unwrap_or("?");
                let path = text("/rawPath").or(text("/path")).unwrap_or("?");
                Self { what: format!("{method} {path}"), key: header(event, "idempotency-key") }
            }
            Trigger::Sqs => Self { what: counted(event, "message"), key: single_key(event) },
            Trigger::Stream => Self { what: counted(event, "stream record"), key: None },
            Trigger::EventBridge => Self {
                what: text("/detail-type").unwrap_or("event").to_owned(),
                key: text("/detail/idempotencyKey").map(str::to_owned),
            },
            Trigger::Async => Self { what: "event".to_owned(), key: text("/idempotencyKey").map(str::to_owned) },
        }
    }
}

/// `3 messages`
fn counted(event: &Value, of: &str) -> String {
    match event.get("Records").and_then(Value::as_array).map_or(0, Vec::len) {
        1 => format!("1 {of}"),
        count => format!("{count} {of}s"),
    }
}

fn single_key(event: &Value) -> Option<String> {
    let [record] = event.get("Records")?.as_array()?.as_slice() else { return None };
    record.pointer("/messageAttributes/Idempotency-Key/stringValue")?.as_str().map(str::to_owned)
}

/// A header of an event or of a function's result, whatever the kind of front.
fn header(of: &Value, name: &str) -> Option<String> {
    let found = |members: &str| {
        of.get(members)?.as_object()?.iter().find_map(|(key, value)| {
            let value = value.get(0).unwrap_or(value).as_str()?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    found("headers").or_else(|| found("multiValueHeaders"))
}

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    /// The outcome, if the answer tells one.
    pub(super) outcome: Option<String>,
    /// The status, or how many messages failed.
    pub(super) said: String,
}

impl Answered {
    pub(super) fn read(answer: &[u8], trigger: Trigger) -> Self {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        match trigger {
            Trigger::Http => Self::http(&answer),
            Trigger::Sqs | Trigger::Stream => match answer.get("batchItemFailures").and_then(Value::as_array) {
                Some(failures) if !failures.is_empty() => {
                    Self { outcome: None, said: format!("{} come again", failures.len()) }
                }
                _ => Self { outcome: None, said: "done".to_owned() },
            },
            Trigger::EventBridge | Trigger::Async => Self { outcome: None, said: "done".to_owned() },
        }
    }

    fn http(answer: &Value) -> Self {
        let said = answer.get("statusCode").and_then(Value::as_u64).map_or("no status".to_owned(), |s| s.to_string());
        let is_problem = || header(answer, "content-type").is_some_and(|kind| kind.contains("problem+json"));
        let outcome = match header(answer, "idempotent-replayed") {
            Some(_) => Some("replay".to_owned()),
            None if is_problem() => problem(answer),
            None => None,
        };
        Self { outcome, said }
    }
}

/// The last part of a problem's type (RFC 9457), as the timeline calls it.
fn problem(answer: &Value) -> Option<String> {
    let body = answer.get("body")?.as_str()?;
    let is_base64 = answer.get("isBase64Encoded").and_then(Value::as_bool).unwrap_or_default();
    let decoded = is_base64.then(|| base64::engine::general_purpose::STANDARD.decode(body).ok()).flatten();
    let body: Value = serde_json::from_slice(decoded.as_deref().unwrap_or(body.as_bytes())).ok()?;
    let name = body.get("type")?.as_str()?.rsplit(['/', ':', '#']).next()?;
    Some(match name {
        "outcome-unknown" => "uncertain".to_owned(),
        name => name.replace('-', " "),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_http_answer_tells_its_outcome() {
        let problem = |name: &str| json!({ "type": format!("https://example.com/problems/{name}") }).to_string();
        let kind = json!({ "content-type": "application/problem+json" });
        let rows = [
            (json!({ "statusCode": 201, "headers": { "Idempotent-Replayed": "true" } }), Some("replay"), "201"),
            (
                json!({ "statusCode": 201, "multiValueHeaders": { "Idempotent-Replayed": ["true"] } }),
                Some("replay"),
                "201",
            ),
            (json!({ "statusCode": 201, "headers": {} }), None, "201"),
            (json!({ "statusCode": 409, "headers": kind, "body": problem("conflict") }), Some("conflict"), "409"),
            (
                json!({ "statusCode": 500, "headers": kind, "body": problem("outcome-unknown") }),
                Some("uncertain"),
                "500",
            ),
            (
                json!({ "statusCode": 503, "headers": kind, "body": problem("store-unavailable") }),
                Some("store unavailable"),
                "503",
            ),
            (json!({ "statusCode": 422, "headers": {}, "body": problem("mismatch") }), None, "422"),
            (json!("text"), None, "no status"),
        ];
        for (answer, outcome, said) in rows {
            let read = Answered::read(answer.to_string().as_bytes(), Trigger::Http);
            assert_eq!((read.outcome.as_deref(), &*read.said), (outcome, said), "{answer}");
        }
    }

    #[test]
    fn an_answer_about_messages_tells_how_many_come_again() {
        let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "1" }] }).to_string();
        assert_eq!(Answered::read(failed.as_bytes(), Trigger::Sqs).said, "1 come again");
        assert_eq!(Answered::read(br#"{"batchItemFailures":[]}"#, Trigger::Sqs).said, "done");
        assert_eq!(Answered::read(b"null", Trigger::EventBridge).said, "done");
    }

    #[test]
    fn an_event_is_told_by_its_route_and_key_and_never_by_its_body() {
        let headers = json!({ "Idempotency-Key": "order-42" });
        let rows = [
            (
                Trigger::Http,
                json!({ "rawPath": "/charges", "requestContext": { "http": { "method": "POST" } }, "headers": headers, "body": "b" }),
                ("POST /charges", Some("order-42")),
            ),
            (
                Trigger::Http,
                json!({ "path": "/charges", "httpMethod": "POST", "multiValueHeaders": { "idempotency-key": ["order-42"] } }),
                ("POST /charges", Some("order-42")),
            ),
            (
                Trigger::Sqs,
                json!({ "Records": [{ "body": "b", "messageAttributes": { "Idempotency-Key": { "stringValue": "k" } } }] }),
                ("1 message", Some("k")),
            ),
            (Trigger::Sqs, json!({ "Records": [{}, {}] }), ("2 messages", None)),
            (Trigger::Stream, json!({ "Records": [{}] }), ("1 stream record", None)),
            (
                Trigger::EventBridge,
                json!({ "detail-type": "OrderPlaced", "detail": { "idempotencyKey": "k" } }),
                ("OrderPlaced", Some("k")),
            ),
            (Trigger::Async, json!({ "idempotencyKey": "k" }), ("event", Some("k"))),
        ];
        for (trigger, event, (what, key)) in rows {
            let about = About::of(&event, trigger);
            assert_eq!((&*about.what, about.key.as_deref()), (what, key), "{event}");
        }
    }
}
