//! Goal: the provider keeps Stripe's idempotency contract and its ledger tells the truth. Method: HTTP
//! requests as a function would send them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::time::Duration;

use http::Method;
use idempotency_testkit::eventually;
use idempotency_testkit::payment_provider::{Behaviour, PaymentProvider};
use serde_json::{Value, json};
use support::{Reply, send};

async fn charge(provider: &PaymentProvider, account: &str, key: Option<&str>, body: &Value) -> Reply {
    let mut headers = vec![("stripe-account", account)];
    headers.extend(key.map(|key| ("idempotency-key", key)));
    send(Method::POST, format!("{}/v1/charges", provider.url()), &headers, body.to_string()).await
}

async fn get(provider: &PaymentProvider, path: &str) -> Reply {
    send(Method::GET, format!("{}{path}", provider.url()), &[("stripe-account", "acct_1")], "").await
}

fn body() -> Value {
    json!({ "amount": 1999, "currency": "eur", "customer": "cus_1" })
}

fn with(behaviour: impl FnOnce(&mut Behaviour)) -> Behaviour {
    let mut changed = Behaviour::default();
    behaviour(&mut changed);
    changed
}

#[tokio::test]
async fn the_same_key_and_parameters_charge_once_and_replay_the_answer() {
    let provider = PaymentProvider::start().await.unwrap();

    let first = charge(&provider, "acct_1", Some("k1"), &body()).await;
    // Another order of fields is the same request.
    let again = json!({ "customer": "cus_1", "currency": "eur", "amount": 1999 });
    let second = charge(&provider, "acct_1", Some("k1"), &again).await;

    assert_eq!((first.status.as_u16(), second.status.as_u16()), (200, 200));
    assert_eq!(first.body, second.body);
    assert_eq!((first.header("idempotent-replayed"), second.header("idempotent-replayed")), (None, Some("true")));
    let answer = first.json();
    assert_eq!((answer["object"].as_str(), answer["account"].as_str()), (Some("charge"), Some("acct_1")));
    assert!(answer["id"].as_str().unwrap().starts_with("ch_"));
    let ledger = provider.ledger();
    assert_eq!(ledger.len(), 1);
    assert_eq!(
        (ledger[0].key.as_deref(), ledger[0].amount, ledger[0].id.as_str()),
        (Some("k1"), 1999, answer["id"].as_str().unwrap())
    );
}

#[tokio::test]
async fn a_key_belongs_to_its_account_and_no_key_charges_each_time() {
    let provider = PaymentProvider::start().await.unwrap();

    for (account, key) in [("acct_1", Some("k1")), ("acct_2", Some("k1")), ("acct_1", None), ("acct_1", None)] {
        let reply = charge(&provider, account, key, &body()).await;
        assert_eq!((reply.status.as_u16(), reply.header("idempotent-replayed")), (200, None));
    }

    assert_eq!(get(&provider, "/ledger").await.json(), serde_json::to_value(provider.ledger()).unwrap());
    let accounts: Vec<_> = provider.ledger().into_iter().map(|entry| entry.account).collect();
    assert_eq!(accounts, ["acct_1", "acct_2", "acct_1", "acct_1"]);
}

#[tokio::test]
async fn the_same_key_with_other_parameters_is_an_idempotency_error() {
    let provider = PaymentProvider::start().await.unwrap();
    charge(&provider, "acct_1", Some("k1"), &body()).await;

    let reply =
        charge(&provider, "acct_1", Some("k1"), &json!({ "amount": 1, "currency": "eur", "customer": "cus_1" })).await;

    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["type"], "idempotency_error");
    assert_eq!(provider.ledger().len(), 1);
}

#[tokio::test]
async fn invalid_requests_are_refused_and_leave_the_key_free() {
    let provider = PaymentProvider::start().await.unwrap();
    let long = "k".repeat(256);
    let invalid = [
        ("acct_1", "k1", json!({ "amount": 0, "currency": "eur", "customer": "c" }), "amount"),
        ("acct_1", "k1", json!({ "amount": 1.5, "currency": "eur", "customer": "c" }), "amount"),
        ("acct_1", "k1", json!({ "amount": 1, "customer": "c" }), "currency"),
        ("acct_1", "k1", json!({ "amount": 1, "currency": "eur", "customer": "" }), "customer"),
        ("", "k1", body(), "Stripe-Account"),
        ("acct_1", long.as_str(), body(), "Idempotency-Key"),
    ];
    for (account, key, body, param) in invalid {
        let reply = charge(&provider, account, Some(key), &body).await;
        assert_eq!(reply.status, 400, "{body}");
        assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
        assert_eq!(reply.json()["error"]["param"], param);
    }
    assert!(provider.ledger().is_empty());
    assert_eq!(charge(&provider, "acct_1", Some("k1"), &body()).await.status, 200);
}

#[tokio::test]
async fn a_key_in_flight_is_a_409_and_its_look_up_does_not_claim_that_there_is_no_charge() {
    let provider = PaymentProvider::start().await.unwrap();
    provider.set_behaviour(with(|b| b.delay_before_charging = Duration::from_millis(1500)));
    let request = body();
    let first = charge(&provider, "acct_1", Some("k1"), &request);
    let others = async {
        eventually(Duration::from_secs(10), async || {
            (get(&provider, "/v1/charges/by-key/k1").await.status == 409).then_some(())
        })
        .await
        .unwrap();
        charge(&provider, "acct_1", Some("k1"), &request).await
    };

    let (first, second) = tokio::join!(first, others);

    assert_eq!(first.status, 200);
    assert_eq!(second.status, 409);
    assert_eq!(second.json()["error"]["code"], "idempotency_key_in_use");
    assert_eq!(provider.ledger().len(), 1);
}

#[tokio::test]
async fn a_failure_before_charging_frees_the_key_and_one_after_it_keeps_the_charge() {
    let provider = PaymentProvider::start().await.unwrap();
    provider.set_behaviour(with(|b| {
        b.fail_before_charging = 1;
        b.fail_after_charging = 1;
    }));

    let before = charge(&provider, "acct_1", Some("k1"), &body()).await;
    assert_eq!((before.status.as_u16(), provider.ledger().len()), (500, 0));
    assert_eq!(get(&provider, "/v1/charges/by-key/k1").await.status, 404);

    let after = charge(&provider, "acct_1", Some("k1"), &body()).await;
    assert_eq!((after.status.as_u16(), provider.ledger().len()), (500, 1));
    let found = get(&provider, "/v1/charges/by-key/k1").await;
    assert_eq!((found.status.as_u16(), found.json()["id"].as_str()), (200, Some("ch_00000001")));

    let retry = charge(&provider, "acct_1", Some("k1"), &body()).await;
    assert_eq!((retry.status.as_u16(), retry.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(retry.json(), found.json());
    assert_eq!(provider.ledger().len(), 1);
    assert_eq!(provider.behaviour(), Behaviour::default(), "the counters are used up");
}

#[tokio::test]
async fn a_request_that_is_turned_away_charges_nothing_and_frees_its_key() {
    let provider = PaymentProvider::start().await.unwrap();
    provider.set_behaviour(with(|b| b.turn_away = 1));

    let away = charge(&provider, "acct_1", Some("k1"), &body()).await;
    assert_eq!((away.status.as_u16(), provider.ledger().len()), (429, 0));

    let retry = charge(&provider, "acct_1", Some("k1"), &body()).await;
    assert_eq!((retry.status.as_u16(), retry.header("idempotent-replayed")), (200, None));
    assert_eq!(provider.ledger().len(), 1);
}

#[tokio::test]
async fn a_decline_is_stored_under_its_key() {
    let provider = PaymentProvider::start().await.unwrap();
    provider.set_behaviour(with(|b| b.decline = 1));

    let first = charge(&provider, "acct_1", Some("k1"), &body()).await;
    let second = charge(&provider, "acct_1", Some("k1"), &body()).await;
    let other = charge(&provider, "acct_1", Some("k2"), &body()).await;

    assert_eq!((first.status.as_u16(), second.status.as_u16(), other.status.as_u16()), (402, 402, 200));
    assert_eq!(first.json()["error"]["type"], "card_error");
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn without_keys_every_request_charges() {
    let provider = PaymentProvider::start().await.unwrap();
    let put = json!({ "ignore_keys": true }).to_string();
    let set = send(Method::PUT, format!("{}/behaviour", provider.url()), &[], put).await;
    assert_eq!(set.status, 200);

    for _ in 0..2 {
        let reply = charge(&provider, "acct_1", Some("k1"), &body()).await;
        assert_eq!((reply.status.as_u16(), reply.header("idempotent-replayed")), (200, None));
    }

    assert_eq!(provider.ledger().len(), 2);
    assert_eq!(get(&provider, "/behaviour").await.json()["ignore_keys"], true);
    let typo = send(Method::PUT, format!("{}/behaviour", provider.url()), &[], r#"{"ignore":1}"#).await;
    assert_eq!(typo.status, 400);
}

#[tokio::test]
async fn a_charge_is_carried_out_even_if_its_caller_goes_away() {
    let provider = PaymentProvider::start().await.unwrap();
    provider.set_behaviour(with(|b| b.delay_before_charging = Duration::from_millis(1000)));
    let request = body();
    let seen = async {
        eventually(Duration::from_secs(10), async || {
            (get(&provider, "/v1/charges/by-key/k1").await.status == 409).then_some(())
        })
        .await
        .unwrap();
    };
    tokio::select! {
        _ = charge(&provider, "acct_1", Some("k1"), &request) => panic!("it is delayed"),
        () = seen => {}
    }

    eventually(Duration::from_secs(10), async || (provider.ledger().len() == 1).then_some(())).await.unwrap();
    provider.stop().await;
}
