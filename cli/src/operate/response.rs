//! A response that an operator writes down, for later requests to get.

use std::{collections::BTreeMap, io::Read, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Response, header::CONTENT_TYPE};
use idempotency_core::Outcome;
use lambda_http::Body;
use lambda_idempotency::http as over_http;
use serde::Deserialize;
use serde_json::Value;

use super::error::OperateError;

/// What the file has to say, for `--help`.
pub(crate) const FORM: &str = r#"{"status": 201, "headers": {"location": "/charges/ch_1"}, "body": {"id": "ch_1"}}"#;

/// A response as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, Values>,
    /// Text as it is; anything else as JSON.
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    body_base64: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Many(Vec<String>),
}

/// Reads a response from a file, or from standard input for `-`, and makes of it what a function would have stored.
pub(crate) fn outcome(path: &Path) -> Result<Outcome, OperateError> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(path).map(|read| text = read),
    };
    read.map_err(|error| OperateError::usage(format!("cannot read the response {}: {error}", path.display())))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Outcome, OperateError> {
    let refused =
        |why: String| OperateError::usage(format!("this is no response: {why}; expected JSON such as {FORM}"));
    let written: Written = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
    // Lambda's fronts take no others; 1xx are not final (RFC 9110, section 15.2).
    if !(200..=599).contains(&written.status) {
        return Err(refused(format!("its status is {}, and a final one is from 200 to 599", written.status)));
    }
    let mut response = Response::builder().status(written.status);
    for (name, values) in &written.headers {
        let values = match values {
            Values::One(value) => std::slice::from_ref(value),
            Values::Many(values) => values,
        };
        response = values.iter().fold(response, |response, value| response.header(name, value));
    }
    let says_type = written.headers.keys().any(|name| name.eq_ignore_ascii_case(CONTENT_TYPE.as_str()));
    let body = match (written.body, written.body_base64) {
        (Some(_), Some(_)) => return Err(refused("it has a `body` and a `body_base64`".into())),
        (None, None) => Body::Empty,
        (None, Some(encoded)) => {
            Body::Binary(STANDARD.decode(encoded).map_err(|error| refused(format!("`body_base64`: {error}")))?)
        }
        (Some(Value::String(text)), None) => Body::Text(text),
        (Some(value), None) => {
            if !says_type {
                response = response.header(CONTENT_TYPE, "application/json");
            }
            Body::Text(value.to_string())
        }
    };
    let response = response.body(body).map_err(|error| refused(error.to_string()))?;
    Ok(over_http::stored_response(response))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_response_is_told_with_an_example() {
        assert!(told("{").contains("EOF") && told("{").contains(FORM));
        assert!(told("{}").contains("missing field `status`"));
        assert!(told(r#"{"status": 99999}"#).contains("u16"));
        for status in [20, 100, 199, 600] {
            assert!(told(&format!(r#"{{"status": {status}}}"#)).contains("from 200 to 599"), "{status}");
        }
        assert!(told(r#"{"status": 200, "headers": {"a b": "c"}}"#).contains("header"));
        assert!(told(r#"{"status": 200, "body": 1, "body_base64": "AA=="}"#).contains("body_base64"));
        assert!(told(r#"{"status": 200, "body_base64": "?"}"#).contains("body_base64"));
        assert!(told(r#"{"status": 200, "code": 1}"#).contains("unknown field `code`"));
    }

    #[test]
    fn the_example_is_a_response() {
        let stored = Response::builder()
            .status(201)
            .header("location", "/charges/ch_1")
            .header("content-type", "application/json");
        let stored = over_http::stored_response(stored.body(Body::Text(r#"{"id":"ch_1"}"#.into())).unwrap());
        assert_eq!(parse(FORM).unwrap(), stored);
    }
}
