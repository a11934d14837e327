//! What a handler says about its failures.

use idempotency_cli::StackOptions;
use idempotency_core::Status;
use idempotency_testkit::payment_provider::Behaviour;
use serde_json::json;

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
async fn a_permanent_failure_is_stored_as_failed_and_replayed() {
    let world = World::start().await;
    // The provider knows this key with another amount, and refuses it for good.
    let elsewhere = reqwest::Client::new()
        .post(format!("{}/v1/charges", world.stack.provider().url()))
        .header("Stripe-Account", "tenant-7")
        .header("Idempotency-Key", "order-42")
        .json(&json!({ "amount": 1, "currency": "EUR", "customer": "cus_42" }));
    assert!(elsewhere.send().await.unwrap().status().is_success());

    let failed = world.charge(&Charge::new("order-42")).await;
    assert_eq!((failed.status, failed.problem().as_str()), (400, "request-invalid"));
    failed.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.record().await.status, Status::Failed);
    assert_eq!(world.charges(), 1, "only the charge from elsewhere");
    world.stop().await;
}
