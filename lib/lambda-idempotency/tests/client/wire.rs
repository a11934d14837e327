//! What only a connection can do: close, break in the middle of an answer, or not be made.

use std::{net::SocketAddr, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    response::Response,
};
use lambda_idempotency::client::{
    ClientError, Idempotent, LastAnswer, Resolved, RetryPolicy, Stopped, mint_key,
    reqwest_middleware::{ClientBuilder, ClientWithMiddleware},
};
use tokio::{net::TcpListener, time::Instant};

use crate::support::{Callee, Reply, Seen, answer, failure, http_client};

/// A status that the server answers by half of a body, and the end of the connection.
const HALF: u16 = 299;

async fn serve(State(callee): State<Callee>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let seen = Seen { at: Instant::now(), method: parts.method, headers: parts.headers, body: Some(body.to_vec()) };
    let Reply::Answer { status, headers, body } = callee.take(seen) else { panic!("no reply for a wire") };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    if status == HALF {
        let pieces = [Ok(Bytes::from_static(b"{\"charg")), Err(std::io::Error::other("the connection breaks"))];
        return response.body(Body::from_stream(futures::stream::iter(pieces))).unwrap();
    }
    response.body(Body::from(body)).unwrap()
}

/// A server on loopback, until the test's runtime ends.
async fn server(callee: &Callee) -> String {
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().fallback(serve).with_state(callee.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/charges")
}

fn client() -> ClientWithMiddleware {
    let policy = RetryPolicy::new().waits(Duration::from_millis(1), Duration::from_millis(5)).attempts(5);
    ClientBuilder::new(http_client()).with(Idempotent::new(policy).unwrap()).build()
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_none_and_the_repetition_gets_the_stored_one() {
    let stored = Reply::status(201).body(r#"{"charge":"ch_1"}"#).header("location", "/charges/ch_1").replayed();
    let callee = Callee::new([Reply::status(HALF), Reply::status(503), stored]);
    let url = server(&callee).await;
    let sent = r#"{"amount":1200, "note":"ä"}"#;
    let response = client().post(&url).body(sent).send().await.unwrap();
    assert_eq!(response.url().as_str(), url);
    assert_eq!(response.headers()["location"], "/charges/ch_1");
    assert!(response.remote_addr().is_some_and(|address: SocketAddr| address.ip().is_loopback()));
    assert_eq!(answer(Ok(response)).await, (201, r#"{"charge":"ch_1"}"#.to_owned(), 3));
    callee.one_key();
    for seen in callee.seen() {
        assert_eq!(seen.body.as_deref(), Some(sent.as_bytes()));
        assert_eq!(seen.headers.get_all("idempotency-key").iter().count(), 1);
    }
}

#[tokio::test]
async fn a_callee_that_cannot_be_reached_leaves_the_request_unresolved_and_its_key_goes_on() {
    // A port that was free a moment ago, and belongs to nobody.
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/charges", listener.local_addr().unwrap());
    drop(listener);
    let result = client().post(&url).body("one charge").send().await;
    let key = failure(result, |error| match error {
        ClientError::Unresolved(unresolved) => {
            assert!(matches!(unresolved.last(), LastAnswer::None(error) if error.is_connect()), "{unresolved:?}");
            assert_eq!((unresolved.attempts(), unresolved.stopped()), (5, Stopped::Attempts));
            assert!(std::error::Error::source(error).is_some());
            unresolved.key().clone()
        }
        other => panic!("{other:?}"),
    });
    let callee = Callee::new([Reply::status(201)]);
    let (name, value) = lambda_idempotency::propagation::http_header(&key);
    let later = client().post(server(&callee).await).header(name, value).body("one charge").send().await.unwrap();
    assert_eq!(Resolved::of(&later).unwrap().key(), &key);
    assert_eq!(callee.one_key(), key.as_str());
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_is_not_repeated() {
    let result = client().post("ftp://127.0.0.1/charges").body("one charge").send().await;
    failure(result, |error| assert!(matches!(error, ClientError::Failed { .. }), "{error:?}"));
}

#[tokio::test]
async fn a_dropped_request_can_be_gone_on_with_if_its_key_was_stored_before() {
    let callee = Callee::new([Reply::status(201)]);
    let url = server(&callee).await;
    let (name, value) = lambda_idempotency::propagation::http_header(&mint_key());
    let send = || client().post(&url).header(&name, &value).body("one charge").send();
    let dropped = tokio::spawn(send());
    while callee.count() == 0 {
        tokio::task::yield_now().await;
    }
    dropped.abort();
    assert_eq!(answer(send().await).await.0, 201);
    assert_eq!(callee.one_key(), value.to_str().unwrap());
}
