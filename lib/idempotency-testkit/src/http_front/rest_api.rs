//! API Gateway REST APIs: "Lambda proxy integrations in API Gateway" and "Binary media types for REST APIs in API Gateway".
//!
//! The API has one resource `/{proxy+}` with the method `ANY`, a stage `prod`, and a custom domain that leads to the stage, so
//! that the stage is not in the client's path.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, Response};
use serde_json::{Value, json};

use super::fields::with;
use super::function_result::{FunctionResult, append, finished};
use super::payload_v2::protocol;
use super::request_time::common_log_time;
use super::{ReceivedRequest, ResponseError, query, request_body, request_headers};
use crate::clock::epoch_millis;
use crate::local::ACCOUNT_ID;

const API_ID: &str = "localtestkit";
const STAGE: &str = "prod";

/// The API's `binaryMediaTypes`. The default of a REST API is an empty list, with which no binary body gets through.
const BINARY_MEDIA_TYPES: [&str; 2] = ["application/octet-stream", "image/*"];

/// The event for one request.
///
/// `headers` and `queryStringParameters` have the last value of each name, the multi-value maps have all; what is empty is
/// null. The path is as it was sent, the parameters are decoded. A body is base64 if its content type is among the API's
/// binary media types, and text else; what is not UTF-8 in a text is lost.
pub(super) fn event(parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
    let headers = request_headers::forwarded(&parts.headers, received);
    let parameters = query::decoded(&parts.uri);
    let path = parts.uri.path();
    let proxy = path.strip_prefix('/').filter(|proxy| !proxy.is_empty());
    let resource = if proxy.is_some() { "/{proxy+}" } else { "/" };
    let is_binary = request_body::media_type(&parts.headers).is_some_and(|content| is_binary(&content));
    let (body, is_base64_encoded) = match body {
        [] => (None, false),
        body if is_binary => (Some(BASE64_STANDARD.encode(body)), true),
        body => (Some(String::from_utf8_lossy(body).into_owned()), false),
    };
    json!({
        "resource": resource,
        "path": path,
        "httpMethod": parts.method.as_str(),
        "headers": request_headers::last(&headers),
        "multiValueHeaders": request_headers::all(&headers),
        "queryStringParameters": if parameters.is_empty() { None } else { Some(query::last(parameters.clone())) },
        "multiValueQueryStringParameters": if parameters.is_empty() { None } else { Some(query::all(parameters)) },
        "pathParameters": proxy.map(|proxy| json!({ "proxy": proxy })),
        "stageVariables": null,
        "requestContext": request_context(parts, resource, received),
        "body": body,
        "isBase64Encoded": is_base64_encoded,
    })
}

fn request_context(parts: &Parts, resource: &str, received: &ReceivedRequest) -> Value {
    let domain = request_headers::domain(&parts.headers);
    let context = json!({
        "accountId": ACCOUNT_ID,
        "apiId": API_ID,
        "domainName": domain,
        "domainPrefix": domain.split('.').next(),
        "extendedRequestId": received.request_id,
        "httpMethod": parts.method.as_str(),
        "identity": {
            "accessKey": null,
            "accountId": null,
            "caller": null,
            "cognitoAuthenticationProvider": null,
            "cognitoAuthenticationType": null,
            "cognitoIdentityId": null,
            "cognitoIdentityPoolId": null,
            "principalOrgId": null,
            "sourceIp": received.source_ip,
            "user": null,
            "userAgent": request_headers::user_agent(&parts.headers),
            "userArn": null,
        },
        "path": format!("/{STAGE}{}", parts.uri.path()),
        "protocol": protocol(parts.version),
        "requestId": received.request_id,
        "requestTime": common_log_time(received.at),
        "requestTimeEpoch": epoch_millis(received.at),
        "resourceId": "proxy",
        "resourcePath": resource,
        "stage": STAGE,
    });
    // As a Cognito authorizer leaves it: "Integrate a REST API with an Amazon Cognito user pool".
    let authorizer =
        request_headers::tenant(&parts.headers).map(|tenant| json!({ "authorizer": { "claims": { "sub": tenant } } }));
    with(context, authorizer.unwrap_or_default())
}

/// "Lambda proxy integrations in API Gateway", "Output format of a Lambda function for proxy integration": without
/// `statusCode` it is no response. `headers` and `multiValueHeaders` are merged into one list; a pair that is in both comes
/// once.
///
/// A base64 body is decoded only if the client asks for a binary media type: the first one in `Accept` counts. If it does
/// not, the client gets the base64 text.
pub(super) fn response(request: &HeaderMap, result: &[u8]) -> Result<Response<Bytes>, ResponseError> {
    let result: FunctionResult = serde_json::from_slice(result)?;
    let mut headers = HeaderMap::new();
    for (name, values) in result.multi_value_headers.iter().flatten() {
        for value in values {
            append(&mut headers, name, value)?;
        }
    }
    let mut single = HeaderMap::new();
    for (name, value) in result.headers.iter().flatten() {
        append(&mut single, name, value)?;
    }
    for (name, value) in &single {
        if !headers.get_all(name).iter().any(|other| other == value) {
            headers.append(name.clone(), value.clone());
        }
    }
    let text = result.body.as_deref().unwrap_or_default();
    let decode = result.is_base64_encoded && accepts_binary(request);
    let body = if decode { BASE64_STANDARD.decode(text)?.into() } else { text.to_owned().into() };
    finished(&result, headers, body)
}

fn accepts_binary(request: &HeaderMap) -> bool {
    let accept = request_headers::first(request, &ACCEPT).unwrap_or_default();
    is_binary(&request_body::essence(accept.split(',').next().unwrap_or_default()))
}

fn is_binary(media_type: &str) -> bool {
    BINARY_MEDIA_TYPES.iter().any(|binary| match binary.strip_suffix('*') {
        Some(family) => media_type.starts_with(family),
        None => media_type == *binary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lambda_events::apigw::ApiGatewayProxyRequest;
    use http::request::Builder;
    use http::{Method, Request};

    fn event(request: Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        super::event(&parts, body, &ReceivedRequest::sample())
    }

    fn of(accept: &str, result: &Value) -> Result<Response<Bytes>, ResponseError> {
        let request = Request::get("/").header("accept", accept).body(()).unwrap();
        response(request.headers(), result.to_string().as_bytes())
    }

    #[test]
    fn the_event_has_the_fields_of_the_documentations_sample() {
        // "Lambda proxy integrations in API Gateway", "Input format of a Lambda function for proxy integration".
        let request = Request::post("/my/path?parameter1=value1&parameter1=value%202&parameter2=value")
            .header("host", "id.execute-api.us-east-1.amazonaws.com")
            .header("user-agent", "agent")
            .header("header1", "value1")
            .header("header2", "value1")
            .header("header2", "value2")
            .header("x-tenant-id", "t");
        let mut event = event(request, b"Hello from Lambda!");
        for added in
            ["host", "user-agent", "x-amzn-trace-id", "x-forwarded-for", "x-forwarded-port", "x-forwarded-proto"]
        {
            assert!(event["headers"].as_object_mut().unwrap().remove(added).is_some(), "{added}");
            assert!(event["multiValueHeaders"].as_object_mut().unwrap().remove(added).is_some(), "{added}");
        }
        let sample = json!({
            "resource": "/{proxy+}",
            "path": "/my/path",
            "httpMethod": "POST",
            "headers": { "header1": "value1", "header2": "value2" },
            "multiValueHeaders": { "header1": ["value1"], "header2": ["value1", "value2"] },
            "queryStringParameters": { "parameter1": "value 2", "parameter2": "value" },
            "multiValueQueryStringParameters": { "parameter1": ["value1", "value 2"], "parameter2": ["value"] },
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "localtestkit",
                "authorizer": { "claims": { "sub": "t" } },
                "domainName": "id.execute-api.us-east-1.amazonaws.com",
                "domainPrefix": "id",
                "extendedRequestId": "id-1",
                "httpMethod": "POST",
                "identity": {
                    "accessKey": null,
                    "accountId": null,
                    "caller": null,
                    "cognitoAuthenticationProvider": null,
                    "cognitoAuthenticationType": null,
                    "cognitoIdentityId": null,
                    "cognitoIdentityPoolId": null,
                    "principalOrgId": null,
                    "sourceIp": "192.0.2.1",
                    "user": null,
                    "userAgent": "agent",
                    "userArn": null,
                },
                "path": "/prod/my/path",
                "protocol": "HTTP/1.1",
                "requestId": "id-1",
                "requestTime": "04/Mar/2020:19:03:58 +0000",
                "requestTimeEpoch": 1_583_348_638_390_u64,
                "resourceId": "proxy",
                "resourcePath": "/{proxy+}",
                "stage": "prod",
            },
            "pathParameters": { "proxy": "my/path" },
            "stageVariables": null,
            "body": "Hello from Lambda!",
            "isBase64Encoded": false,
        });
        assert_eq!(event, sample);
    }

    #[test]
    fn a_deployed_functions_types_can_read_it() {
        let read: ApiGatewayProxyRequest =
            serde_json::from_value(event(Request::post("/a%2Fb?q=1&q=2").header("x-tenant-id", "t"), b"")).unwrap();

        assert_eq!((read.path.as_deref(), read.http_method), (Some("/a%2Fb"), Method::POST));
        assert_eq!(read.multi_value_query_string_parameters.all("q"), Some(vec!["1", "2"]));
        assert_eq!(read.request_context.authorizer.fields["claims"]["sub"], "t");
        assert_eq!(read.body, None);
        serde_json::from_value::<ApiGatewayProxyRequest>(event(Request::get("/"), b"")).unwrap();
    }

    #[test]
    fn a_body_is_base64_if_its_media_type_is_binary() {
        for (content_type, body, expected, base64) in [
            ("image/png", &b"\xff\0>"[..], "/wA+", true),
            ("application/octet-stream; x=1", b"hi", "aGk=", true),
            ("application/json", b"{}", "{}", false),
            ("application/pdf", b"\xff", "\u{fffd}", false),
        ] {
            let event = event(Request::post("/").header("content-type", content_type), body);
            assert_eq!((event["body"].as_str(), event["isBase64Encoded"].as_bool()), (Some(expected), Some(base64)));
        }
    }

    #[test]
    fn a_base64_body_is_decoded_for_a_client_that_asks_for_a_binary_type_first() {
        let result = json!({ "statusCode": 200, "body": "/wA+", "isBase64Encoded": true });
        assert_eq!(of("image/webp;q=0.9, */*", &result).unwrap().body().as_ref(), b"\xff\0>");
        for accept in ["*/*", "text/html, image/webp"] {
            assert_eq!(of(accept, &result).unwrap().body(), "/wA+", "{accept}");
        }
    }

    #[test]
    fn both_maps_of_headers_are_merged_and_a_pair_in_both_comes_once() {
        let result = json!({
            "statusCode": 200,
            "headers": { "x-thing": "b", "x-other": "c" },
            "multiValueHeaders": { "X-Thing": ["a", "b"], "set-cookie": ["a=1", "b=2"] },
        });
        let response = of("*/*", &result).unwrap();
        let values =
            |name| response.headers().get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(values("x-thing"), ["a", "b"]);
        assert_eq!(values("x-other"), ["c"]);
        assert_eq!(values("set-cookie"), ["a=1", "b=2"]);
    }

    #[test]
    fn a_result_without_status_is_no_response() {
        for result in [json!({ "hello": "world" }), json!("text"), json!({ "body": "x" })] {
            assert!(matches!(of("*/*", &result), Err(ResponseError::Malformed(_))), "{result}");
        }
    }
}
