//! What an old function returned, as the response that its callers got.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE, header::SET_COOKIE};
use idempotency_core::Outcome;
use lambda_http::{Body, Response};
use serde_json::value::RawValue;

use crate::http::{ReplayedHeaders, StoredResponse};

/// Members of an object, each as the text that it was.
type Members = BTreeMap<String, Box<RawValue>>;

/// What to store of what an old function returned (JSON). A response that cannot be made of it is stored as one that cannot be read: the
/// operation has ended, and nothing runs it again.
pub(crate) fn outcome(returned: &str, replayed_headers: &ReplayedHeaders) -> Outcome {
    match response(returned) {
        Some(response) => StoredResponse::new(response, replayed_headers).outcome(),
        None => {
            tracing::error!("what an old function returned is no response, so its replays cannot be read");
            Outcome::new(Bytes::new())
        }
    }
}

/// The response, as API Gateway, load balancers and function URLs make it: `statusCode`, `headers`, `multiValueHeaders`, `cookies`, `body`,
/// `isBase64Encoded`. Without a `statusCode` it is what HTTP APIs and function URLs infer: 200, and the whole as JSON ("Create AWS Lambda
/// proxy integrations for HTTP APIs in API Gateway", API Gateway Developer Guide).
fn response(returned: &str) -> Option<Response<Body>> {
    let returned: &RawValue = serde_json::from_str(returned).ok()?;
    let members = if returned.get().starts_with('{') { members(returned)? } else { Members::new() };
    let Some(status) = members.get("statusCode") else {
        let mut response = Response::new(Body::Text(text(returned)?));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Some(response);
    };
    let is_binary = members.get("isBase64Encoded").is_some_and(|is_binary| is_binary.get() == "true");
    let body = match members.get("body") {
        None => Body::Empty,
        Some(body) if body.get() == "null" => Body::Empty,
        Some(body) if is_binary => {
            Body::Binary(STANDARD.decode(serde_json::from_str::<String>(body.get()).ok()?).ok()?)
        }
        Some(body) => Body::Text(text(body)?),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_bytes(text(status)?.as_bytes()).ok()?;
    let mut add = |name: &str, value: &RawValue| {
        response.headers_mut().append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(text(value)?).ok()?);
        Some(())
    };
    let multiple = object(&members, "multiValueHeaders")?;
    for (name, values) in &multiple {
        serde_json::from_str::<Vec<&RawValue>>(values.get())
            .ok()?
            .into_iter()
            .try_for_each(|value| add(name, value))?;
    }
    let has = |name: &str| multiple.keys().any(|other| other.eq_ignore_ascii_case(name));
    for (name, value) in &object(&members, "headers")? {
        // With both, the values of `multiValueHeaders` count.
        if !has(name) {
            add(name, value)?;
        }
    }
    let cookies = members.get("cookies").filter(|cookies| cookies.get().starts_with('['));
    for cookie in cookies.map_or(Some(Vec::new()), |cookies| serde_json::from_str(cookies.get()).ok())? {
        add(SET_COOKIE.as_str(), cookie)?;
    }
    Some(response)
}

/// A text as itself, anything else as the JSON that it was: no number is read, so none is changed. `None` for a text that is none in Unicode.
fn text(value: &RawValue) -> Option<String> {
    match value.get().starts_with('"') {
        true => serde_json::from_str(value.get()).ok(),
        false => Some(value.get().to_owned()),
    }
}

fn members(object: &RawValue) -> Option<Members> {
    serde_json::from_str(object.get()).ok()
}

/// The members of a member; none where it is no object, and `None` where it cannot be read.
fn object(of: &Members, name: &str) -> Option<Members> {
    of.get(name).filter(|value| value.get().starts_with('{')).map_or(Some(Members::new()), |value| members(value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(returned: &Value) -> (u16, Vec<(String, String)>, Vec<u8>) {
        read_text(&returned.to_string())
    }

    fn read_text(returned: &str) -> (u16, Vec<(String, String)>, Vec<u8>) {
        let response = response(returned).unwrap();
        let headers =
            response.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        (response.status().as_u16(), headers.collect(), response.body().to_vec())
    }

    #[test]
    fn each_member_of_a_response_is_kept() {
        let returned = json!({ "statusCode": 201, "headers": { "Location": "/o/1", "x-n": 7, "x-m": "lost" },
            "multiValueHeaders": { "X-M": ["a", "b"] }, "cookies": ["c=1"], "body": "{\"id\": 1}" });
        let (status, mut headers, body) = read(&returned);
        headers.sort();
        let expected = [("location", "/o/1"), ("set-cookie", "c=1"), ("x-m", "a"), ("x-m", "b"), ("x-n", "7")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!((status, body.as_slice()), (201, &b"{\"id\": 1}"[..]));
        let binary = json!({ "statusCode": "200", "body": "AP8=", "isBase64Encoded": true });
        assert_eq!(read(&binary), (200, vec![], vec![0, 255]));
        assert_eq!(read(&json!({ "statusCode": 204 })), (204, vec![], vec![]));
    }

    #[test]
    fn without_a_status_it_is_json_as_http_apis_infer() {
        let json = vec![("content-type".to_owned(), "application/json".to_owned())];
        assert_eq!(read(&json!({ "id": 1 })), (200, json.clone(), b"{\"id\":1}".to_vec()));
        assert_eq!(read(&json!("ok")), (200, json, b"ok".to_vec()));
    }

    #[test]
    fn what_is_no_response_is_none() {
        for odd in [
            json!({ "statusCode": 42 }),
            json!({ "statusCode": null }),
            json!({ "statusCode": 200, "headers": { "a b": "c" } }),
            json!({ "statusCode": 200, "body": "§", "isBase64Encoded": true }),
        ] {
            assert!(response(&odd.to_string()).is_none(), "{odd}");
        }
    }

    #[test]
    fn what_is_given_through_keeps_every_byte() {
        let whole = r#"{"b": 123456789012345678901234567890, "a": [0.12345678901234567890, 1.50]}"#;
        assert_eq!(read_text(whole).2, whole.as_bytes());
        let parts =
            format!(r#"{{"statusCode":200,"headers":{{"x-id":123456789012345678901234567890}},"body":{whole}}}"#);
        let (status, headers, body) = read_text(&parts);
        assert_eq!((status, body.as_slice()), (200, whole.as_bytes()));
        assert_eq!(headers, [("x-id".to_owned(), "123456789012345678901234567890".to_owned())]);
        assert_eq!(read_text("1e400").2, b"1e400");
    }

    #[test]
    fn a_text_that_is_none_in_unicode_is_no_response() {
        for odd in [r#""\ud83d""#, r#"{"statusCode":200,"body":"\ud83d"}"#, r#"{"\ud83d":1,"statusCode":200}"#] {
            assert!(response(odd).is_none(), "{odd}");
        }
    }
}
