//! By what a record is known, and whose it is.

use lambda_idempotency::{
    Attempt, IdempotencyKey, Operation, Scope, ScopeError, events::Delivered, function::BoxError, idempotent,
};
use serde_json::json;

use crate::{
    messages::take_in,
    support::{ClaimReceived, Journal, World, batch, claim, message, message_with_key, not_done},
};

#[idempotent(sqs, operation = "by-parts", version = 1, scope = none, key = [claim.tenant, number = &claim.id])]
async fn by_parts(claim: ClaimReceived, attempt: Attempt, journal: &Journal) -> Result<(), BoxError> {
    let _ = claim;
    journal.note(attempt.key().as_str());
    Ok(())
}

#[idempotent(sqs, operation = "by-platform", version = 1, scope = none)]
async fn by_platform(claim: ClaimReceived, attempt: Attempt, journal: &Journal) -> Result<(), BoxError> {
    let _ = claim;
    journal.note(attempt.key().as_str());
    Ok(())
}

#[tokio::test]
async fn the_key_that_travels_comes_before_the_business_key_and_that_before_the_id_of_the_platform() {
    let world = World::new();
    let parts = IdempotencyKey::derived(&Operation::declare("by-parts", 1))
        .part("claim.tenant", "tenant-7")
        .part("number", "c-1")
        .finish()
        .unwrap();
    let plain = || batch([message("m-1", &claim("c-1"))]);
    let with_key = || batch([message_with_key("m-1", &claim("c-1"), "order-42")]);
    by_parts(&world.idempotency, &world.journal, plain()).await.unwrap();
    by_platform(&world.idempotency, &world.journal, plain()).await.unwrap();
    assert_eq!(world.journal.take(), [parts.as_str(), "m-1"]);
    by_parts(&world.idempotency, &world.journal, with_key()).await.unwrap();
    by_platform(&world.idempotency, &world.journal, with_key()).await.unwrap();
    assert_eq!(world.journal.take(), ["order-42", "order-42"]);
}

#[tokio::test]
async fn a_key_that_travels_and_cannot_be_used_is_never_replaced_by_another() {
    let world = World::new();
    for key in ["", " ", "with space"] {
        let messages = batch([message_with_key("m-1", &claim("c-1"), key), message("m-2", &claim("c-2"))]);
        let response = by_parts(&world.idempotency, &world.journal, messages).await.unwrap();
        assert_eq!(not_done(&response), ["m-1"], "{key:?}");
    }
    assert_eq!(world.records().len(), 1);
}

#[tokio::test]
async fn a_business_key_finds_the_same_record_in_another_message() {
    let world = World::new();
    let other = json!({ "tenant": "tenant-7", "id": "c-1", "cents": 1 });
    for (id, body, refused) in [("m-1", claim("c-1"), false), ("m-2", claim("c-1"), false), ("m-3", other, true)] {
        let response = take_in(&world.idempotency, &world.journal, batch([message(id, &body)])).await.unwrap();
        let expected = if refused { vec![id] } else { vec![] };
        assert_eq!(not_done(&response), expected, "the same key with another payload is a mismatch");
    }
    assert_eq!(world.journal.take(), ["c-1"]);
}

#[tokio::test]
async fn tenants_do_not_share_records_and_an_empty_tenant_is_none() {
    let world = World::new();
    let of = |tenant: &str| json!({ "tenant": tenant, "id": "c-1", "cents": 1 });
    let messages = [message("m-1", &of("a")), message("m-2", &of("b")), message("m-3", &of(""))];
    let response = take_in(&world.idempotency, &world.journal, batch(messages)).await.unwrap();
    assert_eq!(not_done(&response), ["m-3"]);
    assert_eq!((world.journal.take().len(), world.records().len()), (2, 2));
}

/// Whose queue this is.
struct Customer(Scope);

fn queue_and_id(claim: &Delivered<ClaimReceived, aws_lambda_events::sqs::SqsMessage>) -> String {
    format!("{}/{}", claim.record.event_source.as_deref().unwrap_or_default(), claim.payload.id)
}

#[idempotent(
    sqs, operation = "by-expressions", version = 1,
    scope = Ok::<_, ScopeError>(customer.0.clone()), key = IdempotencyKey::new(queue_and_id(claim))
)]
async fn by_expressions(
    claim: Delivered<ClaimReceived, aws_lambda_events::sqs::SqsMessage>,
    attempt: &Attempt,
    customer: &Customer,
    journal: &Journal,
) -> Result<(), BoxError> {
    let _ = (claim, customer);
    journal.note(format!("{} {}", attempt.key().as_str(), *attempt.scope() == customer.0));
    Ok(())
}

#[tokio::test]
async fn scope_and_key_may_be_expressions_of_message_and_shared_state() {
    let (world, customer) = (World::new(), Customer(Scope::tenant("tenant-9").unwrap()));
    let messages = batch([message("m-1", &claim("c-1"))]);
    by_expressions(&world.idempotency, &customer, &world.journal, messages).await.unwrap();
    assert_eq!(world.journal.take(), ["aws:sqs/c-1 true"]);
}

#[idempotent(
    sqs, operation = "without-time", version = 1, scope = none, key = [claim.id], fingerprint_exclude = ["/cents"]
)]
async fn without_cents(claim: ClaimReceived, journal: &Journal) -> Result<(), BoxError> {
    journal.note(claim.cents.to_string());
    Ok(())
}

#[tokio::test]
async fn what_does_not_count_makes_no_other_record() {
    let world = World::new();
    for cents in [1, 2] {
        let body = json!({ "tenant": "t", "id": "c-1", "cents": cents });
        let response = without_cents(&world.idempotency, &world.journal, batch([message("m", &body)])).await.unwrap();
        assert_eq!(not_done(&response), [""; 0]);
    }
    assert_eq!(world.journal.take(), ["1"]);
}
