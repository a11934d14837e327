//! What a handler says about its failures.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use idempotency_cli::{Stack, StackOptions};
use idempotency_core::Status;
use idempotency_testkit::{
    fault_proxy::{Fault, Rule},
    payment_provider::Behaviour,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::{Charge, World};

#[tokio::test]
async fn a_declined_card_is_a_result_and_is_replayed() {
    let world = World::start().await;
    world.provider(Behaviour { decline: 1, ..Behaviour::default() });
    let declined = world.charge(&Charge::new("order-42")).await;
    assert_eq!(declined.status, 402);
    declined.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.charges(), 0);
    assert_eq!(world.record().await.status, Status::Completed);
    world.stop().await;
}

#[tokio::test]
async fn a_retryable_failure_frees_the_key_at_once() {
    // A port that nothing listens on: the request never leaves, so nothing can have been charged.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let world = World::with(StackOptions::default().env("PAYMENT_PROVIDER_URL", &url)).await;
    for attempt in 1..=2 {
        let answer = world.charge(&Charge::new("order-42")).await;
        assert_eq!((answer.status, answer.problem().as_str()), (503, "retryable"));
        assert_eq!(answer.headers["retry-after"], "1");
        let record = world.record().await;
        assert_eq!((record.status, record.attempt.get()), (Status::Released, attempt));
    }
    world.stop().await;
}

#[tokio::test]
async fn a_provider_that_turns_the_request_away_frees_the_key_at_once() {
    let world = World::start().await;
    world.provider(Behaviour { turn_away: 1, ..Behaviour::default() });
    let answer = world.charge(&Charge::new("order-42")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (503, "retryable"));
    assert_eq!(world.record().await.status, Status::Released);
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_permanent_failure_is_stored_as_failed_and_replayed() {
    let world = World::start().await;
    // The provider knows this key with another amount, and refuses it for good.
    world.charge_elsewhere("order-42", 1).await;

    let failed = world.charge(&Charge::new("order-42")).await;
    assert_eq!((failed.status, failed.problem().as_str()), (400, "request-invalid"));
    failed.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.record().await.status, Status::Failed);
    assert_eq!(world.charges(), 1, "only the charge from elsewhere");
    world.stop().await;
}

#[tokio::test]
async fn a_provider_that_does_not_answer_in_time_leaves_the_attempt_abandoned() {
    let options = StackOptions { timeout: Duration::from_secs(4), ..StackOptions::default() };
    let world = World::with_timeout(options).await;
    world.provider(Behaviour { delay_after_charging: Duration::from_secs(8), ..Behaviour::default() });
    let answer = world.charge(&Charge::new("order-42")).await;
    assert_eq!(answer.status, 500);
    assert_eq!(world.charges(), 1, "it did charge");
    assert_eq!(world.record().await.status, Status::InFlight);
    let conflict = world.charge(&Charge::new("order-42")).await;
    assert_eq!((conflict.status, conflict.problem().as_str()), (409, "conflict"));
    world.stop().await;
}

#[tokio::test]
async fn a_charge_that_could_not_be_kept_leaves_the_attempt_abandoned() {
    let world = World::start().await;
    let keeping = Rule::on("PutItem").table(Stack::CHARGES_TABLE);
    world.stack.proxy().inject(keeping.times(3).fault(Fault::ErrorBefore));
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    assert_eq!((world.charges(), world.record().await.status), (1, Status::InFlight));
    world.end_the_lease().await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

/// A provider that counts requests and gives every one the same answer.
async fn provider_that_answers(status: u16, location: &str) -> (String, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = r#"{"error":{"type":"test_error"}}"#;
    let answer = format!(
        "HTTP/1.1 {status} Test\r\nlocation: {location}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // The request fits into one read: it is small and on loopback.
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, requests)
}

#[tokio::test]
async fn what_a_provider_says_decides_whether_a_charge_may_have_been_made() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let elsewhere = format!("http://{closed}/");
    let rows = [
        // A redirect comes after a request that may have charged, and is not followed.
        (302, 500, Status::InFlight),
        (307, 500, Status::InFlight),
        (408, 500, Status::InFlight),
        (418, 500, Status::InFlight),
        (500, 500, Status::InFlight),
        (503, 500, Status::InFlight),
        (401, 503, Status::Released),
        (403, 503, Status::Released),
        (409, 503, Status::Released),
        (425, 503, Status::Released),
        (429, 503, Status::Released),
        (400, 400, Status::Failed),
        (404, 400, Status::Failed),
        (422, 400, Status::Failed),
    ];
    for (said, answered, status) in rows {
        let (url, requests) = provider_that_answers(said, &elsewhere).await;
        let world = World::with(StackOptions::default().env("PAYMENT_PROVIDER_URL", &url)).await;
        let answer = world.charge(&Charge::new("order-42")).await;
        assert_eq!((answer.status, world.record().await.status), (answered, status), "{said}: {answer:?}");
        assert_eq!(requests.load(Ordering::SeqCst), 1, "{said}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("nothing was executed"), "{said}");
        world.stop().await;
    }
}
