//! The contract with HTTP callers, row by row, behind every kind of front: the column "HTTP" of the design's table of what
//! each trigger gets.

use futures::future::join;
use idempotency_cli::StackOptions;
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Rule},
    http_front::HttpKind,
};
use serde_json::json;

use crate::world::{Charge, PATIENCE, World};

every_kind! {
    fresh,
    replay,
    conflict,
    mismatch,
    missing_key,
    invalid_key,
    two_keys,
    uncertain,
    permanent_failure,
    abandoned_failure,
    store_down,
    scope_missing,
    another_tenant,
    get_passes_through,
}

/// What the client of this kind gets when the function fails.
fn own_error(kind: HttpKind) -> u16 {
    if kind == HttpKind::HttpApi { 500 } else { 502 }
}

async fn fresh(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let first = world.charge(&Charge::new("order-42")).await;
    assert_eq!((first.status, first.is_replay()), (201, false));
    let ledger = world.stack.provider().ledger();
    assert_eq!(first.headers["location"], format!("/charges/{}", ledger[0].id));
    assert_eq!(first.headers["content-type"], "application/json");
    let body = json!({ "id": ledger[0].id, "amount": 1200, "currency": "EUR", "customer": "cus_42" });
    assert_eq!(first.json(), body);
    assert_eq!((ledger.len(), ledger[0].account.as_str()), (1, "tenant-7"));
    assert_eq!(world.record().await.status, Status::Completed);
    world.stop().await;
}

async fn replay(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let first = world.charge(&Charge::new("order-42")).await;
    assert_eq!(first.status, 201);
    let record = world.record().await;
    for key in ["order-42", "\"order-42\""] {
        first.assert_replayed_by(&world.charge(&Charge::new(key)).await);
    }
    assert_eq!(world.charges(), 1);
    assert_eq!(world.record().await, record, "a replay writes nothing");
    world.stop().await;
}

async fn conflict(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let meanwhile = async {
        gate.reached().await;
        let record = world.record().await;
        let conflict = world.charge(&charge).await;
        assert_eq!((conflict.status, conflict.problem().as_str()), (409, "conflict"));
        let seconds: u64 = conflict.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
        assert_eq!(world.record().await, record, "a conflict writes nothing");
        gate.open();
    };
    let (first, ()) = join(world.charge(&charge), meanwhile).await;
    assert_eq!((first.status, first.is_replay()), (201, false));
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn mismatch(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let first = world.charge(&Charge::new("order-42")).await;
    let mismatch = world.charge(&Charge::new("order-42").amount(1201)).await;
    assert_eq!((mismatch.status, mismatch.problem().as_str()), (422, "mismatch"));
    first.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn missing_key(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    for keys in [&[][..], &[""], &["   "], &["\"\""]] {
        let answer = world.charge(&Charge::new("any").keys(keys)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "key-missing"), "{keys:?}");
    }
    assert_eq!((world.charges(), world.store_requests().len()), (0, 0));
    world.stop().await;
}

async fn invalid_key(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    for key in ["a b", "\"order-42", "a,b", &"k".repeat(256)] {
        let answer = world.charge(&Charge::new(key)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "key-invalid"), "{key}");
    }
    assert_eq!((world.charges(), world.store_requests().len()), (0, 0));
    world.stop().await;
}

/// Two keys are refused, if the function can see both. It can not behind a load balancer without multi-value headers, which
/// delivers the last, nor behind a REST API, which delivers all, because `lambda_http` puts the single-value map over them.
async fn two_keys(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let answer = world.charge(&Charge::new("any").keys(&["order-42", "order-43"])).await;
    match kind {
        HttpKind::RestApi | HttpKind::Alb => {
            assert_eq!(answer.status, 201);
            assert_eq!(world.stack.provider().ledger()[0].key.as_deref(), Some("order-43"));
            answer.assert_replayed_by(&world.charge(&Charge::new("order-43")).await);
        }
        _ => {
            assert_eq!((answer.status, answer.problem().as_str()), (400, "key-invalid"));
            assert_eq!((world.charges(), world.store_requests().len()), (0, 0));
        }
    }
    world.stop().await;
}

async fn uncertain(kind: HttpKind) {
    let options = StackOptions { http_kind: kind, ..StackOptions::default() };
    let world = World::with(options.env("ON_ABANDONED", "reject")).await;
    let gate = world.hold(Status::Completed, 1);
    let kill = async {
        gate.reached().await;
        let sandbox = world.busy_sandbox();
        sandbox.kill();
        sandbox.exited().await;
    };
    let (lost, ()) = join(world.charge(&Charge::new("order-42")), kill).await;
    assert_eq!(lost.status, own_error(kind), "the platform's answer to a crash");
    world.end_the_lease().await;
    let record = world.record().await;
    let uncertain = world.charge(&Charge::new("order-42")).await;
    assert_eq!((uncertain.status, uncertain.problem().as_str()), (500, "outcome-unknown"));
    assert_eq!(world.charge(&Charge::new("order-42")).await.body, uncertain.body, "the answer is stable");
    assert_eq!(world.record().await, record, "and writes nothing");
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn permanent_failure(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    // The provider knows this key with another amount, and refuses it for good.
    world.charge_elsewhere("order-42", 1).await;
    let failed = world.charge(&Charge::new("order-42")).await;
    assert_eq!((failed.status, failed.problem().as_str()), (400, "request-invalid"));
    failed.assert_replayed_by(&world.charge(&Charge::new("order-42")).await);
    assert_eq!(world.record().await.status, Status::Failed);
    assert_eq!(world.charges(), 1, "only the charge from elsewhere");
    world.stop().await;
}

/// An error that does not say what it means goes to Lambda, and the front tells its own.
async fn abandoned_failure(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    world.provider(idempotency_testkit::payment_provider::Behaviour { fail_after_charging: 1, ..Default::default() });
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, own_error(kind));
    assert_eq!((world.charges(), world.record().await.status), (1, Status::InFlight));
    world.end_the_lease().await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn store_down(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    world.stack.proxy().inject(Rule::any().forever().fault(Fault::DropBefore));
    let answer = world.charge(&Charge::new("order-42")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (503, "store-unavailable"));
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(world.charges(), 0, "nothing was executed");
    world.stack.proxy().clear_rules();
    // The store is back, and the same request is fresh.
    let charged = eventually(PATIENCE, async || {
        let answer = world.charge(&Charge::new("order-42")).await;
        (answer.status == 201).then_some(answer)
    });
    assert!(!charged.await.unwrap().is_replay());
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

async fn scope_missing(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let answer = world.charge(&Charge::new("order-42").tenant(None)).await;
    assert_eq!((answer.status, answer.problem().as_str()), (403, "scope-missing"));
    assert_eq!((world.charges(), world.store_requests().len()), (0, 0));
    world.stop().await;
}

async fn another_tenant(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    world.charge(&Charge::new("order-42")).await;
    let theirs = world.charge(&Charge::new("order-42").tenant(Some("tenant-8"))).await;
    assert_eq!((theirs.status, theirs.is_replay()), (201, false));
    let accounts: Vec<_> = world.stack.provider().ledger().into_iter().map(|entry| entry.account).collect();
    assert_eq!(accounts, ["tenant-7", "tenant-8"]);
    world.stop().await;
}

async fn get_passes_through(kind: HttpKind) {
    let world = World::of_kind(kind).await;
    let location = world.charge(&Charge::new("order-42")).await.headers["location"].to_str().unwrap().to_owned();
    world.store_requests();
    for _ in 0..2 {
        let shown = world.get(&location, "tenant-7").await;
        assert_eq!((shown.status, shown.is_replay()), (200, false));
        assert_eq!(shown.json()["amount"], 1200);
    }
    assert_eq!(world.get(&location, "tenant-8").await.status, 404);
    assert_eq!(world.store_requests(), [], "reading needs no key and no record");
    world.stop().await;
}
