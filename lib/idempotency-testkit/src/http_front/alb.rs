//! Application Load Balancers: "Use Lambda functions as targets of an Application Load Balancer".

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use hyper::ext::ReasonPhrase;
use serde_json::{Value, json};

use super::fields::with;
use super::function_result::{FunctionResult, append, finished};
use super::{ReceivedRequest, ResponseError, query, request_body, request_headers};
use crate::local::{ACCOUNT_ID, REGION};

/// "The maximum size of the response JSON that the Lambda function can send is 1 MB."
const RESULT_LIMIT: usize = 1024 * 1024;

/// "Authenticate users using an Application Load Balancer": the subject, as the load balancer's action writes it.
const IDENTITY: HeaderName = HeaderName::from_static("x-amzn-oidc-identity");

/// Whether the target group has multi-value headers enabled (`lambda.multi_value_headers.enabled`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Disabled, the default: each name has one value, "the last value that it receives".
    Last,
    /// Enabled: the fields have other names and hold lists.
    All,
}

/// The event for one request. The path and the query are as they were sent: "If the query parameters are URL-encoded, the
/// load balancer does not decode them."
pub(super) fn event(values: Values, parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
    let mut headers = request_headers::forwarded(&parts.headers, received);
    if let Some(Ok(tenant)) = request_headers::tenant(&parts.headers).map(HeaderValue::try_from) {
        headers.insert(IDENTITY, tenant);
    }
    let parameters = query::raw(&parts.uri);
    let (body, is_base64_encoded) = encode_body(&parts.headers, body);
    let event = json!({
        "requestContext": {
            "elb": {
                "targetGroupArn": format!(
                    "arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT_ID}:targetgroup/localtestkit/6d0ecf831eec9f09"
                ),
            },
        },
        "httpMethod": parts.method.as_str(),
        "path": parts.uri.path(),
        "body": body,
        "isBase64Encoded": is_base64_encoded,
    });
    let of_the_setting = match values {
        Values::Last => json!({
            "headers": request_headers::last(&headers),
            "queryStringParameters": query::last(parameters),
        }),
        Values::All => json!({
            "multiValueHeaders": request_headers::all(&headers),
            "multiValueQueryStringParameters": query::all(parameters),
        }),
    };
    with(event, of_the_setting)
}

/// "If the content-encoding header is present, the load balancer Base64 encodes the body", else the content type decides.
fn encode_body(headers: &HeaderMap, body: &[u8]) -> (String, bool) {
    if body.is_empty() {
        return (String::new(), false);
    }
    let is_text = request_body::media_type(headers).is_some_and(|content| request_body::is_text(&content));
    request_body::encode(body, is_text && !headers.contains_key(CONTENT_ENCODING))
}

/// "Respond to the load balancer": status code and headers; "you must use `multiValueHeaders` if you have enabled multi-value
/// headers and `headers` otherwise", so the other field is ignored. A base64 body is decoded.
pub(super) fn response(values: Values, result: &[u8]) -> Result<Response<Bytes>, ResponseError> {
    if result.len() > RESULT_LIMIT {
        return Err(ResponseError::TooLarge { size: result.len(), limit: RESULT_LIMIT });
    }
    let result: FunctionResult = serde_json::from_slice(result)?;
    let mut headers = HeaderMap::new();
    match values {
        Values::Last => {
            for (name, value) in result.headers.iter().flatten() {
                append(&mut headers, name, value)?;
            }
        }
        Values::All => {
            for (name, values) in result.multi_value_headers.iter().flatten() {
                for value in values {
                    append(&mut headers, name, value)?;
                }
            }
        }
    }
    let text = result.body.as_deref().unwrap_or_default();
    let body = if result.is_base64_encoded { BASE64_STANDARD.decode(text)?.into() } else { text.to_owned().into() };
    let mut response = finished(&result, headers, body)?;
    if let Some(reason) = result.status_description.as_deref().and_then(reason) {
        response.extensions_mut().insert(reason);
    }
    Ok(response)
}

/// The reason phrase of `statusDescription`, which has the form `200 OK`.
fn reason(description: &str) -> Option<ReasonPhrase> {
    ReasonPhrase::try_from(description.split_once(' ')?.1.as_bytes().to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use aws_lambda_events::alb::AlbTargetGroupRequest;
    use http::request::Builder;
    use http::{Method, Request};

    fn event(values: Values, request: Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let received = ReceivedRequest {
            source_ip: [72, 12, 164, 125].into(),
            at: Duration::from_secs(0x5c53_6348),
            request_id: "3c613cb20ae5ebb0c4ba4d8f".to_owned(),
        };
        super::event(values, &parts, body, &received)
    }

    fn of(values: Values, result: &Value) -> Result<Response<Bytes>, ResponseError> {
        response(values, result.to_string().as_bytes())
    }

    fn sample_request() -> Builder {
        Request::get("/lambda?query=1234%20ABCD&query=5")
            .header("accept", "text/html")
            .header("accept", "*/*")
            .header("host", "lambda-alb-123578498.us-east-1.elb.amazonaws.com")
    }

    #[test]
    fn the_event_has_the_fields_of_the_documentations_sample() {
        // "Using AWS Lambda with an Application Load Balancer".
        let sample = json!({
            "requestContext": {
                "elb": {
                    "targetGroupArn":
                        "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/localtestkit/6d0ecf831eec9f09",
                },
            },
            "httpMethod": "GET",
            "path": "/lambda",
            "queryStringParameters": { "query": "5" },
            "headers": {
                "accept": "*/*",
                "host": "lambda-alb-123578498.us-east-1.elb.amazonaws.com",
                "x-amzn-trace-id": "Root=1-5c536348-3c613cb20ae5ebb0c4ba4d8f",
                "x-forwarded-for": "72.12.164.125",
                "x-forwarded-port": "443",
                "x-forwarded-proto": "https",
            },
            "body": "",
            "isBase64Encoded": false,
        });
        assert_eq!(event(Values::Last, sample_request(), b""), sample);
    }

    #[test]
    fn with_multi_value_headers_the_fields_have_other_names_and_all_values() {
        let event = event(Values::All, sample_request(), b"");

        assert_eq!(event["multiValueHeaders"]["accept"], json!(["text/html", "*/*"]));
        assert_eq!(event["multiValueHeaders"]["x-forwarded-for"], json!(["72.12.164.125"]));
        assert_eq!(event["multiValueQueryStringParameters"], json!({ "query": ["1234%20ABCD", "5"] }));
        assert_eq!((event.get("headers"), event.get("queryStringParameters")), (None, None));
    }

    #[test]
    fn a_deployed_functions_types_can_read_both() {
        for values in [Values::Last, Values::All] {
            let request = sample_request().method(Method::POST).header("x-tenant-id", "t");
            let read: AlbTargetGroupRequest = serde_json::from_value(event(values, request, b"x")).unwrap();
            assert_eq!((read.path.as_deref(), read.http_method), (Some("/lambda"), Method::POST));
            assert!(read.request_context.elb.target_group_arn.is_some());
            assert_eq!((read.body.as_deref(), read.is_base64_encoded), (Some("eA=="), true));
            let headers = if values == Values::Last { &read.headers } else { &read.multi_value_headers };
            assert_eq!(headers["x-amzn-oidc-identity"], "t");
            assert_eq!(headers.get_all("accept").iter().count(), if values == Values::Last { 1 } else { 2 });
        }
    }

    #[test]
    fn a_body_is_text_by_its_content_type_unless_it_is_encoded() {
        for (content_type, encoding, body, expected, base64) in [
            ("application/json", None, &b"{}"[..], "{}", false),
            ("text/plain; charset=utf-8", None, b"hi", "hi", false),
            ("application/json", Some("gzip"), b"{}", "e30=", true),
            ("image/png", None, b"\xff\0>", "/wA+", true),
        ] {
            let mut request = Request::post("/").header("content-type", content_type);
            if let Some(encoding) = encoding {
                request = request.header("content-encoding", encoding);
            }
            let event = event(Values::Last, request, body);
            assert_eq!((event["body"].as_str(), event["isBase64Encoded"].as_bool()), (Some(expected), Some(base64)));
        }
    }

    #[test]
    fn only_the_field_of_the_target_groups_kind_counts() {
        let result = json!({
            "statusCode": 200,
            "statusDescription": "200 Fine",
            "headers": { "x-thing": "single", "set-cookie": "a=1", "Set-Cookie": "b=2" },
            "multiValueHeaders": { "x-thing": ["a", "b"] },
            "body": "/wA+",
            "isBase64Encoded": true,
        });
        let last = of(Values::Last, &result).unwrap();
        assert_eq!(last.headers().get_all("x-thing").iter().collect::<Vec<_>>(), ["single"]);
        assert_eq!(last.headers().get_all("set-cookie").iter().count(), 2, "names in two cases are two headers");
        assert_eq!(last.body().as_ref(), b"\xff\0>");
        assert_eq!(last.extensions().get::<ReasonPhrase>().unwrap().as_bytes(), b"Fine");
        let all = of(Values::All, &result).unwrap();
        assert_eq!(all.headers().get_all("x-thing").iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!(!all.headers().contains_key("set-cookie"));
    }

    #[test]
    fn a_result_without_status_or_over_the_limit_is_no_response() {
        assert!(matches!(of(Values::Last, &json!({ "body": "x" })), Err(ResponseError::Malformed(_))));
        let large = json!({ "statusCode": 200, "body": "x".repeat(RESULT_LIMIT) });
        assert!(matches!(of(Values::Last, &large), Err(ResponseError::TooLarge { .. })));
    }
}
