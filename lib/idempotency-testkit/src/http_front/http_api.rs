//! API Gateway HTTP APIs: "Create AWS Lambda proxy integrations for HTTP APIs in API Gateway", payload format 2.0.

use http::request::Parts;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::fields::with;
use super::{ReceivedRequest, payload_v2, request_headers};
use crate::local::ACCOUNT_ID;

const API_ID: &str = "localtestkit";

/// The event for one request.
pub(super) fn event(parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
    let domain = request_headers::domain(&parts.headers);
    let context = json!({
        "accountId": ACCOUNT_ID,
        "apiId": API_ID,
        "domainName": domain,
        "domainPrefix": domain.split('.').next(),
    });
    let authorizer = request_headers::tenant(&parts.headers)
        .map(|tenant| json!({ "authorizer": { "jwt": { "claims": { "sub": tenant }, "scopes": null } } }));
    let context = with(context, authorizer.unwrap_or_default());
    payload_v2::event(parts, &decoded(parts.uri.path()), body, received, context)
}

/// HTTP APIs decode the path, and end it at a decoded `?`. The documentation does not say so; issue 2156 of honojs/hono and
/// pull request 93 of middleapi/standard-server show events. The other kinds keep the path as it was sent.
fn decoded(path: &str) -> String {
    let decoded = percent_decode_str(path).decode_utf8_lossy().into_owned();
    decoded.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lambda_events::apigw::ApiGatewayV2httpRequest;
    use http::request::Builder;
    use http::{Method, Request};

    fn event(request: Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        super::event(&parts, body, &ReceivedRequest::sample())
    }

    #[test]
    fn the_context_describes_the_request() {
        let request = Request::post("/my/path?x=1").header("host", "api.example.com:8080").header("user-agent", "curl");

        let event = event(request, b"");

        assert_eq!(event["version"], "2.0");
        assert_eq!(event["routeKey"], "$default");
        assert_eq!(event["rawPath"], "/my/path");
        assert_eq!(event["rawQueryString"], "x=1");
        assert_eq!(event["isBase64Encoded"], false);
        assert_eq!(event.get("body"), None);
        assert_eq!(event.get("cookies"), None);
        let context = &event["requestContext"];
        assert_eq!(
            context["http"],
            json!({
                "method": "POST", "path": "/my/path", "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1", "userAgent": "curl",
            })
        );
        assert_eq!(context["domainName"], "api.example.com");
        assert_eq!(context["domainPrefix"], "api");
        assert_eq!(context["requestId"], "id-1");
        assert_eq!(context["stage"], "$default");
        assert_eq!(context["time"], "04/Mar/2020:19:03:58 +0000");
        assert_eq!(context["timeEpoch"], 1_583_348_638_390_u64);
        assert_eq!(context.get("authorizer"), None);
    }

    #[test]
    fn a_deployed_functions_types_can_read_it() {
        let request = Request::post("/p?q=1").header("x-tenant-id", "t").header("cookie", "a=1").header("host", "h:1");

        let read: ApiGatewayV2httpRequest = serde_json::from_value(event(request, b"{}")).unwrap();

        assert_eq!(read.raw_path.as_deref(), Some("/p"));
        assert_eq!(read.query_string_parameters.first("q"), Some("1"));
        assert_eq!(read.cookies, Some(vec!["a=1".to_owned()]));
        assert_eq!(read.body.as_deref(), Some("{}"));
        let context = read.request_context;
        assert_eq!((context.http.method, context.http.path.as_deref()), (Method::POST, Some("/p")));
        let claims = context.authorizer.and_then(|authorizer| authorizer.jwt).map(|jwt| jwt.claims);
        assert_eq!(claims.unwrap()["sub"], "t");
    }

    #[test]
    fn duplicate_headers_are_combined_with_commas() {
        let request = Request::get("/").header("X-Thing", "a").header("x-thing", "b").header("Idempotency-Key", "k");

        let headers = &event(request, b"")["headers"];

        assert_eq!(headers["x-thing"], "a,b");
        assert_eq!(headers["idempotency-key"], "k");
        assert_eq!(headers["x-forwarded-for"], "192.0.2.1");
    }

    #[test]
    fn cookies_are_split_out_of_their_headers() {
        let request = Request::get("/").header("cookie", "a=1; b=2").header("cookie", "c=3;");

        let event = event(request, b"");

        assert_eq!(event["cookies"], json!(["a=1", "b=2", "c=3"]));
        assert_eq!(event["headers"].get("cookie"), None);
    }

    #[test]
    fn query_parameters_are_decoded_and_duplicates_combined() {
        let event = event(Request::get("/?p=v%201&p=v2&q=%26&empty="), b"");

        assert_eq!(event["rawQueryString"], "p=v%201&p=v2&q=%26&empty=");
        assert_eq!(event["queryStringParameters"], json!({ "p": "v 1,v2", "q": "&", "empty": "" }));
        assert_eq!(super::tests::event(Request::get("/"), b"").get("queryStringParameters"), None);
    }

    #[test]
    fn the_tenant_header_becomes_a_claim() {
        let event = event(Request::get("/").header("x-tenant-id", "tenant-1"), b"");

        assert_eq!(event["requestContext"]["authorizer"]["jwt"]["claims"]["sub"], "tenant-1");
        assert_eq!(event["headers"].get("x-tenant-id"), None);
    }

    #[test]
    fn bodies_are_text_or_base64_by_content_type_and_validity() {
        for (content_type, body, expected, base64) in [
            (Some("application/json; charset=utf-8"), &b"{}"[..], "{}", false),
            (Some("TEXT/PLAIN"), b"hi", "hi", false),
            (None, b"hi", "hi", false),
            (Some("application/x-www-form-urlencoded"), b"a=1", "YT0x", true),
            (Some("application/octet-stream"), b"hi", "aGk=", true),
            (Some("application/json"), b"\xff\x00>", "/wA+", true),
        ] {
            let mut request = Request::post("/");
            if let Some(content_type) = content_type {
                request = request.header("content-type", content_type);
            }
            let event = event(request, body);
            assert_eq!(event["body"], expected, "{content_type:?}");
            assert_eq!(event["isBase64Encoded"], base64, "{content_type:?}");
        }
    }

    #[test]
    fn the_path_is_decoded_and_ends_at_a_decoded_question_mark() {
        for (sent, raw_path) in
            [("/a%2Fb/%20c+d", "/a/b/ c+d"), ("/a%23b", "/a#b"), ("/a%3Fb/c", "/a"), ("/caf%C3%A9", "/café")]
        {
            let event = event(Request::get(format!("{sent}?q=%20")), b"");
            assert_eq!(event["rawPath"], raw_path);
            assert_eq!(event["requestContext"]["http"]["path"], raw_path);
            assert_eq!(event["rawQueryString"], "q=%20");
        }
    }

    #[test]
    fn the_event_has_the_fields_of_the_documentations_sample() {
        // "Create AWS Lambda proxy integrations for HTTP APIs in API Gateway", the sample of format 2.0, without the fields
        // of a route with path parameters, of a stage with variables and of mutual TLS.
        let request = Request::post("/my/path?parameter1=value1&parameter1=value2&parameter2=value")
            .header("host", "id.execute-api.us-east-1.amazonaws.com")
            .header("user-agent", "agent")
            .header("header1", "value1")
            .header("header2", "value1")
            .header("header2", "value2")
            .header("cookie", "cookie1; cookie2")
            .header("x-tenant-id", "t");
        let mut event = event(request, b"Hello from Lambda");
        for added in
            ["host", "user-agent", "x-amzn-trace-id", "x-forwarded-for", "x-forwarded-port", "x-forwarded-proto"]
        {
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
                "authorizer": { "jwt": { "claims": { "sub": "t" }, "scopes": null } },
                "domainName": "id.execute-api.us-east-1.amazonaws.com",
                "domainPrefix": "id",
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
            "body": "Hello from Lambda",
            "isBase64Encoded": false,
        });
        assert_eq!(event, sample);
    }
}
