//! From a function's result to an HTTP response.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, SET_COOKIE, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::ResponseError;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    status_code: u16,
    #[serde(default)]
    headers: Option<BTreeMap<String, HeaderText>>,
    #[serde(default)]
    multi_value_headers: Option<BTreeMap<String, Vec<HeaderText>>>,
    #[serde(default)]
    cookies: Option<Vec<String>>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// API Gateway accepts numbers and booleans as header values.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum HeaderText {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

impl HeaderText {
    fn value(&self) -> Result<HeaderValue, http::Error> {
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
        };
        Ok(HeaderValue::from_str(&text)?)
    }
}

/// The response for a function's result.
///
/// A result without `statusCode` is the JSON body of a 200 response, as API Gateway assumes. Each of
/// `cookies` becomes a `set-cookie` header. Format 2.0 has no `multiValueHeaders`; they are accepted, and
/// a name that is in both keeps its multiple values.
///
/// # Errors
///
/// When the result is not such a response; API Gateway answers 500 then.
pub fn response_from_payload(payload: &[u8]) -> Result<Response<Bytes>, ResponseError> {
    let value: Value = serde_json::from_slice(payload)?;
    if value.get("statusCode").is_none() {
        let mut response = Response::new(Bytes::copy_from_slice(payload));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Ok(response);
    }
    let payload: Payload = serde_json::from_value(value)?;
    let mut response = Response::new(body(&payload)?);
    *response.status_mut() = status(payload.status_code)?;
    set_headers(&payload, &mut response)?;
    Ok(response)
}

fn body(payload: &Payload) -> Result<Bytes, base64::DecodeError> {
    let body = payload.body.as_deref().unwrap_or_default();
    if payload.is_base64_encoded {
        return Ok(BASE64_STANDARD.decode(body)?.into());
    }
    Ok(Bytes::copy_from_slice(body.as_bytes()))
}

/// An interim response (1xx) is not a response to a request, so it is as invalid as 99 is.
fn status(code: u16) -> Result<StatusCode, http::Error> {
    let code = if code < 200 { 0 } else { code };
    Ok(StatusCode::from_u16(code)?)
}

fn set_headers(payload: &Payload, response: &mut Response<Bytes>) -> Result<(), http::Error> {
    let headers = response.headers_mut();
    for (name, value) in payload.headers.iter().flatten() {
        headers.append(HeaderName::from_bytes(name.as_bytes())?, value.value()?);
    }
    for (name, values) in payload.multi_value_headers.iter().flatten() {
        let name = HeaderName::from_bytes(name.as_bytes())?;
        headers.remove(&name);
        for value in values {
            headers.append(name.clone(), value.value()?);
        }
    }
    for cookie in payload.cookies.iter().flatten() {
        headers.append(SET_COOKIE, HeaderValue::from_str(cookie)?);
    }
    // They describe a connection that the function does not have; the server sets its own.
    for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn response(payload: &Value) -> Result<Response<Bytes>, ResponseError> {
        response_from_payload(payload.to_string().as_bytes())
    }

    fn values<'a>(response: &'a Response<Bytes>, name: &str) -> Vec<&'a str> {
        response.headers().get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }

    #[test]
    fn a_full_response() {
        let response = response(&json!({
            "statusCode": 201,
            "headers": { "Content-Type": "text/plain", "x-number": 3, "content-length": 99 },
            "cookies": ["a=1; Path=/", "b=2"],
            "body": "created",
        }))
        .unwrap();

        assert_eq!(response.status(), 201);
        assert_eq!(values(&response, "content-type"), ["text/plain"]);
        assert_eq!(values(&response, "x-number"), ["3"]);
        assert_eq!(values(&response, "set-cookie"), ["a=1; Path=/", "b=2"]);
        assert!(values(&response, "content-length").is_empty());
        assert_eq!(response.body(), "created");
    }

    #[test]
    fn multiple_values_win_over_a_single_one() {
        let response = response(&json!({
            "statusCode": 200,
            "headers": { "x-thing": "b", "x-other": "c" },
            "multiValueHeaders": { "X-Thing": ["a", "b"] },
        }))
        .unwrap();

        assert_eq!(values(&response, "x-thing"), ["a", "b"]);
        assert_eq!(values(&response, "x-other"), ["c"]);
    }

    #[test]
    fn a_base64_body_is_decoded() {
        let response = response(&json!({ "statusCode": 200, "body": "/wA+", "isBase64Encoded": true })).unwrap();

        assert_eq!(response.body().as_ref(), b"\xff\x00>");
    }

    #[test]
    fn a_result_without_status_is_a_json_body() {
        for payload in [json!({ "hello": "world" }), json!("text"), json!(null), json!([1])] {
            let response = response(&payload).unwrap();
            assert_eq!(response.status(), 200);
            assert_eq!(values(&response, "content-type"), ["application/json"]);
            assert_eq!(response.body(), &payload.to_string());
        }
    }

    #[test]
    fn what_is_not_a_response_is_an_error() {
        assert!(matches!(response_from_payload(b"not json"), Err(ResponseError::Malformed(_))));
        assert!(matches!(response(&json!({ "statusCode": "ok" })), Err(ResponseError::Malformed(_))));
        assert!(matches!(response(&json!({ "statusCode": 99 })), Err(ResponseError::NotHttp(_))));
        let header = json!({ "statusCode": 200, "headers": { "no good": "x" } });
        assert!(matches!(response(&header), Err(ResponseError::NotHttp(_))));
        let body = json!({ "statusCode": 200, "body": "%", "isBase64Encoded": true });
        assert!(matches!(response(&body), Err(ResponseError::NotBase64(_))));
    }
}
