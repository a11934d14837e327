//! What a client sees when nothing breaks.

use idempotency_testkit::{
    fault_proxy::{Fault, Rule},
    payment_provider::Behaviour,
};
use serde_json::json;

use crate::world::{Charge, World};

#[tokio::test]
async fn the_same_request_again_gets_the_same_bytes_and_charges_nothing() {
    let world = World::start().await;
    let first = world.charge(&Charge::new("order-42")).await;
    assert_eq!(first.status, 201);
    let id = world.stack.provider().ledger()[0].id.clone();
    assert_eq!(first.headers["location"], format!("/charges/{id}"));
    assert_eq!(first.json(), json!({ "id": id, "amount": 1200, "currency": "EUR", "customer": "cus_42" }));
    let record = world.record().await;
    for _ in 0..3 {
        first.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    }
    assert_eq!(world.charges(), 1);
    assert_eq!(world.record().await, record, "a replay writes nothing");
    world.stop().await;
}

#[tokio::test]
async fn equal_json_in_another_spelling_is_the_same_request() {
    let world = World::start().await;
    let first = world.charge(&Charge::new("order-42")).await;
    let other_spelling = r#"{ "customer":"cus_\u0034\u0032", "currency" : "EUR", "amount": 1200 }"#;
    first.assert_replayed_by(&world.charge(&Charge::new("order-42").body(other_spelling)).await);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn the_same_key_with_another_body_is_refused_and_changes_nothing() {
    let world = World::start().await;
    let first = world.charge(&Charge::new("order-42")).await;
    let record = world.record().await;
    let mismatch = world.charge(&Charge::new("order-42").amount(1201)).await;
    assert_eq!((mismatch.status, mismatch.problem().as_str()), (422, "mismatch"));
    let text = String::from_utf8(mismatch.body.clone()).unwrap();
    assert!(!text.contains("ch_") && !text.contains("1200"), "a problem shows no stored data: {text}");
    assert_eq!(world.record().await, record);
    first.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn another_tenant_with_the_same_key_gets_a_charge_of_its_own() {
    let world = World::start().await;
    let ours = world.charge(&Charge::new("order-42")).await;
    let theirs = world.charge(&Charge::new("order-42").tenant(Some("tenant-8"))).await;
    assert_eq!((theirs.status, theirs.is_replay()), (201, false));
    assert_ne!(ours.json()["id"], theirs.json()["id"]);
    let accounts: Vec<_> = world.stack.provider().ledger().into_iter().map(|entry| entry.account).collect();
    assert_eq!(accounts, ["tenant-7", "tenant-8"]);
    world.stop().await;
}

#[tokio::test]
async fn a_caller_without_a_tenant_is_refused() {
    let world = World::start().await;
    let answer = world.charge(&Charge::new("order-42").tenant(None)).await;
    assert_eq!((answer.status, answer.problem().as_str()), (403, "scope-missing"));
    assert_eq!(world.charges(), 0);
    assert_eq!(world.records().await, []);
    world.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_fit_is_refused_by_path_and_stores_nothing() {
    let world = World::start().await;
    let rows = [
        (r#"{"amount": 1200, "currency": "EUR"}"#, "customer"),
        (r#"{"amount": "1200", "currency": "EUR", "customer": "cus_42"}"#, "amount: "),
        (r#"{"amount": 0, "currency": "EUR", "customer": "cus_42"}"#, "amount: "),
        (r#"{"amount": 12.5, "currency": "EUR", "customer": "cus_42"}"#, "amount: "),
        (r#"{"amount": 1200, "currency": "euro", "customer": "cus_42"}"#, "currency: "),
        (r#"{"amount": 1200, "currency": "EUR", "customer": ""}"#, "customer: "),
        (r#"{"amount": 1200, "currency": "EUR", "customer": "cus_42", "tip": 1}"#, "tip: "),
        (r#"{"amount": 1200, "amount": 1, "currency": "EUR", "customer": "cus_42"}"#, "amount"),
        ("[1200]", "the body: "),
        ("", "the body: "),
        ("{", "the body: "),
    ];
    for (body, path) in rows {
        let answer = world.charge(&Charge::new("order-42").body(body)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "request-invalid"), "{body}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(path), "{body}: {detail}");
    }
    assert_eq!(world.charges(), 0);
    assert_eq!(world.store_requests(), []);
    // The key was never used up.
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn a_charge_is_shown_to_its_tenant_only() {
    let world = World::start().await;
    let location = world.charge(&Charge::new("order-42")).await.headers["location"].to_str().unwrap().to_owned();
    world.store_requests();
    let shown = world.get(&location, "tenant-7").await;
    assert_eq!(shown.status, 200);
    assert_eq!(shown.json()["amount"], 1200);
    assert_eq!(world.get(&location, "tenant-8").await.status, 404);
    assert_eq!(world.get("/charges/ch_none", "tenant-7").await.status, 404);
    assert_eq!(world.get("/charges", "tenant-7").await.status, 405);
    assert_eq!(world.get("/", "tenant-7").await.status, 404);
    assert_eq!(world.get("/charges/", "tenant-7").await.status, 404, "another spelling is not the same path");
    assert_eq!(world.store_requests(), [], "reading needs no key and no record");
    world.stop().await;
}

#[tokio::test]
async fn the_key_goes_to_the_provider_unchanged() {
    let world = World::start().await;
    world.charge(&Charge::new("order-42")).await;
    assert_eq!(world.stack.provider().ledger()[0].key.as_deref(), Some("order-42"));
    world.stop().await;
}

/// What neither a problem nor a log may tell: the key, the tenants, and what was asked and answered.
const SECRETS: [&str; 6] = ["secret-key-1", "tenant-7", "tenant-8", "cus_42", "98765", "ch_"];

#[tokio::test]
async fn neither_problems_nor_logs_tell_key_tenant_or_what_was_asked_and_answered() {
    let world = World::start().await;
    let charge = Charge::new("secret-key-1").amount(98765);
    let log_tells = |what: &str| assert!(world.log().contains(what), "{what}: {}", world.log());
    let is_problem = async |charge: &Charge, status: u16| {
        let answer = world.charge(charge).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let body = String::from_utf8(answer.body).unwrap();
        assert!(!SECRETS.iter().any(|secret| body.contains(secret)), "{body}");
    };
    world.provider(Behaviour { turn_away: 1, ..Behaviour::default() });
    is_problem(&charge, 503).await;
    log_tells("the effect did not happen");
    world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
    is_problem(&charge, 500).await;
    log_tells("attempt abandoned");
    is_problem(&charge, 409).await;
    world.end_the_lease().await;
    assert_eq!(world.charge(&charge).await.status, 201);
    assert!(world.charge(&charge).await.is_replay());
    is_problem(&charge.clone().amount(5), 422).await;
    is_problem(&charge.clone().body(r#"{"customer":"cus_42","amount":"98765"}"#), 400).await;
    is_problem(&charge.clone().keys(&["secret-key-1", "secret-key-1"]), 400).await;
    // The same key of another tenant: its effect happens and its end cannot be stored.
    world.fault_on_write(2, u64::MAX, Fault::ErrorBefore);
    assert_eq!(world.charge(&charge.clone().tenant(Some("tenant-8"))).await.status, 201);
    log_tells("CompletionUnconfirmed");
    world.stack.proxy().clear_rules();
    world.stack.proxy().inject(Rule::any().forever().fault(Fault::Throttle));
    is_problem(&charge, 503).await;
    log_tells("the request was refused because it could not be protected");
    for outcome in ["fresh", "conflict", "replay", "mismatch", "not-protected"] {
        log_tells(outcome);
    }
    let log = world.log();
    assert!(!SECRETS.iter().any(|secret| log.contains(secret)), "{log}");
    world.stop().await;
}
