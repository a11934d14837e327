//! Steps over attempts: what is called, what is read, what is refused.

use super::*;
use crate::{Attempt, RowKind, StepError};

const HTTP: Policy = Policy::new(Window::http());

/// A step whose call gives `output` and is counted.
async fn step(attempt: &Attempt, name: &str, calls: &Mutex<Vec<String>>, output: u32) -> Result<u32, StepError> {
    let call = async |key: IdempotencyKey| {
        assert_eq!(key.as_str(), attempt.step_key(name));
        calls.lock().unwrap().push(name.to_owned());
        Ok::<_, StepError>(output)
    };
    attempt.step(name, call).await
}

/// A world whose first attempt has done steps "a" and "b" and was lost.
async fn lost_after_two() -> (World, Mutex<Vec<String>>) {
    let (world, calls) = (World::new(), Mutex::default());
    let claim = world.fresh().await;
    for (name, output) in [("a", 1), ("b", 2)] {
        assert_eq!(step(claim.attempt(), name, &calls, output).await.unwrap(), output);
    }
    world.advance(PAST_THE_LEASE);
    assert_eq!(world.calls(), ["insert", "insert row", "insert row"], "the first attempt reads nothing");
    (world, calls)
}

#[tokio::test]
async fn an_attempt_after_a_lost_one_reads_once_and_goes_on_behind_what_was_done() {
    let (world, calls) = lost_after_two().await;
    let claim = world.fresh().await;
    world.calls();
    for (name, output) in [("a", 1), ("b", 2), ("c", 3)] {
        // Another output than before: what was stored counts.
        let again = if name == "c" { output } else { 100 };
        assert_eq!(step(claim.attempt(), name, &calls, again).await.unwrap(), output);
    }
    assert_eq!(world.calls(), ["rows", "insert row"]);
    assert_eq!(*calls.lock().unwrap(), ["a", "b", "c"]);
}

#[tokio::test]
async fn an_attempt_after_a_released_one_calls_only_what_failed() {
    let (world, calls) = (World::new(), Mutex::default());
    let claim = world.fresh().await;
    step(claim.attempt(), "a", &calls, 1).await.unwrap();
    let refused = claim.attempt().step("b", async |_| Err::<u32, _>(StepError::InFlight { name: "b".into() })).await;
    assert!(matches!(refused, Err(StepError::InFlight { .. })));
    assert_eq!(world.engine.release(claim).await, Completion::Stored);
    assert_eq!(world.calls(), ["insert", "insert row", "replace"], "a call that fails leaves nothing");
    let claim = world.fresh().await;
    assert_eq!(step(claim.attempt(), "a", &calls, 100).await.unwrap(), 1);
    assert_eq!(step(claim.attempt(), "b", &calls, 2).await.unwrap(), 2);
    assert_eq!(world.calls(), ["insert", "replace", "rows", "insert row"]);
    assert_eq!(*calls.lock().unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn a_new_generation_has_no_steps_of_the_old_one() {
    let (world, calls) = lost_after_two().await;
    world.advance(Window::http().storage_ttl());
    let claim = world.fresh().await;
    assert_eq!(claim.attempt().number().get(), 1);
    world.calls();
    assert_eq!(step(claim.attempt(), "a", &calls, 7).await.unwrap(), 7);
    assert_eq!(world.calls(), ["insert row"]);
    // And its own successor sees its own.
    world.advance(PAST_THE_LEASE);
    assert_eq!(step(world.fresh().await.attempt(), "a", &calls, 100).await.unwrap(), 7);
}

/// The error of a step whose call must not be made.
async fn refused(attempt: &Attempt, name: &str) -> StepError {
    attempt.step::<u32, StepError, _>(name, async |_| panic!("{name} was called")).await.unwrap_err()
}

#[tokio::test]
async fn another_order_is_refused_before_the_call_and_the_error_names_both() {
    let (world, calls) = lost_after_two().await;
    let message = refused(world.fresh().await.attempt(), "b").await.to_string();
    assert!(message.contains(r#""b" comes at place 0"#) && message.contains("it at place 1"), "{message}");
    world.advance(PAST_THE_LEASE);
    let message = refused(world.fresh().await.attempt(), "new").await.to_string();
    assert!(message.contains(r#""new" comes at place 0"#) && message.contains(r#"the step "a""#), "{message}");
    assert_eq!(*calls.lock().unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn another_type_is_refused_before_the_call() {
    let (world, _) = lost_after_two().await;
    let claim = world.fresh().await;
    let error = claim.attempt().step::<u64, StepError, _>("a", async |_| panic!("called")).await.unwrap_err();
    assert!(
        matches!(&error, StepError::Type { name, stored, asked } if (&**name, &**stored, &**asked) == ("a", "u32", "u64"))
    );
}

#[tokio::test]
async fn a_name_that_is_used_twice_or_is_none_is_refused_before_the_call() {
    let (world, calls) = (World::new(), Mutex::default());
    let claim = world.fresh().await;
    step(claim.attempt(), "a", &calls, 1).await.unwrap();
    assert!(matches!(refused(claim.attempt(), "a").await, StepError::Repeated { name } if name == "a"));
    for name in ["", "undo#a", "a b", &"x".repeat(StepError::MAX_NAME + 1)] {
        assert!(matches!(refused(claim.attempt(), name).await, StepError::Name { name: other } if other == name));
    }
    step(claim.attempt(), &"x".repeat(StepError::MAX_NAME), &calls, 1).await.unwrap();
}

#[tokio::test]
async fn a_step_to_be_undone_is_refused_where_nothing_undoes_it() {
    let world = World::new();
    let claim = world.fresh().await;
    let step = claim.attempt().step_with_undo::<u32, StepError, _>("a", async |_| panic!("called"));
    assert!(matches!(step.await.unwrap_err(), StepError::NoUndo { name } if name == "a"));
}

#[tokio::test]
async fn an_overdue_attempt_begins_nothing() {
    let world = World::new();
    let claim = world.fresh().await;
    let attempt = claim.attempt();
    let just_in_time = Duration::from_millis(1);
    world.advance(Duration::from_secs(13) - just_in_time);
    step(attempt, "in-time", &Mutex::default(), 1).await.unwrap();
    world.advance(just_in_time);
    world.calls();
    assert!(matches!(refused(attempt, "a").await, StepError::Overdue { name } if name == "a"));
    let memo = attempt.memo::<u32, StepError, _>("m", &1, async || panic!("called")).await;
    assert!(matches!(memo, Err(StepError::Overdue { .. })));
    let once = attempt.once::<StepError, _>("o", "1", async |_| panic!("called")).await;
    assert!(matches!(once, Err(StepError::Overdue { .. })));
    assert_eq!(world.calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn joined_steps_have_the_places_in_which_they_are_written_whoever_is_done_first() {
    let world = World::new();
    let join = async |attempt: &Attempt, outputs: [u32; 2]| {
        let slow = attempt.step("slow", async |_| {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, StepError>(outputs[0])
        });
        let quick = attempt.step("quick", async |_| Ok::<_, StepError>(outputs[1]));
        // Polled the other way round, too.
        let (quick, slow) = tokio::join!(quick, slow);
        [slow.unwrap(), quick.unwrap()]
    };
    assert_eq!(join(world.fresh().await.attempt(), [1, 2]).await, [1, 2]);
    let mut rows: Vec<_> = world.engine.store().inner.all_rows().into_iter().map(|row| (row.name, row.kind)).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0));
    let kind = |ordinal| RowKind::Step { ordinal, has_undo: false };
    assert_eq!(rows, [("slow".to_owned(), kind(0)), ("quick".to_owned(), kind(1))]);
    world.advance(PAST_THE_LEASE);
    world.calls();
    let claim = world.fresh().await;
    assert_eq!(join(claim.attempt(), [100, 100]).await, [1, 2]);
    assert_eq!(world.calls(), ["insert", "replace", "rows"], "one read for both");
}

#[tokio::test]
async fn an_unprotected_attempt_makes_its_calls_and_stores_nothing() {
    let (world, calls) = (World::new(), Mutex::default());
    let attempt = world.engine.unprotected_attempt(&world.request(), &HTTP).unwrap();
    assert_eq!(step(&attempt, "a", &calls, 1).await.unwrap(), 1);
    assert_eq!(*calls.lock().unwrap(), ["a"]);
    assert_eq!(world.calls(), [""; 0]);
}
