//! Lambda function URLs: "Invoking Lambda function URLs" in AWS's guide. Payload format 2.0 with a context of its own.

use http::request::Parts;
use serde_json::{Value, json};

use super::fields::with;
use super::{ReceivedRequest, payload_v2, request_headers};
use crate::local::{ACCOUNT_ID, REGION};

const URL_ID: &str = "localtestkit";

/// The event for one request. The path is as it was sent.
pub(super) fn event(parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
    let tenant = request_headers::tenant(&parts.headers);
    let context = json!({
        "accountId": if tenant.is_some() { ACCOUNT_ID } else { "anonymous" },
        "apiId": URL_ID,
        "authentication": null,
        "domainName": format!("{URL_ID}.lambda-url.{REGION}.on.aws"),
        "domainPrefix": URL_ID,
    });
    // A URL without `AWS_IAM` has no authorizer.
    let authorizer = tenant.map(|tenant| json!({ "authorizer": { "iam": iam(&tenant) } })).unwrap_or_default();
    let event = payload_v2::event(parts, parts.uri.path(), body, received, with(context, authorizer));
    with(event, json!({ "pathParameters": null, "stageVariables": null }))
}

/// The context of a URL with `AWS_IAM`: the request was signed by a user with this id.
fn iam(user_id: &str) -> Value {
    json!({
        "accessKey": "AKIAIOSFODNN7EXAMPLE",
        "accountId": ACCOUNT_ID,
        "callerId": user_id,
        "cognitoIdentity": null,
        "principalOrgId": null,
        "userArn": format!("arn:aws:iam::{ACCOUNT_ID}:user/{user_id}"),
        "userId": user_id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lambda_events::apigw::ApiGatewayV2httpRequest;
    use aws_lambda_events::lambda_function_urls::LambdaFunctionUrlRequest;
    use http::Request;
    use http::request::Builder;

    fn event(request: Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        super::event(&parts, body, &ReceivedRequest::sample())
    }

    #[test]
    fn the_event_has_the_fields_of_the_documentations_sample() {
        // "Invoking Lambda function URLs", "Request payload format".
        let request = Request::post("/my/path?parameter1=value1&parameter1=value2&parameter2=value")
            .header("user-agent", "agent")
            .header("header1", "value1")
            .header("header2", "value1")
            .header("header2", "value2")
            .header("cookie", "cookie1; cookie2")
            .header("x-tenant-id", "AIDACOSFODNN7EXAMPLE2");
        let mut event = event(request, b"Hello from client!");
        for added in ["user-agent", "x-amzn-trace-id", "x-forwarded-for", "x-forwarded-port", "x-forwarded-proto"] {
            assert!(event["headers"].as_object_mut().unwrap().remove(added).is_some(), "{added}");
        }
        let sample = json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": "/my/path",
            "rawQueryString": "parameter1=value1&parameter1=value2&parameter2=value",
            "cookies": ["cookie1", "cookie2"],
            "headers": { "header1": "value1", "header2": "value1,value2" },
            "queryStringParameters": { "parameter1": "value1,value2", "parameter2": "value" },
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "localtestkit",
                "authentication": null,
                "authorizer": {
                    "iam": {
                        "accessKey": "AKIAIOSFODNN7EXAMPLE",
                        "accountId": "123456789012",
                        "callerId": "AIDACOSFODNN7EXAMPLE2",
                        "cognitoIdentity": null,
                        "principalOrgId": null,
                        "userArn": "arn:aws:iam::123456789012:user/AIDACOSFODNN7EXAMPLE2",
                        "userId": "AIDACOSFODNN7EXAMPLE2",
                    },
                },
                "domainName": "localtestkit.lambda-url.us-east-1.on.aws",
                "domainPrefix": "localtestkit",
                "http": {
                    "method": "POST",
                    "path": "/my/path",
                    "protocol": "HTTP/1.1",
                    "sourceIp": "192.0.2.1",
                    "userAgent": "agent",
                },
                "requestId": "id-1",
                "routeKey": "$default",
                "stage": "$default",
                "time": "04/Mar/2020:19:03:58 +0000",
                "timeEpoch": 1_583_348_638_390_u64,
            },
            "body": "Hello from client!",
            "pathParameters": null,
            "isBase64Encoded": false,
            "stageVariables": null,
        });
        assert_eq!(event, sample);
    }

    #[test]
    fn a_url_without_iam_has_no_authorizer_and_keeps_the_path_as_sent() {
        let event = event(Request::get("/a%2Fb%3F"), b"");

        assert_eq!(event["rawPath"], "/a%2Fb%3F");
        assert_eq!(event["requestContext"]["accountId"], "anonymous");
        assert_eq!(event["requestContext"].get("authorizer"), None);
        assert_eq!(event.get("body"), None);
    }

    #[test]
    fn a_deployed_functions_types_can_read_it() {
        let event = event(Request::post("/p?q=1").header("x-tenant-id", "t"), b"\xff");

        let read: LambdaFunctionUrlRequest = serde_json::from_value(event.clone()).unwrap();
        assert_eq!(read.raw_path.as_deref(), Some("/p"));
        assert_eq!((read.body.as_deref(), read.is_base64_encoded), (Some("/w=="), true));
        let iam = read.request_context.authorizer.and_then(|authorizer| authorizer.iam).unwrap();
        assert_eq!(iam.user_id.as_deref(), Some("t"));
        // `lambda_http` takes it for an HTTP API's event.
        let read: ApiGatewayV2httpRequest = serde_json::from_value(event).unwrap();
        let iam = read.request_context.authorizer.and_then(|authorizer| authorizer.iam).unwrap();
        assert_eq!(iam.user_id.as_deref(), Some("t"));
    }
}
