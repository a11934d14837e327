//! What an old function returned, as the response that its callers got.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE, header::SET_COOKIE};
use idempotency_core::Outcome;
use lambda_http::{Body, Response};
use serde_json::Value;

use crate::http::{ReplayedHeaders, StoredResponse};

/// What to store of what an old function returned. A response that cannot be made of it is stored as one that cannot be read: the
/// operation has ended, and nothing runs it again.
pub(crate) fn outcome(returned: &Value, replayed_headers: &ReplayedHeaders) -> Outcome {
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
fn response(returned: &Value) -> Option<Response<Body>> {
    let Some(status) = returned.get("statusCode") else {
        let body = returned.as_str().map_or_else(|| returned.to_string(), str::to_owned);
        let mut response = Response::new(Body::Text(body));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Some(response);
    };
    let status =
        status.as_u64().map_or_else(|| status.as_str().map(str::to_owned), |number| Some(number.to_string()))?;
    let body = match (returned.get("body"), returned.get("isBase64Encoded").and_then(Value::as_bool)) {
        (None | Some(Value::Null), _) => Body::Empty,
        (Some(body), Some(true)) => Body::Binary(STANDARD.decode(body.as_str()?).ok()?),
        (Some(body), _) => Body::Text(body.as_str().map_or_else(|| body.to_string(), str::to_owned)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_bytes(status.as_bytes()).ok()?;
    let mut add = |name: &str, value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        response.headers_mut().append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(text).ok()?);
        Some(())
    };
    let multiple = returned.get("multiValueHeaders").and_then(Value::as_object);
    for (name, values) in multiple.into_iter().flatten() {
        values.as_array()?.iter().try_for_each(|value| add(name, value))?;
    }
    let has =
        |name: &str| multiple.is_some_and(|multiple| multiple.keys().any(|other| other.eq_ignore_ascii_case(name)));
    for (name, value) in returned.get("headers").and_then(Value::as_object).into_iter().flatten() {
        // With both, the values of `multiValueHeaders` count.
        if !has(name) {
            add(name, value)?;
        }
    }
    for cookie in returned.get("cookies").and_then(Value::as_array).into_iter().flatten() {
        add(SET_COOKIE.as_str(), cookie)?;
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(returned: &Value) -> (u16, Vec<(String, String)>, Vec<u8>) {
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
            assert!(response(&odd).is_none(), "{odd}");
        }
    }
}
