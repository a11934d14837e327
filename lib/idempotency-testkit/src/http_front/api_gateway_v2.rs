//! From an HTTP request to an event in payload format 2.0.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{CONNECTION, CONTENT_TYPE, COOKIE, HOST, TRANSFER_ENCODING, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use serde_json::{Map, Value, json};

use super::query::parameters;
use super::request_time::common_log_time;
use crate::clock::epoch_millis;
use crate::local::ACCOUNT_ID;

/// Stands in for a JWT: see the [module's documentation](super).
const TENANT: HeaderName = HeaderName::from_static("x-tenant-id");
const API_ID: &str = "localtestkit";

/// What API Gateway knows about a request apart from the request itself.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The client's address.
    pub source_ip: IpAddr,
    /// When the request came, since the Unix epoch.
    pub at: Duration,
    /// A unique id.
    pub request_id: String,
}

/// The event for one request.
///
/// Header names are lower-case; duplicate headers and query parameters are combined with commas;
/// cookies are split out of their header. A body is text if its content type is one that API Gateway
/// takes for text (or is missing) and it is UTF-8, else base64.
#[must_use]
pub fn event_from_request(parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
    let path = parts.uri.path();
    let mut event = Map::from_iter([
        ("version".to_owned(), json!("2.0")),
        ("routeKey".to_owned(), json!("$default")),
        ("rawPath".to_owned(), json!(path)),
        ("rawQueryString".to_owned(), json!(parts.uri.query().unwrap_or_default())),
        ("headers".to_owned(), json!(headers(&parts.headers, received))),
        ("requestContext".to_owned(), request_context(parts, received)),
    ]);
    let cookies = cookies(&parts.headers);
    if !cookies.is_empty() {
        event.insert("cookies".to_owned(), json!(cookies));
    }
    let parameters = parameters(&parts.uri);
    if !parameters.is_empty() {
        event.insert("queryStringParameters".to_owned(), json!(parameters));
    }
    let (body, is_base64_encoded) = encode_body(&parts.headers, body);
    if let Some(body) = body {
        event.insert("body".to_owned(), Value::String(body));
    }
    event.insert("isBase64Encoded".to_owned(), Value::Bool(is_base64_encoded));
    Value::Object(event)
}

fn headers(headers: &HeaderMap, received: &ReceivedRequest) -> BTreeMap<String, String> {
    let mut combined = BTreeMap::<String, String>::new();
    for name in headers.keys() {
        // Cookies have a field of their own, and a connection's headers end at API Gateway.
        if [COOKIE, CONNECTION, TRANSFER_ENCODING, TENANT].contains(name) {
            continue;
        }
        let values: Vec<_> = headers.get_all(name).iter().map(text).collect();
        combined.insert(name.as_str().to_owned(), values.join(","));
    }
    // A client's own `x-forwarded-for` stays in front, as with API Gateway.
    let client = combined.remove("x-forwarded-for").map(|before| format!("{before}, ")).unwrap_or_default();
    combined.insert("x-forwarded-for".to_owned(), format!("{client}{}", received.source_ip));
    // An HTTP API is always HTTPS for its clients.
    combined.insert("x-forwarded-port".to_owned(), "443".to_owned());
    combined.insert("x-forwarded-proto".to_owned(), "https".to_owned());
    combined
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn cookies(headers: &HeaderMap) -> Vec<String> {
    let lines: Vec<_> = headers.get_all(COOKIE).iter().map(text).collect();
    let cookies = lines.iter().flat_map(|line| line.split(';'));
    cookies.map(|cookie| cookie.trim().to_owned()).filter(|cookie| !cookie.is_empty()).collect()
}

fn request_context(parts: &Parts, received: &ReceivedRequest) -> Value {
    let header = |name: &HeaderName| parts.headers.get(name).map(text);
    let host = header(&HOST).unwrap_or_else(|| "localhost".to_owned());
    let domain = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    let mut context = json!({
        "accountId": ACCOUNT_ID,
        "apiId": API_ID,
        "domainName": domain,
        "domainPrefix": domain.split('.').next(),
        "http": {
            "method": parts.method.as_str(),
            "path": parts.uri.path(),
            "protocol": protocol(parts.version),
            "sourceIp": received.source_ip,
            "userAgent": header(&USER_AGENT).unwrap_or_default(),
        },
        "requestId": received.request_id,
        "routeKey": "$default",
        "stage": "$default",
        "time": common_log_time(received.at),
        "timeEpoch": epoch_millis(received.at),
    });
    if let (Some(tenant), Some(context)) = (header(&TENANT), context.as_object_mut()) {
        let authorizer = json!({ "jwt": { "claims": { "sub": tenant }, "scopes": null } });
        context.insert("authorizer".to_owned(), authorizer);
    }
    context
}

fn protocol(version: Version) -> &'static str {
    if version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" }
}

/// The body's text and whether it is base64; nothing for an empty body.
fn encode_body(headers: &HeaderMap, body: &[u8]) -> (Option<String>, bool) {
    if body.is_empty() {
        return (None, false);
    }
    let content_type = headers.get(CONTENT_TYPE).map(text);
    match std::str::from_utf8(body) {
        Ok(body) if content_type.as_deref().is_none_or(is_text) => (Some(body.to_owned()), false),
        _ => (Some(BASE64_STANDARD.encode(body)), true),
    }
}

/// API Gateway's list is short: a form (`application/x-www-form-urlencoded`) comes as base64, for example.
fn is_text(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type.starts_with("text/")
        || ["application/json", "application/javascript", "application/xml"].contains(&media_type.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lambda_events::apigw::ApiGatewayV2httpRequest;
    use http::request::Builder;
    use http::{Method, Request};

    fn event(request: Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let received = ReceivedRequest {
            source_ip: [192, 0, 2, 1].into(),
            at: Duration::from_millis(1_583_348_638_390),
            request_id: "id-1".to_owned(),
        };
        event_from_request(&parts, body, &received)
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
}
