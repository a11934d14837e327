//! What makes a call the same call.

use std::collections::BTreeMap;

use lambda_idempotency::{
    Attempt, IdempotencyKey, Operation, Scope,
    function::{BoxError, Call, Done, Error, FunctionOperation, InvalidKey, run},
    idempotent,
};
use serde::{Deserialize, Serialize};

use crate::support::{Invoice, Runs, World, archive_invoice, invoice, missing_parts};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sent {
    run: u32,
    cents: u64,
    key: String,
}

#[idempotent(operation = "send-invoice", version = 1, scope = tenant(&invoice.tenant), key = [invoice.id])]
async fn send_invoice(runs: &Runs, mut invoice: Invoice, attempt: Attempt, copies: u8) -> Result<Sent, BoxError> {
    assert_eq!((attempt.scope().as_tenant(), attempt.operation().name()), (Some("tenant-7"), "send-invoice"));
    // The function's own copy: what makes the call this call was computed before.
    invoice.id += 1;
    invoice.tenant.clear();
    Ok(Sent { run: runs.count(), cents: invoice.cents * u64::from(copies), key: attempt.key().as_str().to_owned() })
}

#[tokio::test]
async fn the_first_call_runs_and_every_other_gets_its_value() {
    let (world, runs) = (World::new(), Runs::default());
    let send = async |copies| send_invoice(&world.idempotency, &runs, invoice(42), copies).await;
    let key = IdempotencyKey::derived(&Operation::declare("send-invoice", 1)).part("invoice.id", &42).finish().unwrap();
    let expected = Sent { run: 1, cents: 1200, key: key.as_str().to_owned() };
    for replayed in [false, true, true] {
        let done = send(1).await.unwrap();
        assert_eq!((&done.value, done.replayed), (&expected, replayed));
    }
    assert!(matches!(send(2).await, Err(Error::Mismatch)), "the same key with another argument");
    let other = send_invoice(&world.idempotency, &runs, invoice(43), 1).await.unwrap();
    assert_eq!((other.run, other.replayed), (2, false));
    assert_eq!(runs.so_far(), 2);
}

/// The same operation under another name of the function and of its module.
mod moved {
    use super::*;

    #[idempotent(operation = "send-invoice", version = 1, scope = tenant(&invoice.tenant), key = [invoice.id])]
    pub(super) async fn renamed(runs: &Runs, invoice: Invoice, copies: u8) -> Result<Sent, BoxError> {
        Ok(Sent { run: runs.count(), cents: invoice.cents, key: copies.to_string() })
    }
}

#[tokio::test]
async fn another_name_of_the_function_is_the_same_operation() {
    let (world, runs) = (World::new(), Runs::default());
    let first = send_invoice(&world.idempotency, &runs, invoice(42), 1).await.unwrap();
    let renamed = moved::renamed(&world.idempotency, &runs, invoice(42), 1).await.unwrap();
    assert_eq!((first.value, true), (renamed.value.clone(), renamed.replayed));
}

#[idempotent(operation = "archive-invoice", version = 2, scope = tenant(&invoice.tenant), key = [invoice.id])]
async fn archive_invoice_2(runs: &Runs, invoice: Invoice, copies: u8) -> Result<u32, BoxError> {
    let _ = (invoice, copies);
    Ok(runs.count())
}

#[tokio::test]
async fn two_operations_or_versions_with_the_same_payload_share_no_record() {
    let (world, runs) = (World::new(), Runs::default());
    assert_eq!(send_invoice(&world.idempotency, &runs, invoice(42), 1).await.unwrap().run, 1);
    assert_eq!(archive_invoice(&world.idempotency, &runs, invoice(42), 1).await.unwrap().value, 2);
    assert_eq!(archive_invoice_2(&world.idempotency, &runs, invoice(42), 1).await.unwrap().value, 3);
    assert_eq!(world.records().len(), 3);
}

#[tokio::test]
async fn two_tenants_with_the_same_key_share_no_record() {
    let (world, runs) = (World::new(), Runs::default());
    for (run, tenant) in [(1, "a"), (2, "b"), (1, "a")] {
        let invoice = Invoice { tenant: tenant.into(), ..invoice(42) };
        assert_eq!(archive_invoice(&world.idempotency, &runs, invoice, 1).await.unwrap().value, run);
    }
}

#[derive(Clone, Copy)]
struct Flags {
    number: i32,
    flag: bool,
}

#[idempotent(operation = "parts", version = 1, scope = none, key = [number, active = flags.flag, half = flags.number / 2])]
async fn parts(runs: &Runs, number: i32, #[shared] flags: Flags) -> Result<u32, BoxError> {
    let _ = (number, flags);
    Ok(runs.count())
}

#[tokio::test]
async fn zero_and_false_are_parts_like_any_other() {
    let (world, runs) = (World::new(), Runs::default());
    let call =
        async |number, flag| parts(&world.idempotency, &runs, number, Flags { number, flag }).await.unwrap().value;
    let all = [call(0, false).await, call(0, true).await, call(1, false).await, call(0, false).await];
    assert_eq!(all, [1, 2, 3, 1]);
    let expected = IdempotencyKey::derived(&Operation::declare("parts", 1)).part("number", &0).part("active", &false);
    let expected = expected.part("half", &0).finish().unwrap();
    let known = Call::new(expected, Scope::none()).argument("number", &0);
    let operation = FunctionOperation::new(Operation::declare("parts", 1));
    let done: Done<u32> = run(&world.idempotency, &operation, known, async |_| Ok::<_, BoxError>(0)).await.unwrap();
    assert_eq!((done.value, done.replayed), (1, true), "names, values and arguments are what the macro says they are");
}

#[tokio::test]
async fn a_missing_or_blank_part_is_refused_before_anything_runs() {
    let (world, runs) = (World::new(), Runs::default());
    for (order, customer, message) in [
        (None, "c", "the key part `order` is missing; a key needs all of its parts"),
        (Some(1), " ", "the key part `customer` is empty; a key needs all of its parts"),
    ] {
        let refused = missing_parts(&world.idempotency, &runs, order, customer.into()).await.unwrap_err();
        assert!(
            matches!(&refused, Error::Key(InvalidKey::Parts(error)) if error.to_string() == message),
            "{refused:?}"
        );
        assert_eq!(refused.retry_after(), None);
    }
    assert_eq!((runs.so_far(), world.records().len()), (0, 0));
}

#[tokio::test]
async fn a_blank_tenant_is_refused_before_anything_runs() {
    let (world, runs) = (World::new(), Runs::default());
    let nobodys = Invoice { tenant: " ".into(), ..invoice(42) };
    assert!(matches!(send_invoice(&world.idempotency, &runs, nobodys, 1).await, Err(Error::Scope(_))));
    assert_eq!((runs.so_far(), world.records().len()), (0, 0));
}

struct Order {
    key: IdempotencyKey,
}

#[idempotent(operation = "given", version = 1, scope = Scope::tenant(tenant), key = &order.key)]
async fn given(runs: &Runs, #[shared] order: Order, tenant: String) -> Result<u32, BoxError> {
    let _ = (order.key, tenant);
    Ok(runs.count())
}

#[idempotent(operation = "given", version = 1, scope = Scope::tenant(tenant.as_str()), key = key)]
async fn given_by_value(runs: &Runs, #[shared] key: IdempotencyKey, tenant: String) -> Result<u32, BoxError> {
    let _ = (key, tenant);
    Ok(runs.count())
}

#[idempotent(operation = "given", version = 1, scope = Scope::tenant("t"), key = IdempotencyKey::new(text))]
async fn given_as_text(runs: &Runs, #[shared] text: &str, tenant: String) -> Result<u32, BoxError> {
    let _ = (text, tenant);
    Ok(runs.count())
}

#[tokio::test]
async fn a_key_may_be_given_as_a_key_a_reference_or_text() {
    let (world, runs) = (World::new(), Runs::default());
    let key = || IdempotencyKey::new("order-42").unwrap();
    let handle = &world.idempotency;
    assert_eq!(given(handle, &runs, Order { key: key() }, "t".into()).await.unwrap().value, 1);
    assert_eq!(given_by_value(handle, &runs, key(), "t".into()).await.unwrap().value, 1);
    assert_eq!(given_as_text(handle, &runs, "order-42", "t".into()).await.unwrap().value, 1);
    assert!(matches!(given_as_text(handle, &runs, " ", "t".into()).await, Err(Error::Key(InvalidKey::Text(_)))));
    assert_eq!(runs.so_far(), 1);
}

#[idempotent(operation = "excluding", version = 1, scope = none, key = [order.0], fingerprint_exclude = ["/order/1", "/trace"])]
async fn excluding(runs: &Runs, order: (u64, u64), trace: String) -> Result<u32, BoxError> {
    let _ = (order, trace);
    Ok(runs.count())
}

#[tokio::test]
async fn excluded_places_of_the_arguments_do_not_count() {
    let (world, runs) = (World::new(), Runs::default());
    for sent_at in [1, 2] {
        let done = excluding(&world.idempotency, &runs, (u64::MAX, sent_at), sent_at.to_string()).await;
        assert_eq!(done.unwrap().value, 1);
    }
}

#[tokio::test]
async fn an_argument_that_is_no_json_is_refused_before_anything_runs() {
    let (world, runs) = (World::new(), Runs::default());
    let operation = FunctionOperation::new(Operation::declare("odd", 1));
    let call = Call::new(IdempotencyKey::new("k"), Scope::none())
        .argument("odd", &BTreeMap::from([(vec![1], 2)]))
        .argument("fine", &1);
    let refused = run(&world.idempotency, &operation, call, async |_| Ok::<_, BoxError>(runs.count())).await;
    assert!(matches!(refused, Err(Error::Argument { argument: "odd", .. })));
    assert_eq!((runs.so_far(), world.records().len()), (0, 0));
}
