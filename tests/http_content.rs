//! What requests and responses may hold, behind every kind of front: bytes, repeated headers, cookies, paths and queries,
//! empty and large bodies. The function is `http-fixture`, which answers what it is asked to.
//!
//! Where a kind or `lambda_http` loses something before the wrapper can see it, the test says what.

use idempotency_cli::StackOptions;
use idempotency_testkit::http_front::HttpKind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Answer, World};

every_kind! {
    binary_request_body,
    binary_response_body,
    base64_text_for_a_client_of_a_rest_api_that_does_not_ask_for_bytes,
    repeated_response_headers,
    response_cookies,
    request_cookies,
    repeated_request_headers,
    paths,
    queries,
    query_is_part_of_the_request,
    empty_bodies,
    falsy_json,
    text_in_utf_8,
    large_body,
}

/// A world with the fixture.
struct Fixture(World);

/// A request to it, with a key of its own if not said otherwise.
#[derive(Clone)]
struct Ask<'a> {
    target: &'a str,
    answer: Value,
    headers: Vec<(&'a str, &'a str)>,
    body: Vec<u8>,
}

impl<'a> Ask<'a> {
    fn new(target: &'a str, answer: Value) -> Self {
        Self { target, answer, headers: vec![], body: b"{}".to_vec() }
    }

    fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }
}

impl Fixture {
    async fn start(kind: HttpKind) -> Self {
        let options = StackOptions { function: "http-fixture".to_owned(), http_kind: kind, ..StackOptions::default() };
        Self(World::with(options).await)
    }

    async fn ask(&self, key: &str, ask: &Ask<'_>) -> Answer {
        let answer = ask.answer.to_string();
        let mut headers = vec![("idempotency-key", key), ("x-answer", &answer)];
        headers.extend_from_slice(&ask.headers);
        self.0.send(Method::POST, ask.target, &headers, ask.body.clone()).await
    }

    /// Asks twice, asserts that the handler ran once and that both answers are the same bytes, and returns the first.
    async fn ask_twice(&self, key: &str, ask: &Ask<'_>) -> Answer {
        let runs = self.runs().await;
        let (first, second) = (self.ask(key, ask).await, self.ask(key, ask).await);
        assert_eq!(self.runs().await, runs + 1, "{first:?}");
        first.assert_replayed_by(&second);
        first
    }

    /// How often the handler has run.
    async fn runs(&self) -> u64 {
        let answer = self.0.send(Method::GET, "/runs", &[], vec![]).await;
        String::from_utf8(answer.body).unwrap().parse().unwrap()
    }

    async fn stop(self) {
        assert_eq!(self.0.stack.function().sandboxes().len(), 1, "the runs were counted in one process");
        self.0.stop().await;
    }
}

fn all<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    answer.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
}

/// What the handler saw.
async fn seen(fixture: &Fixture, key: &str, ask: Ask<'_>) -> Value {
    fixture.ask_twice(key, &Ask { answer: json!({ "body": "request" }), ..ask }).await.json()
}

fn every_byte() -> Vec<u8> {
    (0..=255).collect()
}

async fn binary_request_body(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let echo = json!({ "headers": [["content-type", "application/octet-stream"]], "body": "echo" });
    let ask = Ask::new("/echo", echo).body(every_byte());
    let ask = ask.header("content-type", "application/octet-stream").header("accept", "application/octet-stream");
    let answer = fixture.ask_twice("k", &ask).await;
    assert_eq!(answer.body, every_byte());
    let mut other = every_byte();
    other[255] = 254;
    assert_eq!(fixture.ask("k", &ask.clone().body(other)).await.status, 422, "one bit makes another request");
    fixture.stop().await;
}

async fn binary_response_body(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    // A gzip member's beginning: no UTF-8, and with a content encoding no kind of text.
    let rows = [("image/png", "identity"), ("application/octet-stream", "identity"), ("application/json", "gzip")];
    for (content_type, encoding) in rows {
        let mut headers = vec![json!(["content-type", content_type])];
        if encoding != "identity" {
            headers.push(json!(["content-encoding", encoding]));
        }
        let asked = json!({ "headers": headers, "body": { "base64": "H4sIAP8Afg==" } });
        let ask = Ask::new("/binary", asked).header("accept", "application/octet-stream");
        let answer = fixture.ask_twice(content_type, &ask).await;
        assert_eq!(answer.body, b"\x1f\x8b\x08\0\xff\0\x7e", "{content_type}");
        assert_eq!(answer.headers["content-type"], content_type);
    }
    fixture.stop().await;
}

/// A REST API decodes only for clients that ask for it. What the others get is as much the same on a replay.
async fn base64_text_for_a_client_of_a_rest_api_that_does_not_ask_for_bytes(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let asked = json!({ "headers": [["content-type", "image/png"]], "body": { "base64": "/wA+" } });
    let answer = fixture.ask_twice("k", &Ask::new("/binary", asked).header("accept", "*/*")).await;
    assert_eq!(answer.body, if kind == HttpKind::RestApi { &b"/wA+"[..] } else { b"\xff\0>" });
    fixture.stop().await;
}

/// All values arrive, joined by commas, on the first delivery as on the replay. (Unjoined, `lambda_http` would deliver the
/// first value alone behind HTTP APIs, function URLs and load balancers without multi-value headers.)
async fn repeated_response_headers(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let headers = json!([
        ["link", "</a>; rel=\"a\""],
        ["link", "</b>; rel=\"b\""],
        ["vary", "accept"],
        ["vary", "origin"],
        ["location", "/there?a=1,2"],
    ]);
    let answer = fixture.ask_twice("k", &Ask::new("/headers", json!({ "status": 201, "headers": headers }))).await;
    assert_eq!(answer.status, 201);
    assert_eq!(all(&answer, "link"), ["</a>; rel=\"a\", </b>; rel=\"b\""]);
    assert_eq!(all(&answer, "vary"), ["accept, origin"]);
    assert_eq!(all(&answer, "location"), ["/there?a=1,2"]);
    fixture.stop().await;
}

/// Cookies belong to the first delivery. A load balancer without multi-value headers delivers one cookie, the first: it has
/// one value for each name, and `lambda_http` spells all names alike.
async fn response_cookies(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let cookies =
        json!({ "headers": [["set-cookie", "a=1; Path=/"], ["set-cookie", "b=2; HttpOnly"]], "body": { "text": "x" } });
    let ask = Ask::new("/cookies", cookies);
    let (first, replay) = (fixture.ask("k", &ask).await, fixture.ask("k", &ask).await);
    let delivered = if kind == HttpKind::Alb { &["a=1; Path=/"][..] } else { &["a=1; Path=/", "b=2; HttpOnly"] };
    assert_eq!(all(&first, "set-cookie"), delivered);
    assert_eq!(all(&replay, "set-cookie"), [""; 0]);
    let mut without_cookies = first.clone();
    without_cookies.headers.remove("set-cookie");
    without_cookies.assert_replayed_by(&replay);
    fixture.stop().await;
}

async fn request_cookies(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let ask = Ask::new("/cookies", Value::Null).header("cookie", "a=1; b=\"x y\"");
    assert_eq!(seen(&fixture, "k", ask).await["cookie"], json!(["a=1; b=\"x y\""]));
    // Cookies are no part of the request's identity.
    let other = Ask::new("/cookies", json!({ "body": "request" })).header("cookie", "a=2");
    assert!(fixture.ask("k", &other).await.is_replay());
    fixture.stop().await;
}

/// What a handler sees of a repeated header: all values, or the last behind a load balancer without multi-value headers and
/// behind a REST API (see `http_kinds::two_keys`).
async fn repeated_request_headers(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let ask = Ask::new("/headers", Value::Null).header("x-thing", "a").header("x-thing", "b");
    let expected = match kind {
        HttpKind::RestApi | HttpKind::Alb => json!(["b"]),
        HttpKind::AlbMultiValue => json!(["a", "b"]),
        _ => json!(["a,b"]),
    };
    assert_eq!(seen(&fixture, "k", ask).await["x-thing"], expected);
    fixture.stop().await;
}

/// A path is another operation's as soon as the front delivers it as another: HTTP APIs decode it, so that two spellings
/// are one there.
async fn paths(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let (encoded, plain) =
        (Ask::new("/files/a%2Fb%20+%C3%BC", Value::Null), Ask::new("/files/a/b%20+%C3%BC", Value::Null));
    let path = seen(&fixture, "k", encoded).await["path"].clone();
    let asked = Ask { answer: json!({ "body": "request" }), ..plain };
    let other = fixture.ask("k", &asked).await;
    assert_eq!(other.status, 200);
    if kind == HttpKind::HttpApi {
        assert_eq!((path, other.is_replay()), (json!("/files/a/b +ü"), true));
    } else {
        assert_eq!((path, other.is_replay()), (json!("/files/a%2Fb%20+%C3%BC"), false));
    }
    fixture.stop().await;
}

async fn queries(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let ask = Ask::new("/q?q=a+b&q=%26c%3D%25&r=1%2B1&s=%C3%BC%20x&t", Value::Null);
    let rest = [json!(["r", "1+1"]), json!(["s", "ü x"]), json!(["t", ""])];
    // A load balancer without multi-value headers has the last value only.
    let q = if kind == HttpKind::Alb {
        vec![json!(["q", "&c=%"])]
    } else {
        vec![json!(["q", "a b"]), json!(["q", "&c=%"])]
    };
    let expected: Vec<_> = q.into_iter().chain(rest).collect();
    assert_eq!(seen(&fixture, "k", ask).await["query"], json!(expected));
    fixture.stop().await;
}

async fn query_is_part_of_the_request(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let ask = |target| Ask::new(target, json!({ "body": { "text": "x" } }));
    let first = fixture.ask_twice("k", &ask("/q?a=1&a=2&b=x%20y")).await;
    // The order of names, and the spelling of a space, do not count.
    for same in ["/q?b=x%20y&a=1&a=2", "/q?a=1&b=x+y&a=2"] {
        first.assert_replayed_by(&fixture.ask("k", &ask(same)).await);
    }
    for other in ["/q?a=2&a=1&b=x%20y", "/q?a=1&a=2%26b%3Dx%20y", "/q?a=1&a=2", "/q?a=1&a=2&b=x%2By", "/q"] {
        let answer = fixture.ask("k", &ask(other)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, "mismatch"), "{other}");
    }
    // Of a repeated parameter, a load balancer without multi-value headers delivers the last: another first value cannot be
    // noticed.
    let unnoticed = fixture.ask("k", &ask("/q?a=9&a=2&b=x%20y")).await;
    assert_eq!(unnoticed.status, if kind == HttpKind::Alb { 200 } else { 422 });
    fixture.stop().await;
}

async fn empty_bodies(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let rows = [
        ("no-content", json!({ "status": 204 }), 204),
        ("empty", json!({}), 200),
        ("empty-text", json!({ "headers": [["content-type", "text/plain"]], "body": { "text": "" } }), 200),
        ("empty-bytes", json!({ "headers": [["content-type", "image/png"]], "body": { "base64": "" } }), 200),
        ("created", json!({ "status": 201, "headers": [["location", "/there"]] }), 201),
        ("see-other", json!({ "status": 304, "headers": [["etag", "\"1\""]] }), 304),
    ];
    for (key, answer, status) in rows {
        // Neither has the request a body.
        let answer = fixture.ask_twice(key, &Ask::new("/empty", answer).body("").header("accept", "image/*")).await;
        assert_eq!((answer.status, answer.body.len()), (status, 0), "{key}");
    }
    fixture.stop().await;
}

async fn falsy_json(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    for (position, value) in ["null", "false", "0", "\"\"", "[]", "{}"].into_iter().enumerate() {
        let ask = Ask::new("/value", Value::Null).body(value).header("content-type", "application/json");
        let answer = fixture.ask_twice(&format!("key-{position}"), &ask).await;
        assert_eq!((answer.status, answer.body.as_slice()), (200, value.as_bytes()));
        assert_eq!(answer.headers["content-type"], "application/json");
    }
    fixture.stop().await;
}

async fn text_in_utf_8(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let text = "Grüße, 世界 \u{1f600}\r\n\0\u{feff}\"\\";
    let echo = json!({ "headers": [["content-type", "text/plain; charset=utf-8"]], "body": "echo" });
    let ask = Ask::new("/text", echo).body(text).header("content-type", "text/plain; charset=utf-8");
    let answer = fixture.ask_twice("k", &ask).await;
    assert_eq!(answer.body, text.as_bytes());
    fixture.stop().await;
}

/// 5 MB there and back; 900 KB through a load balancer, which has a limit of 1 MB.
async fn large_body(kind: HttpKind) {
    let fixture = Fixture::start(kind).await;
    let size = if matches!(kind, HttpKind::Alb | HttpKind::AlbMultiValue) { 900 << 10 } else { 5 << 20 };
    let echo = json!({ "headers": [["content-type", "text/plain"]], "body": "echo" });
    let ask = Ask::new("/large", echo).body(vec![b'x'; size]).header("content-type", "text/plain");
    let answer = fixture.ask_twice("k", &ask).await;
    assert_eq!(answer.body.len(), size);
    assert!(answer.body == ask.body);
    fixture.stop().await;
}
