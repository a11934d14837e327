use std::sync::atomic::Ordering;

use lambda_idempotency::{
    Attempt, IdempotencyKey, OnAbandoned, Operation, Probed, Scope,
    function::{BoxError, Call, Done, Error, FunctionOperation, Storable, run, run_with},
    migration::PowertoolsFlavour::{JsonText, Native},
    no_undo,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::support::{PYTHON, TYPESCRIPT, World, row};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Seat {
    seat: String,
    price: f64,
}

async fn reserve<R: Storable>(world: &World, order: &str, value: R) -> Result<Done<R>, Error<BoxError>> {
    let operation = FunctionOperation::new(Operation::declare("reserve-seat", 1));
    let call = Call::new(IdempotencyKey::new(order), Scope::none()).argument("order", &Value::from(order));
    run(&world.idempotency, &operation, call, async |_: Attempt| {
        world.runs.fetch_add(1, Ordering::SeqCst);
        Ok::<_, BoxError>(value)
    })
    .await
}

fn seat(seat: &str) -> Seat {
    Seat { seat: seat.into(), price: 12.5 }
}

#[tokio::test]
async fn a_calls_old_value_is_its_value() {
    for (rows, flavour) in [(PYTHON, JsonText), (TYPESCRIPT, Native)] {
        let row = row(rows, "value");
        let world = World::after(&row, flavour).await;
        world.put(&row["completed"]).await;
        for _ in 0..2 {
            let done = reserve(&world, "o-7", seat("99F")).await.unwrap();
            assert_eq!((done.value, done.replayed), (seat("12A"), true));
        }
        assert_eq!(world.so_far(), 0);
        // The old function had no row of this one.
        assert_eq!(reserve(&world, "o-8", seat("99F")).await.unwrap().value, seat("99F"));
    }
}

#[tokio::test]
async fn nothing_and_a_text_are_values_too() {
    for (rows, flavour) in [(PYTHON, JsonText), (TYPESCRIPT, Native)] {
        let row = row(rows, "nothing");
        let world = World::after(&row, flavour).await;
        world.put(&row["completed"]).await;
        assert!(reserve(&world, "o-7", ()).await.unwrap().replayed);
    }
    let row = row(TYPESCRIPT, "text");
    let world = World::after(&row, Native).await;
    world.put(&row["completed"]).await;
    assert_eq!(reserve(&world, "o-7", String::new()).await.unwrap().value, "12");
}

#[tokio::test]
async fn an_old_value_of_another_type_cannot_be_read_and_the_function_does_not_run() {
    let row = row(PYTHON, "value");
    let world = World::after(&row, JsonText).await;
    world.put(&row["completed"]).await;
    for _ in 0..2 {
        assert!(matches!(reserve(&world, "o-7", 7_u32).await, Err(Error::ResultUnreadable)));
    }
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn a_call_in_progress_is_a_conflict_that_says_how_long_it_may_take() {
    let row = row(PYTHON, "value");
    let world = World::after(&row, JsonText).await;
    world.put(&row["in_progress"]).await;
    let Err(Error::Conflict { lease_left, retry_after }) = reserve(&world, "o-7", ()).await else { panic!() };
    assert_eq!((lease_left.as_secs(), retry_after.as_secs()), (28, 5));
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn an_old_value_with_a_number_that_would_be_another_is_refused_and_not_changed() {
    for (data, is_kept) in [
        (r#"{"n": 18446744073709551615, "f": 12.50}"#, true),
        (r#"{"n": 123456789012345678901234567890}"#, false),
        (r#"[0.12345678901234567890]"#, false),
    ] {
        let row = row(PYTHON, "value");
        let world = World::after(&row, JsonText).await;
        let mut stored = row["completed"].clone();
        stored["data"]["S"] = data.into();
        world.put(&stored).await;
        for _ in 0..2 {
            match reserve(&world, "o-7", Value::Null).await {
                Ok(done) if is_kept => assert_eq!(done.value, serde_json::from_str::<Value>(data).unwrap()),
                Err(Error::ResultUnreadable) if !is_kept => {}
                other => panic!("{data}: {other:?}"),
            }
        }
        assert_eq!(world.so_far(), 0);
    }
    let row = row(TYPESCRIPT, "value");
    let world = World::after(&row, Native).await;
    let mut stored = row["completed"].clone();
    stored["data"] = serde_json::json!({ "N": "123456789012345678901234567890" });
    world.put(&stored).await;
    assert!(matches!(reserve(&world, "o-7", 0.0).await, Err(Error::ResultUnreadable)));
}

#[tokio::test]
async fn a_probe_of_a_call_that_cannot_say_is_asked_again_by_the_next() {
    let row = row(PYTHON, "value");
    let world = World::after(&row, JsonText).await;
    world.put(&row["in_progress"]).await;
    world.advance(std::time::Duration::from_secs(29));
    let operation = FunctionOperation::new(Operation::declare("reserve-seat", 1)).on_abandoned(OnAbandoned::Probe);
    for asked in 1..=3 {
        let call = Call::new(IdempotencyKey::new("o-7"), Scope::none()).argument("order", &Value::from("o-7"));
        let probe = async |_: Attempt| {
            world.probes.fetch_add(1, Ordering::SeqCst);
            Ok(Probed::Unknown)
        };
        let handler = async |_: Attempt| -> Result<u32, BoxError> { panic!("nobody knows") };
        let done = run_with(&world.idempotency, &operation, call, probe, no_undo, handler).await;
        assert!(matches!(done, Err(Error::Uncertain)), "{done:?}");
        assert_eq!(world.probes.load(Ordering::SeqCst), asked);
    }
}
