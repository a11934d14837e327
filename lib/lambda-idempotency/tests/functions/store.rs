//! A store that does not answer, and another attempt that was quicker.

use idempotency_core::Status;
use idempotency_testkit::{
    FaultyTable,
    fault_proxy::{Fault, Rule},
};
use lambda_idempotency::{
    DynamoDbStore, Idempotency, IdempotencyKey, Mode, Namespace, Operation, Scope,
    function::{BoxError, Call, Error, FunctionOperation, run},
};

use crate::support::{Runs, World};

fn operation() -> FunctionOperation {
    FunctionOperation::new(Operation::declare("render", 1))
}

fn call() -> Call {
    Call::new(IdempotencyKey::new("k-1"), Scope::none())
}

fn over(table: &FaultyTable) -> Idempotency {
    Idempotency::new(DynamoDbStore::new(table.client(), FaultyTable::NAME), Namespace::new("test").unwrap())
}

#[tokio::test]
async fn a_store_that_does_not_answer_means_that_nothing_runs() {
    let (table, runs) = (FaultyTable::start().await.unwrap(), Runs::default());
    table.proxy().inject(Rule::on("PutItem").forever().fault(Fault::ErrorBefore));
    let idempotency = over(&table);
    let refused = run(&idempotency, &operation(), call(), async |_| Ok::<_, BoxError>(runs.count())).await.unwrap_err();
    assert!(matches!(refused, Error::NotProtected(_)), "{refused:?}");
    assert!(refused.retry_after().is_some());
    assert_eq!(runs.so_far(), 0);
    let shadow = idempotency.with_mode(Mode::Shadow);
    assert_eq!(run(&shadow, &operation(), call(), async |_| Ok::<_, BoxError>(runs.count())).await.unwrap().value, 1);
}

#[tokio::test]
async fn a_large_value_whose_parts_cannot_be_stored_is_delivered_once_and_replays_say_so() {
    let (table, runs) = (FaultyTable::start().await.unwrap(), Runs::default());
    let is_part = Rule::on("PutItem").when(|request| request.body["Item"].get("part").is_some());
    table.proxy().inject(is_part.forever().fault(Fault::ErrorBefore));
    let idempotency = over(&table);
    // Numbers that do not compress.
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state
    };
    let large: Vec<u64> = (0..10_000).map(|_| next()).collect();
    let render = async || {
        run(&idempotency, &operation(), call(), async |_| {
            runs.count();
            Ok::<_, BoxError>(large.clone())
        })
        .await
    };
    assert!(render().await.unwrap().value == large);
    assert!(matches!(render().await, Err(Error::ResultOmitted)));
    assert_eq!(runs.so_far(), 1);
}

#[tokio::test]
async fn an_attempt_that_was_superseded_gives_the_value_of_the_other() {
    let (world, operation) = (World::new(), operation());
    let slow = run(&world.idempotency, &operation, call(), async |_| {
        world.end_lease();
        let other = run(&world.idempotency, &operation, call(), async |_| Ok::<_, BoxError>(2)).await?;
        assert_eq!((other.value, other.replayed), (2, false));
        Ok::<_, BoxError>(1)
    });
    let slow = slow.await.unwrap();
    assert_eq!((slow.value, slow.replayed), (2, true));
    assert_eq!(world.record().status, Status::Completed);
}

#[tokio::test]
async fn an_attempt_that_was_superseded_by_one_that_still_runs_is_a_conflict() {
    let (world, operation) = (World::new(), operation());
    let slow = run(&world.idempotency, &operation, call(), async |_| {
        world.end_lease();
        let lost = run(&world.idempotency, &operation, call(), async |_| Err::<u32, BoxError>("lost".into())).await;
        assert!(matches!(lost, Err(Error::Abandoned(_))));
        Ok::<_, BoxError>(1)
    });
    assert!(matches!(slow.await, Err(Error::Conflict { .. })));
}
