//! One key per request: made once, kept over its attempts, or the caller's own.

use http::Method;
use lambda_idempotency::{
    IdempotencyKey,
    client::{ClientError, Resolved, RetryPolicy, mint_key, reqwest},
    http::KeyHeaderError,
    propagation,
};

use crate::support::{Callee, Reply, answer, failure, post};

#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_request_have_one_key_and_the_next_request_another() {
    let callee = Callee::new([503, 429, 502, 201, 500, 201].map(Reply::status));
    let client = callee.client(RetryPolicy::new());
    let first = post(&client).await.unwrap();
    let key = callee.one_key();
    assert_eq!(Resolved::of(&first).unwrap().key().as_str(), key);
    assert_eq!(answer(Ok(first)).await.2, 4);
    assert_eq!(answer(post(&client).await).await.2, 2);
    let keys: Vec<_> = callee.seen().iter().map(|seen| seen.key().unwrap().to_owned()).collect();
    assert_eq!(keys[..4], [key.clone(), key.clone(), key.clone(), key.clone()]);
    assert_eq!(keys[4], keys[5]);
    assert_ne!(keys[4], key);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_the_same_request() {
    let callee = Callee::new([503, 503, 201].map(Reply::status));
    let client = callee.client(RetryPolicy::new());
    let request = client.patch("http://callee.test/").header("x-tenant-id", "tenant-7").body("{ \"a\":  1 }");
    request.send().await.unwrap();
    let seen = callee.seen();
    assert_eq!(seen.len(), 3);
    for again in &seen {
        assert_eq!(again.body.as_deref(), Some(&b"{ \"a\":  1 }"[..]));
        assert_eq!((&again.method, &again.headers), (&Method::PATCH, &seen[0].headers));
    }
}

#[test]
fn a_minted_key_is_a_uuid_of_version_7_and_new_every_time() {
    let keys: Vec<_> = (0..1000).map(|_| mint_key()).collect();
    for key in &keys {
        let parts: Vec<_> = key.as_str().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(key.as_str().as_bytes()[14], b'7', "{}", key.as_str());
    }
    assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), 1000);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_the_caller_set_is_kept_as_it_is_written() {
    let key = IdempotencyKey::new("order-42").unwrap();
    let (name, value) = propagation::http_header(&key);
    for (written, method) in [(value.to_str().unwrap(), Method::POST), ("\"order-42\"", Method::PUT)] {
        let callee = Callee::new([Reply::status(503), Reply::conflict(), Reply::status(201)]);
        let client = callee.client(RetryPolicy::new());
        let request = client.request(method, "http://callee.test/").header(&name, written);
        let response = request.send().await.unwrap();
        assert_eq!(Resolved::of(&response).unwrap().key(), &key);
        assert_eq!(callee.one_key(), written);
        assert_eq!(callee.count(), 3);
    }
}

#[tokio::test]
async fn a_key_header_that_cannot_be_used_is_an_error_before_anything_is_sent() {
    let too_long = "k".repeat(256);
    for values in [&[""][..], &["a b"], &["a", "b"], &["a,b"], &["\"open"], &[&too_long]] {
        let callee = Callee::new([Reply::status(201)]);
        let mut request = callee.client(RetryPolicy::new()).post("http://callee.test/");
        for value in values {
            request = request.header("Idempotency-Key", *value);
        }
        failure(request.send().await, |error| {
            assert!(matches!(error, ClientError::KeyHeader(_)), "{values:?} {error:?}");
            assert!(error.nothing_was_sent() && error.key().is_none());
        });
        assert_eq!(callee.count(), 0);
    }
    assert!(ClientError::from(KeyHeaderError::Several).to_string().contains("nothing was sent"));
}

#[tokio::test(start_paused = true)]
async fn a_method_that_needs_no_key_gets_none_and_is_repeated_only_if_it_is_idempotent() {
    for (method, attempts) in [("GET", 2), ("HEAD", 2), ("PUT", 2), ("DELETE", 2), ("OPTIONS", 2), ("LOCK", 1)] {
        let callee = Callee::new([503, 200].map(Reply::status));
        let client = callee.client(RetryPolicy::new());
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let response = client.request(method.clone(), "http://callee.test/").body("x").send().await.unwrap();
        assert_eq!(callee.count(), attempts, "{method}");
        assert_eq!(response.status(), if attempts == 2 { 200 } else { 503 });
        assert!(callee.seen().iter().all(|seen| seen.key().is_none()));
        assert!(Resolved::of(&response).is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn the_methods_that_get_a_key_are_the_callers_choice() {
    let callee = Callee::new([503, 201, 503].map(Reply::status));
    let client = callee.client(RetryPolicy::new().methods([Method::PUT]));
    client.put("http://callee.test/").send().await.unwrap();
    callee.one_key();
    assert_eq!(post(&client).await.unwrap().status(), 503, "it has no key, so it is sent once");
    assert_eq!((callee.count(), callee.seen()[2].key()), (3, None));
}

#[tokio::test(start_paused = true)]
async fn without_a_key_the_last_transient_answer_is_handed_on() {
    let callee = Callee::new([Reply::status(503).body("closed for today")]);
    let client = callee.client(RetryPolicy::new().attempts(3));
    let response = client.get("http://callee.test/").send().await.unwrap();
    assert_eq!((response.status().as_u16(), callee.count()), (503, 3));
    assert_eq!(response.text().await.unwrap(), "closed for today");
}

#[tokio::test]
async fn a_stream_under_a_key_is_refused_and_without_one_it_is_sent_once() {
    let stream = || reqwest::Body::wrap(lambda_http::Body::from("of a stream"));
    let callee = Callee::new([Reply::status(503)]);
    let client = callee.client(RetryPolicy::new());
    failure(client.post("http://callee.test/").body(stream()).send().await, |error| {
        assert!(matches!(error, ClientError::BodyNotRepeatable { .. }), "{error:?}");
        assert!(error.nothing_was_sent() && error.key().is_some());
    });
    assert_eq!(callee.count(), 0);
    assert_eq!(client.put("http://callee.test/").body(stream()).send().await.unwrap().status(), 503);
    assert_eq!(callee.count(), 1);
}
