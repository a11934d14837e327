//! Memos: one answer for one input, whichever attempt asks.

use super::*;
use crate::{Attempt, StepError};

/// Asks a model that words each answer differently.
async fn ask(attempt: &Attempt, input: &str, asked: &AtomicU64) -> Result<String, StepError> {
    let model = async || Ok::<_, StepError>(format!("answer {}", asked.fetch_add(1, Ordering::SeqCst)));
    attempt.memo("summary", &("model-7", input), model).await
}

#[tokio::test]
async fn later_attempts_get_the_first_answer_and_another_input_is_another_memo() {
    let (world, asked) = (World::new(), AtomicU64::new(0));
    let claim = world.fresh().await;
    assert_eq!(ask(claim.attempt(), "x", &asked).await.unwrap(), "answer 0");
    assert_eq!(world.calls(), ["insert", "insert row"], "no read on the first attempt");
    world.advance(PAST_THE_LEASE);
    let claim = world.fresh().await;
    assert_eq!(ask(claim.attempt(), "x", &asked).await.unwrap(), "answer 0");
    assert_eq!(ask(claim.attempt(), "y", &asked).await.unwrap(), "answer 1");
    assert_eq!(world.calls(), ["insert", "replace", "rows", "insert row"]);
    let other = claim.attempt().memo("title", &("model-7", "x"), async || Ok::<_, StepError>("other".to_owned()));
    assert_eq!(other.await.unwrap(), "other");
}

#[tokio::test]
async fn two_of_one_input_in_one_attempt_get_what_was_stored_first() {
    let (world, asked) = (World::new(), AtomicU64::new(0));
    let claim = world.fresh().await;
    assert_eq!(ask(claim.attempt(), "x", &asked).await.unwrap(), "answer 0");
    assert_eq!(ask(claim.attempt(), "x", &asked).await.unwrap(), "answer 0");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_answer_of_an_attempt_that_was_quicker_counts() {
    let (world, asked) = (World::new(), AtomicU64::new(0));
    let slow = world.fresh().await;
    let answer = slow.attempt().memo("summary", &("model-7", "x"), async || {
        world.advance(PAST_THE_LEASE);
        ask(world.fresh().await.attempt(), "x", &asked).await?;
        Ok::<_, StepError>("late".to_owned())
    });
    assert_eq!(answer.await.unwrap(), "answer 0");
}

#[tokio::test]
async fn another_type_is_an_error_and_an_answer_that_was_not_stored_is_not_given() {
    let (world, asked) = (World::new(), AtomicU64::new(0));
    let claim = world.fresh().await;
    world.script([Fault::Refuse]);
    assert!(matches!(ask(claim.attempt(), "x", &asked).await, Err(StepError::Store(_))));
    assert_eq!(ask(claim.attempt(), "x", &asked).await.unwrap(), "answer 1");
    world.advance(PAST_THE_LEASE);
    let claim = world.fresh().await;
    let other = claim.attempt().memo::<u32, StepError, _>("summary", &("model-7", "x"), async || panic!("called"));
    assert!(matches!(other.await, Err(StepError::Type { .. })));
}

#[tokio::test]
async fn an_input_is_the_same_in_whatever_order_its_members_come() {
    #[derive(serde::Serialize)]
    struct Ab {
        a: u8,
        b: u8,
    }
    #[derive(serde::Serialize)]
    struct Ba {
        b: u8,
        a: u8,
    }
    let (world, asked) = (World::new(), AtomicU64::new(0));
    let model = async || Ok::<_, StepError>(asked.fetch_add(1, Ordering::SeqCst));
    let claim = world.fresh().await;
    assert_eq!(claim.attempt().memo("summary", &Ab { a: 1, b: 2 }, model).await.unwrap(), 0);
    world.advance(PAST_THE_LEASE);
    let claim = world.fresh().await;
    assert_eq!(claim.attempt().memo("summary", &Ba { b: 2, a: 1 }, model).await.unwrap(), 0);
    assert_eq!(claim.attempt().memo("summary", &Ba { b: 1, a: 2 }, model).await.unwrap(), 1);
}
