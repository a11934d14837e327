//! What the first caller gets, and every other.

use std::collections::BTreeMap;

use idempotency_core::Status;
use lambda_idempotency::{
    Attempt, IdempotencyKey, OnAbandoned, Operation, Scope,
    function::{BoxError, Call, Done, Error, FunctionOperation, run},
    idempotent,
};
use serde::{Deserialize, Serialize};

use crate::{
    failures::Trouble,
    support::{Runs, World},
};

/// Runs a function that gives `value` twice, and gives both answers.
async fn twice<R: Serialize + serde::de::DeserializeOwned + Clone>(value: R) -> [Done<R>; 2] {
    let (world, runs) = (World::new(), Runs::default());
    let operation = FunctionOperation::new(Operation::declare("value", 1));
    let call = async || {
        let call = Call::new(IdempotencyKey::new("k"), Scope::none());
        run(&world.idempotency, &operation, call, async |_| {
            runs.count();
            Ok::<_, BoxError>(value.clone())
        })
        .await
        .unwrap()
    };
    let both = [call().await, call().await];
    assert_eq!(runs.so_far(), 1);
    both
}

#[tokio::test]
async fn null_unit_false_zero_and_empty_values_are_replayed() {
    async fn check<R: Serialize + serde::de::DeserializeOwned + Clone + PartialEq + std::fmt::Debug>(value: R) {
        let [first, again] = twice(value.clone()).await;
        assert_eq!((&first.value, first.replayed, &again.value, again.replayed), (&value, false, &value, true));
    }
    check(()).await;
    check(None::<u32>).await;
    check(false).await;
    check(0_u64).await;
    check(0.1 + 0.2).await;
    check(String::new()).await;
    check(Vec::<u8>::new()).await;
    check(serde_json::Value::Null).await;
    check(BTreeMap::<String, ()>::new()).await;
    check("x".repeat(100_000)).await;
}

#[idempotent(operation = "borrow-attempt", version = 1, scope = none, key = [id])]
async fn borrow_attempt(attempt: &Attempt, id: u32, #[shared] label: String, runs: &Runs) -> Result<String, BoxError> {
    tokio::task::yield_now().await;
    Ok(format!("{label} {id} {} {}", attempt.number().get(), runs.count()))
}

#[tokio::test]
async fn the_attempt_may_be_taken_by_reference() {
    let (world, runs) = (World::new(), Runs::default());
    let done = borrow_attempt(&world.idempotency, 7, "a".into(), &runs).await.unwrap();
    assert_eq!(done.value, "a 7 1 1");
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Partly {
    kept: u32,
    #[serde(skip)]
    left_out: u32,
}

#[tokio::test]
async fn the_first_caller_gets_what_was_stored() {
    let [first, again] = twice(Partly { kept: 1, left_out: 2 }).await;
    assert_eq!(first.value, Partly { kept: 1, left_out: 0 });
    assert_eq!(again.value, first.value);
}

/// A value whose JSON cannot be written, or not be read again.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Odd {
    NoText(BTreeMap<Vec<u8>, u32>),
    NoNumber(f64),
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_does_not_lose_the_record() {
    for odd in [Odd::NoText(BTreeMap::from([(vec![1], 2)])), Odd::NoNumber(f64::NAN)] {
        let (world, runs) = (World::new(), Runs::default());
        let operation = FunctionOperation::new(Operation::declare("odd", 1));
        let call = async || {
            let call = Call::new(IdempotencyKey::new("k"), Scope::none());
            run(&world.idempotency, &operation, call, async |_| {
                runs.count();
                Ok::<_, BoxError>(odd.clone())
            })
            .await
        };
        assert_eq!(format!("{:?}", call().await.unwrap().value), format!("{odd:?}"), "the first caller gets it");
        for _ in 0..2 {
            let again = call().await.unwrap_err();
            assert!(matches!(again, Error::ResultOmitted), "{again:?}");
        }
        assert_eq!((runs.so_far(), world.record().status), (1, Status::Completed));
    }
}

#[tokio::test]
async fn a_stored_value_of_another_type_is_told_without_its_content() {
    let world = World::new();
    let operation = FunctionOperation::new(Operation::declare("changed", 1));
    let call = || Call::new(IdempotencyKey::new("k"), Scope::none());
    run(&world.idempotency, &operation, call(), async |_| Ok::<_, BoxError>("secret".to_owned())).await.unwrap();
    let changed = run(&world.idempotency, &operation, call(), async |_| Ok::<_, BoxError>(7_u32)).await.unwrap_err();
    assert!(matches!(changed, Error::ResultUnreadable) && !format!("{changed} {changed:?}").contains("secret"));
}

mod alias {
    pub(super) type Result<R> = std::result::Result<R, super::Trouble>;
}

#[idempotent(operation = "chosen", version = 1, scope = none, key = [r#type], on_abandoned = OnAbandoned::Reject)]
async fn alias_of_result(r#type: u32, rest: (u8, [bool; 2])) -> alias::Result<u32> {
    Ok(r#type + u32::from(rest.0))
}

#[tokio::test]
async fn a_function_may_return_an_alias_of_result() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(alias_of_result(&world.idempotency, 1, (2, [true, false])).await.unwrap().value, 3);
    }
}
