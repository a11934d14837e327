//! Goal: the HTTP front is what its kind says, to its client and to the function. Method: real HTTP requests to a real
//! function binary, which answers with the event that it got.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use http::Method;
use idempotency_testkit::http_front::{HttpFront, HttpKind};
use idempotency_testkit::lambda::{Function, FunctionConfig, Logs};
use serde_json::{Value, json};
use support::{Reply, send};

async fn front(kind: HttpKind, concurrency: usize) -> (HttpFront, Function) {
    let config = FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function"))
        .logs(Logs::Discard)
        .concurrency(concurrency);
    let function = Function::new(config).unwrap();
    let front = HttpFront::start(([127, 0, 0, 1], 0).into(), kind, function.clone()).await.unwrap();
    (front, function)
}

async fn get(front: &HttpFront, path: &str) -> Reply {
    send(Method::GET, format!("{}{path}", front.url()), &[("accept", "image/*")], "").await
}

/// Sends a request that has everything, and returns the response and the event.
async fn round_trip(kind: HttpKind) -> (Reply, Value) {
    let (front, function) = front(kind, 1).await;
    let url = format!("{}/payments/a%2Fb?a=1&a=%202", front.url());
    let headers = [
        ("Idempotency-Key", "key-1"),
        ("X-Tenant-Id", "tenant-1"),
        ("content-type", "application/json"),
        ("cookie", "a=1; b=2"),
        ("x-thing", "a"),
        ("x-thing", "b"),
    ];
    let reply = send(Method::POST, url, &headers, r#"{"amount":1}"#).await;
    front.stop().await;
    function.shutdown().await;
    assert_eq!(reply.status, 201);
    assert_eq!(reply.header("x-one"), Some("1"));
    let event = reply.json();
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!(r#"{"amount":1}"#), &json!(false)));
    (reply, event)
}

fn values<'a>(reply: &'a Reply, name: &str) -> Vec<&'a str> {
    reply.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test]
async fn http_api_request_and_response() {
    let (reply, event) = round_trip(HttpKind::HttpApi).await;

    assert_eq!(event["rawPath"], "/payments/a/b");
    assert_eq!(event["queryStringParameters"], json!({ "a": "1, 2" }));
    assert_eq!((&event["headers"]["idempotency-key"], &event["headers"]["x-thing"]), (&json!("key-1"), &json!("a,b")));
    assert_eq!(event["headers"].get("x-tenant-id"), None);
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    let context = &event["requestContext"];
    assert_eq!(context["authorizer"]["jwt"]["claims"]["sub"], "tenant-1");
    assert_eq!(context["http"]["sourceIp"], "127.0.0.1");
    assert_eq!(context["requestId"].as_str(), reply.header("apigw-requestid"));
    assert_eq!(values(&reply, "set-cookie"), ["a=1; Path=/", "b=2"]);
    assert_eq!(values(&reply, "x-many"), [""; 0]);
}

#[tokio::test]
async fn rest_api_request_and_response() {
    let (reply, event) = round_trip(HttpKind::RestApi).await;

    assert_eq!((&event["path"], &event["resource"]), (&json!("/payments/a%2Fb"), &json!("/{proxy+}")));
    assert_eq!(event["queryStringParameters"], json!({ "a": " 2" }));
    assert_eq!(event["multiValueQueryStringParameters"], json!({ "a": ["1", " 2"] }));
    assert_eq!((&event["headers"]["x-thing"], &event["headers"]["cookie"]), (&json!("b"), &json!("a=1; b=2")));
    assert_eq!(event["multiValueHeaders"]["x-thing"], json!(["a", "b"]));
    let context = &event["requestContext"];
    assert_eq!(context["authorizer"]["claims"]["sub"], "tenant-1");
    assert_eq!(context["identity"]["sourceIp"], "127.0.0.1");
    assert_eq!(context["requestId"].as_str(), reply.header("x-amzn-requestid"));
    assert_eq!(values(&reply, "set-cookie"), ["a=1; Path=/", "b=2"]);
    assert_eq!(values(&reply, "x-many"), ["1", "2"]);
}

#[tokio::test]
async fn alb_request_and_response() {
    let (reply, event) = round_trip(HttpKind::Alb).await;

    assert_eq!(event["path"], "/payments/a%2Fb");
    assert_eq!(event["queryStringParameters"], json!({ "a": "%202" }));
    assert_eq!((&event["headers"]["x-thing"], &event["headers"]["cookie"]), (&json!("b"), &json!("a=1; b=2")));
    assert_eq!(event["headers"]["x-amzn-oidc-identity"], "tenant-1");
    assert_eq!((event.get("multiValueHeaders"), event.get("cookies")), (None, None));
    assert!(event["requestContext"]["elb"]["targetGroupArn"].is_string());
    assert_eq!(values(&reply, "x-many"), [""; 0]);
}

#[tokio::test]
async fn alb_multi_value_request_and_response() {
    let (reply, event) = round_trip(HttpKind::AlbMultiValue).await;

    assert_eq!(event["path"], "/payments/a%2Fb");
    assert_eq!(event["multiValueQueryStringParameters"], json!({ "a": ["1", "%202"] }));
    assert_eq!(event["multiValueHeaders"]["x-thing"], json!(["a", "b"]));
    assert_eq!(event["multiValueHeaders"]["x-amzn-oidc-identity"], json!(["tenant-1"]));
    assert_eq!((event.get("headers"), event.get("queryStringParameters")), (None, None));
    assert_eq!(values(&reply, "set-cookie"), ["a=1; Path=/", "b=2"]);
    assert_eq!(values(&reply, "x-many"), ["1", "2"]);
}

#[tokio::test]
async fn function_url_request_and_response() {
    let (reply, event) = round_trip(HttpKind::FunctionUrl).await;

    assert_eq!(event["rawPath"], "/payments/a%2Fb");
    assert_eq!(event["headers"]["x-thing"], "a,b");
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    let context = &event["requestContext"];
    assert_eq!(context["authorizer"]["iam"]["userId"], "tenant-1");
    assert_eq!(context["requestId"].as_str(), reply.header("x-amzn-requestid"));
    assert_eq!(values(&reply, "set-cookie"), ["a=1; Path=/", "b=2"]);
    assert_eq!(values(&reply, "x-many"), [""; 0]);
}

#[tokio::test]
async fn binary_bodies_come_back_from_every_kind() {
    for kind in HttpKind::ALL {
        let (front, function) = front(kind, 1).await;
        assert_eq!(get(&front, "/binary").await.body.as_ref(), b"\xff\0\xfe", "{kind:?}");
        front.stop().await;
        function.shutdown().await;
    }
}

#[tokio::test]
async fn a_result_without_status_is_a_response_of_payload_format_2_only() {
    for kind in HttpKind::ALL {
        let (front, function) = front(kind, 1).await;
        let bare = get(&front, "/json").await;
        if matches!(kind, HttpKind::HttpApi | HttpKind::FunctionUrl) {
            assert_eq!((bare.status.as_u16(), bare.header("content-type")), (200, Some("application/json")));
            assert_eq!(bare.json(), json!({ "hello": "world" }));
        } else {
            assert_eq!(bare.status, 502, "{kind:?}");
        }
        front.stop().await;
        function.shutdown().await;
    }
}

#[tokio::test]
async fn a_function_that_crashes_or_answers_nonsense_is_the_fronts_own_error() {
    for (kind, status, body) in [
        (HttpKind::HttpApi, 500, r#"{"message":"Internal Server Error"}"#),
        (HttpKind::RestApi, 502, r#"{"message":"Internal server error"}"#),
        (HttpKind::Alb, 502, "<h1>502 Bad Gateway</h1>"),
        (HttpKind::AlbMultiValue, 502, "<h1>502 Bad Gateway</h1>"),
        (HttpKind::FunctionUrl, 502, r#"{"message":"Internal Server Error"}"#),
    ] {
        let (front, function) = front(kind, 1).await;
        for path in ["/crash", "/invalid"] {
            let reply = get(&front, path).await;
            assert_eq!(reply.status, status, "{kind:?} {path}");
            assert!(String::from_utf8_lossy(&reply.body).contains(body), "{kind:?} {path}: {:?}", reply.body);
        }
        front.stop().await;
        function.shutdown().await;
    }
}

#[tokio::test]
async fn no_free_sandbox_is_each_kinds_own_status() {
    for (kind, status) in [
        (HttpKind::HttpApi, 503),
        (HttpKind::RestApi, 500),
        (HttpKind::Alb, 502),
        (HttpKind::AlbMultiValue, 502),
        (HttpKind::FunctionUrl, 429),
    ] {
        let (front, _function) = front(kind, 0).await;
        assert_eq!(get(&front, "/").await.status, status, "{kind:?}");
    }
}

#[tokio::test]
async fn bodies_over_the_limits_are_a_413() {
    const MB: usize = 1024 * 1024;
    // Over the front's own limit; API Gateway's 10 MB are also over Lambda's 6 MB.
    for (kind, sizes) in [
        (HttpKind::HttpApi, &[10 * MB + 1, 7 * MB][..]),
        (HttpKind::RestApi, &[10 * MB + 1, 7 * MB]),
        (HttpKind::Alb, &[MB + 1]),
        (HttpKind::AlbMultiValue, &[MB + 1]),
        (HttpKind::FunctionUrl, &[6 * MB + 1, 6 * MB]),
    ] {
        let (front, function) = front(kind, 1).await;
        for size in sizes {
            let reply = send(Method::POST, front.url().to_owned(), &[], vec![b'x'; *size]).await;
            assert_eq!(reply.status, 413, "{kind:?} {size}");
        }
        assert!(function.sandboxes().is_empty());
    }
}

#[tokio::test]
async fn a_result_over_a_load_balancers_limit_is_a_502() {
    for (kind, status) in [(HttpKind::Alb, 502), (HttpKind::AlbMultiValue, 502), (HttpKind::FunctionUrl, 200)] {
        let (front, function) = front(kind, 1).await;
        assert_eq!(get(&front, "/large").await.status, status, "{kind:?}");
        front.stop().await;
        function.shutdown().await;
    }
}
