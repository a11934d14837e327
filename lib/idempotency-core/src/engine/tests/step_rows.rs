//! The rows of steps: lost replies, other attempts' rows, large outputs, and how long they are kept.

use super::*;
use crate::{Attempt, StepError, TableWrite};

async fn text(attempt: &Attempt, name: &str, output: impl Into<String>) -> Result<String, StepError> {
    let output = output.into();
    attempt.step(name, async |_| Ok::<_, StepError>(output)).await
}

/// Text that does not compress well.
fn large(length: usize) -> String {
    noise(length).iter().map(|byte| char::from(b' ' + byte % 94)).collect::<String>().replace(['"', '\\'], "x")
}

#[tokio::test]
async fn outputs_of_any_size_come_back() {
    for (length, parts) in [(20_000, 0), (100_000, 1), (2_000_000, 5)] {
        let world = World::new();
        let output = large(length);
        assert_eq!(text(world.fresh().await.attempt(), "a", output.clone()).await.unwrap(), output);
        let rows = world.engine.store().inner.all_rows();
        match &rows[0].value {
            Some(StoredResult::Parts(stored)) => assert_eq!(stored.count, parts),
            other => assert!(parts == 0, "{other:?}"),
        }
        let puts = if parts == 0 { vec![] } else { vec!["put parts"] };
        assert_eq!(world.calls(), [vec!["insert"], puts, vec!["insert row"]].concat());
        world.advance(PAST_THE_LEASE);
        assert_eq!(text(world.fresh().await.attempt(), "a", "again").await.unwrap(), output);
        let gets = if parts == 0 { vec![] } else { vec!["get parts"] };
        assert_eq!(world.calls(), [vec!["insert", "replace", "rows"], gets].concat());
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_whose_reply_was_lost_is_the_steps_own() {
    for fault in [Fault::DropAfter, Fault::RepeatAfterLostReply, Fault::DropBefore, Fault::Throttle] {
        let world = World::new();
        let claim = world.fresh().await;
        world.script([fault]);
        assert_eq!(text(claim.attempt(), "a", "first").await.unwrap(), "first");
        assert_eq!(world.engine.store().inner.all_rows().len(), 1);
        world.advance(PAST_THE_LEASE);
        assert_eq!(text(world.fresh().await.attempt(), "a", "again").await.unwrap(), "first");
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_cannot_be_stored_is_an_error_and_the_next_attempt_calls_again_with_the_same_key() {
    for faults in [vec![Fault::DropBefore; 100_000], vec![Fault::Refuse]] {
        let world = World::new();
        let claim = world.fresh().await;
        let key = claim.attempt().step_key("a");
        world.script(faults);
        assert!(matches!(text(claim.attempt(), "a", "first").await, Err(StepError::Store(_))));
        world.script([]);
        world.advance(PAST_THE_LEASE);
        let claim = world.fresh().await;
        assert_eq!(claim.attempt().step_key("a"), key);
        assert_eq!(text(claim.attempt(), "a", "second").await.unwrap(), "second");
    }
}

#[tokio::test]
async fn the_row_that_was_stored_first_wins_for_both_attempts() {
    for length in [10, 100_000] {
        let world = World::new();
        let (slow, first) = (world.fresh().await, large(length));
        world.advance(Duration::from_secs(1));
        let newer = async {
            // While the slow attempt's call is on its way, it is taken over.
            world.advance(PAST_THE_LEASE);
            let newer = world.fresh().await;
            assert_eq!(text(newer.attempt(), "a", first.clone()).await.unwrap(), first);
        };
        let slow = slow.attempt().step("a", async |_| {
            newer.await;
            Ok::<_, StepError>("late".to_owned())
        });
        assert_eq!(slow.await.unwrap(), first);
        assert_eq!(world.engine.store().inner.all_rows().len(), 1);
    }
}

#[tokio::test]
async fn another_attempts_row_of_another_type_is_an_error() {
    let world = World::new();
    let slow = world.fresh().await;
    let slow = slow.attempt().step("a", async |_| {
        world.advance(PAST_THE_LEASE);
        let newer = world.fresh().await;
        newer.attempt().step("a", async |_| Ok::<_, StepError>(7_u32)).await?;
        Ok::<_, StepError>("late".to_owned())
    });
    assert!(matches!(slow.await, Err(StepError::Type { stored, .. }) if stored == "u32"));
}

#[tokio::test]
async fn rows_are_kept_a_day_longer_than_their_record_and_longer_when_it_is_taken_over_again_and_again() {
    let world = World::new();
    let output = large(100_000);
    let claim = world.fresh().await;
    text(claim.attempt(), "a", output.clone()).await.unwrap();
    let day = 24 * 3600;
    let row = || world.engine.store().inner.all_rows().remove(0);
    assert_eq!(row().expires_at.get(), claim.record().expires_at.get() + day);
    world.calls();

    // A takeover within a day finds rows that last.
    world.advance(Duration::from_secs(20 * 3600));
    let claim = world.fresh().await;
    text(claim.attempt(), "a", "again").await.unwrap();
    assert_eq!(world.calls(), ["insert", "replace", "rows", "get parts"]);
    for _ in 0..4 {
        world.advance(Duration::from_secs(30 * 3600));
        let claim = world.fresh().await;
        let before = row();
        assert_eq!(text(claim.attempt(), "a", "again").await.unwrap(), output);
        assert!(row().expires_at >= claim.record().expires_at, "a row goes before its record");
        assert_eq!(crate::Row { expires_at: before.expires_at, ..row() }, before);
        // The parts as well: under the same owner, for they are the same.
        assert_eq!(world.calls(), ["insert", "replace", "rows", "get parts", "put parts", "put row"]);
    }
    assert_eq!(world.engine.store().inner.all_rows().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rows_whose_answer_was_lost_are_read_again() {
    for fault in [Fault::DropBefore, Fault::DropAfter, Fault::Throttle] {
        let world = World::new();
        drop(text(world.fresh().await.attempt(), "a", "first").await);
        world.advance(PAST_THE_LEASE);
        let claim = world.fresh().await;
        world.calls();
        world.script([fault]);
        assert_eq!(text(claim.attempt(), "a", "again").await.unwrap(), "first");
        assert_eq!(world.calls(), ["rows", "rows"]);
    }
}

#[tokio::test]
async fn rows_that_cannot_be_read_are_an_error_before_the_call_and_are_read_again_by_the_next_step() {
    let world = World::new();
    drop(text(world.fresh().await.attempt(), "a", "first").await);
    world.advance(PAST_THE_LEASE);
    let claim = world.fresh().await;
    world.script([Fault::Refuse]);
    let a = claim.attempt().step::<String, StepError, _>("a", async |_| panic!("called"));
    assert!(matches!(a.await, Err(StepError::Store(_))));
    world.calls();
    assert_eq!(text(claim.attempt(), "b", "second").await.unwrap(), "second");
    assert_eq!(world.calls(), ["rows", "insert row"]);
}

#[tokio::test]
async fn steps_and_staged_writes_go_together() {
    let world = World::new();
    let claim = world.fresh().await;
    text(claim.attempt(), "a", "first").await.unwrap();
    claim.attempt().stage(TableWrite::put("t", serde_json::json!({ "id": 1 })).unwrap()).unwrap();
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
    assert_eq!(world.calls(), ["insert", "insert row", "commit"]);
}
