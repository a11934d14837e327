//! Payload format 2.0, which HTTP APIs and function URLs have in common.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, Version};
use serde_json::{Map, Value, json};

use super::fields::with;
use super::function_result::{FunctionResult, append, finished};
use super::request_time::common_log_time;
use super::{ReceivedRequest, ResponseError, query, request_body, request_headers};
use crate::clock::epoch_millis;

/// The event, without what its kind puts into the request context.
///
/// Repeated headers and query parameters are combined with commas; cookies are split out of their header. A body is text if
/// its content type is one that is taken for text (or is missing) and it is UTF-8, else base64.
pub(super) fn event(parts: &Parts, path: &str, body: &[u8], received: &ReceivedRequest, context: Value) -> Value {
    let mut headers = request_headers::forwarded(&parts.headers, received);
    // Cookies have a field of their own.
    headers.remove(COOKIE);
    let mut event = Map::from_iter([
        ("version".to_owned(), json!("2.0")),
        ("routeKey".to_owned(), json!("$default")),
        ("rawPath".to_owned(), json!(path)),
        ("rawQueryString".to_owned(), json!(parts.uri.query().unwrap_or_default())),
        ("headers".to_owned(), json!(request_headers::joined(&headers))),
        ("requestContext".to_owned(), request_context(parts, path, received, context)),
    ]);
    let cookies = cookies(&parts.headers);
    if !cookies.is_empty() {
        event.insert("cookies".to_owned(), json!(cookies));
    }
    let parameters = query::joined(query::decoded(&parts.uri));
    if !parameters.is_empty() {
        event.insert("queryStringParameters".to_owned(), json!(parameters));
    }
    let mut is_base64_encoded = false;
    if !body.is_empty() {
        let is_text = request_body::media_type(&parts.headers).is_none_or(|content| request_body::is_text(&content));
        let (body, is_base64) = request_body::encode(body, is_text);
        is_base64_encoded = is_base64;
        event.insert("body".to_owned(), json!(body));
    }
    event.insert("isBase64Encoded".to_owned(), json!(is_base64_encoded));
    Value::Object(event)
}

fn cookies(headers: &HeaderMap) -> Vec<String> {
    let lines: Vec<_> = headers.get_all(COOKIE).iter().map(request_headers::text).collect();
    let cookies = lines.iter().flat_map(|line| line.split(';'));
    cookies.map(|cookie| cookie.trim().to_owned()).filter(|cookie| !cookie.is_empty()).collect()
}

fn request_context(parts: &Parts, path: &str, received: &ReceivedRequest, of_its_kind: Value) -> Value {
    let context = json!({
        "http": {
            "method": parts.method.as_str(),
            "path": path,
            "protocol": protocol(parts.version),
            "sourceIp": received.source_ip,
            "userAgent": request_headers::user_agent(&parts.headers),
        },
        "requestId": received.request_id,
        "routeKey": "$default",
        "stage": "$default",
        "time": common_log_time(received.at),
        "timeEpoch": epoch_millis(received.at),
    });
    with(context, of_its_kind)
}

pub(super) fn protocol(version: Version) -> &'static str {
    if version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" }
}

/// "Create AWS Lambda proxy integrations for HTTP APIs in API Gateway", "Lambda function response for format 2.0": a result
/// that is JSON without `statusCode` is the JSON body of a 200 response. Each of `cookies` becomes a `set-cookie` header, and
/// a base64 body is decoded. There is one value for each header; the format has no `multiValueHeaders`, so they are ignored.
pub(super) fn response(result: &[u8]) -> Result<Response<Bytes>, ResponseError> {
    let value: Value = serde_json::from_slice(result)?;
    if value.get("statusCode").is_none() {
        let mut response = Response::new(Bytes::copy_from_slice(result));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Ok(response);
    }
    let result: FunctionResult = serde_json::from_value(value)?;
    let mut headers = HeaderMap::new();
    for (name, value) in result.headers.iter().flatten() {
        append(&mut headers, name, value)?;
    }
    for cookie in result.cookies.iter().flatten() {
        headers.append(SET_COOKIE, HeaderValue::from_str(cookie).map_err(http::Error::from)?);
    }
    let text = result.body.as_deref().unwrap_or_default();
    let body = if result.is_base64_encoded { BASE64_STANDARD.decode(text)?.into() } else { text.to_owned().into() };
    finished(&result, headers, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: &Value) -> Result<Response<Bytes>, ResponseError> {
        response(result.to_string().as_bytes())
    }

    fn values<'a>(response: &'a Response<Bytes>, name: &str) -> Vec<&'a str> {
        response.headers().get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }

    #[test]
    fn a_full_response() {
        let response = of(&json!({
            "statusCode": 201,
            "headers": { "Content-Type": "text/plain", "x-number": 3, "content-length": 99 },
            "multiValueHeaders": { "x-ignored": ["1"] },
            "cookies": ["a=1; Path=/", "b=2"],
            "body": "created",
        }))
        .unwrap();

        assert_eq!(response.status(), 201);
        assert_eq!(values(&response, "content-type"), ["text/plain"]);
        assert_eq!(values(&response, "x-number"), ["3"]);
        assert_eq!(values(&response, "set-cookie"), ["a=1; Path=/", "b=2"]);
        assert!(values(&response, "content-length").is_empty() && values(&response, "x-ignored").is_empty());
        assert_eq!(response.body(), "created");
    }

    #[test]
    fn a_base64_body_is_decoded() {
        let response = of(&json!({ "statusCode": 200, "body": "/wA+", "isBase64Encoded": true })).unwrap();

        assert_eq!(response.body().as_ref(), b"\xff\x00>");
    }

    #[test]
    fn a_result_without_status_is_a_json_body() {
        for result in [json!({ "hello": "world" }), json!("text"), json!(null), json!([1])] {
            let response = of(&result).unwrap();
            assert_eq!(response.status(), 200);
            assert_eq!(values(&response, "content-type"), ["application/json"]);
            assert_eq!(response.body(), &result.to_string());
        }
    }

    #[test]
    fn what_is_not_a_response_is_an_error() {
        assert!(matches!(response(b"not json"), Err(ResponseError::Malformed(_))));
        assert!(matches!(of(&json!({ "statusCode": "ok" })), Err(ResponseError::Malformed(_))));
        assert!(matches!(of(&json!({ "statusCode": 99 })), Err(ResponseError::NotHttp(_))));
        let header = json!({ "statusCode": 200, "headers": { "no good": "x" } });
        assert!(matches!(of(&header), Err(ResponseError::NotHttp(_))));
        let body = json!({ "statusCode": 200, "body": "%", "isBase64Encoded": true });
        assert!(matches!(of(&body), Err(ResponseError::NotBase64(_))));
    }
}
