//! What an error says, and what becomes of lost attempts.

use std::time::Duration;

use idempotency_core::Status;
use lambda_idempotency::{
    Attempt, IdempotencyKey, Operation, Probed,
    function::{BoxError, Classify, Error, Failed, Failure},
    idempotent,
};
use serde_json::json;

use crate::support::{Runs, World};

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(pub(crate) &'static str);

impl Classify for Trouble {
    fn classify(&self) -> Failure {
        match self.0 {
            "nothing happened" => Failure::Retryable { retry_after: None },
            "come back later" => Failure::Retryable { retry_after: Some(Duration::from_secs(7)) },
            "never" => Failure::Permanent(Failed::new("no such address").with_data(json!({ "code": 7 }))),
            _ => Failure::Abandoned,
        }
    }
}

#[idempotent(operation = "troubled", version = 1, scope = none, key = [id], on_abandoned = reject)]
pub(crate) async fn troubled(runs: &Runs, id: u32, #[shared] trouble: &'static str) -> Result<u32, Trouble> {
    let _ = id;
    let run = runs.count();
    match trouble {
        "" => Ok(run),
        "panic" => panic!("a panic in the function"),
        trouble => Err(Trouble(trouble)),
    }
}

#[tokio::test]
async fn a_retryable_failure_runs_again_at_once() {
    let (world, runs) = (World::new(), Runs::default());
    for (trouble, after) in [("nothing happened", 1), ("come back later", 7)] {
        let failed = troubled(&world.idempotency, &runs, 1, trouble).await.unwrap_err();
        assert_eq!(failed.retry_after(), Some(Duration::from_secs(after)));
        assert!(
            matches!(failed, Error::Retryable { error, .. } if error == Trouble(trouble)),
            "the function's own error"
        );
    }
    assert_eq!(world.record().status, Status::Released);
    let done = troubled(&world.idempotency, &runs, 1, "").await.unwrap();
    assert_eq!((done.value, done.replayed), (3, false));
}

#[tokio::test]
async fn a_permanent_failure_is_the_same_for_all_callers_and_does_not_run_again() {
    let (world, runs) = (World::new(), Runs::default());
    let expected = Failed::new("no such address").with_data(json!({ "code": 7 }));
    for trouble in ["never", "", "never"] {
        let failed = troubled(&world.idempotency, &runs, 1, trouble).await.unwrap_err();
        assert_eq!((failed.to_string().as_str(), failed.retry_after()), ("no such address", None));
        assert!(matches!(failed, Error::Failed(failed) if failed == expected));
    }
    assert_eq!((runs.so_far(), world.record().status), (1, Status::Failed));
}

#[tokio::test]
async fn an_error_that_says_nothing_and_a_panic_keep_the_key() {
    for trouble in ["who knows", "panic"] {
        let (world, runs) = (World::new(), Runs::default());
        let (handle, counted) = (world.idempotency.clone(), runs.clone());
        let first = tokio::spawn(async move { troubled(&handle, &counted, 1, trouble).await }).await;
        match first {
            Ok(failed) => assert!(matches!(failed, Err(Error::Abandoned(Trouble("who knows"))))),
            Err(panicked) => assert!(panicked.is_panic()),
        }
        let again = troubled(&world.idempotency, &runs, 1, "").await.unwrap_err();
        assert!(matches!(again, Error::Conflict { .. }) && again.retry_after().is_some());
        world.end_lease();
        for _ in 0..2 {
            let uncertain = troubled(&world.idempotency, &runs, 1, "").await.unwrap_err();
            assert!(matches!(uncertain, Error::Uncertain) && uncertain.retry_after().is_none());
        }
        assert_eq!(runs.so_far(), 1);
    }
}

#[idempotent(operation = "rerun", version = 1, scope = none, key = [id])]
async fn rerun(id: u32, #[shared] lost: bool, attempt: Attempt) -> Result<(u32, String), BoxError> {
    let _ = id;
    if lost { Err("lost".into()) } else { Ok((attempt.number().get(), attempt.key().as_str().to_owned())) }
}

#[tokio::test]
async fn after_a_lost_attempt_the_function_runs_again_with_the_same_key() {
    let world = World::new();
    assert_eq!(rerun(&world.idempotency, 1, true).await.unwrap_err().to_string(), "lost");
    world.end_lease();
    let key = IdempotencyKey::derived(&Operation::declare("rerun", 1)).part("id", &1).finish().unwrap();
    assert_eq!(rerun(&world.idempotency, 1, false).await.unwrap().value, (2, key.as_str().to_owned()));
}

#[idempotent(operation = "probed", version = 1, scope = none, key = [id], on_abandoned = probe(|_| async { answer.clone() }))]
async fn probed(runs: &Runs, answer: &Answer, id: u32) -> Result<u32, Trouble> {
    let _ = id;
    match runs.count() {
        1 => Err(Trouble("lost")),
        run => Ok(run),
    }
}

/// What the outside world says.
#[derive(Clone)]
enum Answer {
    Happened,
    DidNotHappen,
    Unknown,
    Error,
}

impl Answer {
    fn clone(&self) -> Result<Probed<u32>, BoxError> {
        match self {
            Self::Happened => Ok(Probed::Happened(7)),
            Self::DidNotHappen => Ok(Probed::DidNotHappen),
            Self::Unknown => Ok(Probed::Unknown),
            Self::Error => Err("no answer".into()),
        }
    }
}

#[tokio::test]
async fn a_probe_decides_what_became_of_a_lost_attempt() {
    for (answer, first, again) in [
        (Answer::Happened, Some((7, false)), Some((7, true))),
        (Answer::DidNotHappen, Some((2, false)), Some((2, true))),
        (Answer::Unknown, None, None),
        (Answer::Error, None, None),
    ] {
        let (world, runs) = (World::new(), Runs::default());
        let call = async || probed(&world.idempotency, &runs, &answer, 1).await;
        assert!(matches!(call().await, Err(Error::Abandoned(_))));
        world.end_lease();
        for expected in [first, again] {
            match (call().await, expected) {
                (Ok(done), Some(expected)) => assert_eq!((done.value, done.replayed), expected),
                (Err(Error::Uncertain), None) => {}
                (other, expected) => panic!("{other:?} {expected:?}"),
            }
        }
    }
}
