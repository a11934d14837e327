//! Responses on their way into the record and out of it.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{self, GetAll},
};
use idempotency_core::Outcome;
use lambda_http::{Body, Response};
use serde::{Deserialize, Serialize};

use super::replayed_headers::{ReplayedHeaders, stay_apart};

/// Response header of a replay.
pub const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Response header of a replay whose body could not be stored.
pub const IDEMPOTENT_BODY_OMITTED: HeaderName = HeaderName::from_static("idempotent-body-omitted");

pub(super) const TRUE: HeaderValue = HeaderValue::from_static("true");

/// A response as it is stored, and what belongs to its first delivery only.
pub(crate) struct StoredResponse {
    status: StatusCode,
    replayed: HeaderMap,
    delivered_once: HeaderMap,
    body: Body,
}

/// The head of a stored response: one line of JSON, before the bytes of the body.
#[derive(Serialize, Deserialize)]
struct Head {
    v: u8,
    status: u16,
    headers: Vec<(String, String)>,
    body: BodyKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BodyKind {
    Empty,
    Text,
    Binary,
    Omitted,
}

/// The version of the stored form of a response.
const VERSION: u8 = 1;

impl StoredResponse {
    pub(crate) fn new(response: Response<Body>, replayed_headers: &ReplayedHeaders) -> Self {
        let (parts, body) = response.into_parts();
        let (mut replayed, mut delivered_once) = (HeaderMap::new(), HeaderMap::new());
        let named_by_connection: Vec<String> = connection_options(&parts.headers);
        for name in parts.headers.keys() {
            let values = parts.headers.get_all(name);
            if replayed_headers.leave_out(name) || named_by_connection.iter().any(|option| option == name.as_str()) {
                delivered_once.extend(values.iter().map(|value| (name.clone(), value.clone())));
            } else if let Some(values) = deliverable(name, values) {
                replayed.extend(values.into_iter().map(|value| (name.clone(), value)));
            } else {
                // The platform's JSON cannot carry it: neither this delivery nor a replay would arrive.
                tracing::warn!(header = %name, "a response header that is not text was left out");
            }
        }
        Self { status: parts.status, replayed, delivered_once, body }
    }

    /// What to store: the whole, or status and headers alone if the whole cannot be stored.
    pub(crate) fn outcome(&self) -> Outcome {
        let kind = match self.body {
            Body::Text(_) => BodyKind::Text,
            Body::Binary(_) => BodyKind::Binary,
            _ => BodyKind::Empty,
        };
        Outcome::new(self.encode(kind, self.body.as_ref())).or_reduced(self.encode(BodyKind::Omitted, &[]))
    }

    /// The first delivery: what is stored, and what belongs to this delivery only.
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.replayed;
        response.headers_mut().extend(self.delivered_once);
        response
    }

    fn encode(&self, kind: BodyKind, body: &[u8]) -> Bytes {
        let headers = self
            .replayed
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
            .collect();
        let head = Head { v: VERSION, status: self.status.as_u16(), headers, body: kind };
        // A head of strings and numbers cannot fail to be JSON.
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        bytes.into()
    }
}

/// The response of a replay; `None` when the bytes are none that this version wrote.
pub(crate) fn replay(stored: &[u8]) -> Option<Response<Body>> {
    let end = stored.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = stored.split_at(end);
    let (head, body): (Head, &[u8]) = (serde_json::from_slice(head).ok()?, body.get(1..)?);
    if head.v != VERSION {
        return None;
    }
    let mut response = Response::new(match head.body {
        BodyKind::Empty | BodyKind::Omitted => Body::Empty,
        BodyKind::Text => Body::Text(str::from_utf8(body).ok()?.to_owned()),
        BodyKind::Binary => Body::Binary(body.to_vec()),
    });
    *response.status_mut() = StatusCode::from_u16(head.status).ok()?;
    let headers = response.headers_mut();
    for (name, value) in head.headers {
        headers.append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    headers.insert(IDEMPOTENT_REPLAYED, TRUE);
    if head.body == BodyKind::Omitted {
        headers.insert(IDEMPOTENT_BODY_OMITTED, TRUE);
    }
    Some(response)
}

/// What a function stores of a response, for whoever says in its place what became of an operation: its requests get this response from
/// then on. `Date`, `Set-Cookie` and what belongs to a connection are left out.
///
/// ```
/// # use lambda_http::{Body, Response};
/// use lambda_idempotency::http::stored_response;
///
/// let outcome = stored_response(Response::builder().status(201).body(Body::Text("charged".into())).unwrap());
/// # let _ = outcome;
/// ```
pub fn stored_response(response: Response<Body>) -> Outcome {
    StoredResponse::new(response, &ReplayedHeaders::default()).outcome()
}

/// Reads what a function has stored of a response: the response that replays are, with their `Idempotent-Replayed: true`. `None` when
/// the bytes are no response.
///
/// ```
/// use lambda_idempotency::http::read_stored;
///
/// let response = read_stored(b"{\"v\":1,\"status\":201,\"headers\":[],\"body\":\"text\"}\ncharged").unwrap();
/// assert_eq!((response.status().as_u16(), response.body().as_ref()), (201, &b"charged"[..]));
/// assert!(read_stored(b"something else").is_none());
/// ```
pub fn read_stored(stored: &[u8]) -> Option<Response<Body>> {
    replay(stored)
}

/// The answer when not even the head of the response could be stored: the effect happened, and that is all we know. Never a failure's.
pub(crate) fn replay_without_head() -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, TRUE);
    response.headers_mut().insert(IDEMPOTENT_BODY_OMITTED, TRUE);
    response
}

/// Fields that `Connection` declares to be hop-by-hop (RFC 9110 section 7.6.1).
fn connection_options(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|option| option.trim().to_ascii_lowercase()).collect()
}

/// The values of a header as they are delivered, if the platform's JSON can carry them.
fn deliverable(name: &HeaderName, values: GetAll<'_, HeaderValue>) -> Option<Vec<HeaderValue>> {
    if stay_apart(name) {
        return values.iter().map(|value| value.to_str().ok().map(|_| value.clone())).collect();
    }
    joined(values).map(|value| vec![value])
}

/// All values of a header in one, as RFC 9110 section 5.3 allows and HTTP APIs need it (they know one value per name).
fn joined(values: GetAll<'_, HeaderValue>) -> Option<HeaderValue> {
    let texts: Option<Vec<&str>> = values.iter().map(|value| value.to_str().ok()).collect();
    HeaderValue::from_str(&texts?.join(", ")).ok()
}

#[cfg(test)]
mod tests {
    use idempotency_core::{
        Claimed, Engine, Fingerprint, IdempotencyKey, MemoryStore, Namespace, Operation, Policy, Request, Scope, Window,
    };
    use std::time::Duration;

    use super::*;
    use crate::http::ReplayHeader;

    /// Stores a response through the engine and reads the replay, as a second request would.
    async fn stored_and_replayed(response: Response<Body>) -> (Response<Body>, Response<Body>) {
        stored_and_replayed_with(&ReplayedHeaders::default(), response).await
    }

    async fn stored_and_replayed_with(
        headers: &ReplayedHeaders,
        response: Response<Body>,
    ) -> (Response<Body>, Response<Body>) {
        let engine = Engine::new(MemoryStore::default());
        let request = Request {
            namespace: Namespace::new("dev").unwrap(),
            operation: Operation::declare("test", 1),
            scope: Scope::none(),
            key: IdempotencyKey::new("k").unwrap(),
            fingerprint: Fingerprint::from_bytes([0; 32]),
            deadline: engine.now() + Duration::from_secs(10),
        };
        let policy = Policy::new(Window::http());
        let Claimed::Fresh(claim) = engine.claim(&request, &policy).await.unwrap() else { panic!() };
        let stored = StoredResponse::new(response, headers);
        let _ = engine.complete(claim, stored.outcome()).await;
        let Claimed::Replay(replayed) = engine.claim(&request, &policy).await.unwrap() else { panic!() };
        (stored.into_response(), replay(replayed.body().unwrap()).unwrap())
    }

    #[tokio::test]
    async fn a_replay_equals_the_first_delivery_but_for_one_header() {
        for body in
            [Body::Empty, Body::Text("grüße\n".into()), Body::Binary(vec![0, b'\n', 0xff]), Body::Text(String::new())]
        {
            let response = Response::builder()
                .status(201)
                .header("content-type", "image/png")
                .header("location", "/charges/1")
                .header("link", "</a>; rel=a")
                .header("link", "</b>; rel=b")
                .body(body)
                .unwrap();
            let (first, mut replayed) = stored_and_replayed(response).await;
            assert_eq!(replayed.headers_mut().remove(IDEMPOTENT_REPLAYED), Some(TRUE));
            assert_eq!(replayed.status(), first.status());
            assert_eq!(replayed.headers(), first.headers());
            assert_eq!(replayed.body(), first.body());
        }
    }

    #[tokio::test]
    async fn cookies_dates_and_hop_by_hop_headers_are_delivered_once() {
        let response = Response::builder()
            .header("set-cookie", "session=1")
            .header("date", "Sun, 29 Nov 2026 19:00:00 GMT")
            .header("connection", "close, X-Hop")
            .header("x-hop", "1")
            .header("x-kept", "1")
            .body(Body::Empty)
            .unwrap();
        let (first, replayed) = stored_and_replayed(response).await;
        assert_eq!(first.headers()["set-cookie"], "session=1");
        let names: Vec<_> = replayed.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-kept", "idempotent-replayed"]);
    }

    #[tokio::test]
    async fn allowed_cookies_are_replayed_each_on_its_own() {
        let response = Response::builder()
            .header("set-cookie", "a=1; Expires=Sun, 29 Nov 2026 19:00:00 GMT")
            .header("set-cookie", "b=2")
            .header("date", "Sun, 29 Nov 2026 19:00:00 GMT")
            .header("connection", "close")
            .body(Body::Empty)
            .unwrap();
        let headers = ReplayedHeaders::new([ReplayHeader::SetCookie]);
        let (first, mut replayed) = stored_and_replayed_with(&headers, response).await;
        let cookies: Vec<_> = replayed.headers().get_all("set-cookie").iter().collect();
        assert_eq!(cookies, ["a=1; Expires=Sun, 29 Nov 2026 19:00:00 GMT", "b=2"]);
        assert_eq!(first.headers().get_all("set-cookie").iter().collect::<Vec<_>>(), cookies);
        replayed.headers_mut().remove("set-cookie");
        assert_eq!(replayed.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["idempotent-replayed"]);
    }

    #[tokio::test]
    async fn a_cookie_that_the_connection_names_is_delivered_once_although_cookies_are_allowed() {
        let response = Response::builder().header("connection", "Set-Cookie").header("set-cookie", "a=1");
        let headers = ReplayedHeaders::new([ReplayHeader::SetCookie, ReplayHeader::Date]);
        let (first, replayed) = stored_and_replayed_with(&headers, response.body(Body::Empty).unwrap()).await;
        assert_eq!(
            (first.headers().contains_key("set-cookie"), replayed.headers().contains_key("set-cookie")),
            (true, false)
        );
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Results that are stored must stay readable: what version 1 wrote before headers could be allowed, and what it writes.
        let old = b"{\"v\":1,\"status\":201,\"headers\":[[\"location\",\"/c/1\"],[\"link\",\"<a>, <b>\"]],\"body\":\"text\"}\n{\"id\":1}";
        let replayed = replay(old).unwrap();
        assert_eq!((replayed.status().as_u16(), replayed.body()), (201, &Body::Text("{\"id\":1}".into())));
        assert_eq!(
            (&replayed.headers()["location"], &replayed.headers()["link"]),
            (&"/c/1".parse().unwrap(), &"<a>, <b>".parse().unwrap())
        );
        let response = Response::builder().status(201).header("set-cookie", "a=1").header("set-cookie", "b=2");
        let headers = ReplayedHeaders::new([ReplayHeader::SetCookie]);
        let stored = StoredResponse::new(response.body(Body::Empty).unwrap(), &headers);
        let new = b"{\"v\":1,\"status\":201,\"headers\":[[\"set-cookie\",\"a=1\"],[\"set-cookie\",\"b=2\"]],\"body\":\"empty\"}\n";
        assert_eq!(stored.encode(BodyKind::Empty, b"").as_ref(), new);
    }

    #[tokio::test]
    async fn repeated_headers_are_joined_and_one_that_cannot_be_delivered_is_left_out() {
        let response = Response::builder()
            .header("link", "</a>; rel=a")
            .header("link", "</b>; rel=b")
            .header("x-raw", HeaderValue::from_bytes(b"caf\xe9").unwrap())
            .body(Body::Empty)
            .unwrap();
        let (first, replayed) = stored_and_replayed(response).await;
        for response in [first, replayed] {
            assert_eq!(response.headers()["link"], "</a>; rel=a, </b>; rel=b");
            assert!(!response.headers().contains_key("x-raw"));
        }
    }

    #[test]
    fn a_replay_says_when_the_body_could_not_be_stored() {
        let stored = StoredResponse::new(Response::new(Body::Text("large".into())), &ReplayedHeaders::default());
        let replayed = replay(&stored.encode(BodyKind::Omitted, &[])).unwrap();
        assert_eq!(replayed.headers()[IDEMPOTENT_BODY_OMITTED], "true");
        assert_eq!(replayed.body(), &Body::Empty);
    }

    #[test]
    fn foreign_bytes_are_no_response() {
        for bytes in [&b""[..], b"no newline", b"{}\n", br#"{"v":2,"status":200,"headers":[],"body":"empty"}"#] {
            assert!(replay(bytes).is_none(), "{bytes:?}");
        }
    }
}
