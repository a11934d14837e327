//! A store that gives no usable answer: the request is refused and nothing happens.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{Stack, StackOptions};
use idempotency_dynamodb::attribute;
use idempotency_testkit::fault_proxy::{Fault, Rule};

use crate::world::{Charge, World};

#[tokio::test]
async fn without_an_answer_to_the_claim_nothing_runs() {
    let world = World::start().await;
    let faults = [
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::ErrorBefore,
        Fault::ErrorAfter,
        Fault::Throttle,
        Fault::Slow(Duration::from_secs(3600)),
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        world.stack.proxy().inject(Rule::any().forever().fault(fault.clone()));
        let answer = world.charge(&Charge::new(&format!("order-{number}"))).await;
        assert_eq!((answer.status, answer.problem().as_str()), (503, "store-unavailable"), "{fault:?}");
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(world.charges(), 0, "{fault:?}");
        world.stack.proxy().clear_rules();
    }
    // The store is back, and so is the service.
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn a_missing_table_refuses_requests() {
    let world = World::start().await;
    world.stack.dynamodb().delete_table().table_name(Stack::TABLE).send().await.unwrap();
    let answer = world.charge(&Charge::new("order-42")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (503, "store-unavailable"));
    assert_eq!(world.charges(), 0);
    assert!(world.log().contains("check the table's name"), "the operator is told what to do");
    world.stop().await;
}

#[tokio::test]
async fn a_record_of_another_schema_or_a_damaged_one_is_never_taken_for_absent() {
    let world = World::start().await;
    let damages = [
        (attribute::SCHEMA, AttributeValue::N("2".into())),
        (attribute::STATUS, AttributeValue::S("paused".into())),
        (attribute::FINGERPRINT, AttributeValue::S("text".into())),
    ];
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 201);
    for (name, value) in damages {
        let item =
            world.stack.dynamodb().scan().table_name(Stack::TABLE).send().await.unwrap().items.unwrap().remove(0);
        world.set(name, value).await;
        let answer = world.charge(&Charge::new("order-42")).await;
        assert_eq!((answer.status, answer.problem().as_str()), (503, "store-unavailable"), "{name}");
        let repair = world.stack.dynamodb().put_item().table_name(Stack::TABLE).set_item(Some(item));
        repair.send().await.unwrap();
    }
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn the_kill_switch_runs_every_request_without_the_table_and_warns_once() {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "off")).await;
    let table = Rule::any().table(Stack::TABLE).forever();
    world.stack.proxy().inject(table.fault(Fault::DropBefore));
    for _ in 0..2 {
        let answer = world.charge(&Charge::new("order-42")).await;
        assert_eq!((answer.status, answer.is_replay()), (201, false));
    }
    assert_eq!(world.stack.provider_proxy().requests().len(), 2, "the handler ran twice");
    assert_eq!(world.charges(), 1, "the provider got the same key");
    assert!(world.store_requests().is_empty());
    let missing = world.charge(&Charge::new("order-42").keys(&[])).await;
    assert_eq!((missing.status, missing.problem().as_str()), (400, "key-missing"));
    assert_eq!(world.log().matches("every request runs").count(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_function_with_an_unknown_mode_does_not_start() {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "disabled")).await;
    assert_eq!(world.charge(&Charge::new("order-42")).await.status, 500);
    assert!(world.log().contains("disabled") && world.log().contains("say enforce, shadow or off"), "{}", world.log());
    assert_eq!(world.charges(), 0);
    world.stop().await;
}

#[tokio::test]
async fn shadow_mode_runs_every_request_and_tells_what_it_would_have_held_back() {
    let world = World::with(StackOptions::default().env("IDEMPOTENCY_MODE", "shadow")).await;
    for _ in 0..2 {
        assert!(!world.charge(&Charge::new("order-42")).await.is_replay());
    }
    assert_eq!(world.stack.provider_proxy().requests().len(), 2);
    assert!(world.log().contains("would_be") && world.log().contains("replay"), "{}", world.log());
    world.stop().await;
}
