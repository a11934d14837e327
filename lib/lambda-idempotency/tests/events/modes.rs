//! Records where protection is measured only, or switched off.

use std::convert::Infallible;

use idempotency_core::Status;
use lambda_idempotency::{Mode, idempotent};
use serde_json::json;

use crate::support::{Journal, World, batch, message, not_done};

#[idempotent(sqs, operation = "noted", version = 1, scope = none)]
async fn noted(word: String, journal: &Journal) -> Result<(), Infallible> {
    journal.note(word);
    Ok(())
}

#[tokio::test]
async fn in_shadow_mode_duplicates_run_and_are_recorded_once() {
    let world = World::new();
    let idempotency = world.idempotency.clone().with_mode(Mode::Shadow);
    let messages = || batch(["a", "b"].map(|word| message(word, &json!(word))));
    for _ in 0..2 {
        let response = noted(&idempotency, &world.journal, messages()).await.unwrap();
        assert_eq!((not_done(&response).len(), world.journal.take().len()), (0, 2));
    }
    assert_eq!(world.records().iter().filter(|record| record.status == Status::Completed).count(), 2);
    // And what is recorded holds back duplicates once it is switched on.
    noted(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!(world.journal.take().len(), 0);
}

#[tokio::test]
async fn switched_off_everything_runs_and_nothing_is_stored() {
    let world = World::new();
    let idempotency = world.idempotency.clone().with_mode(Mode::Off);
    for _ in 0..2 {
        let messages = batch(["a", "b"].map(|word| message(word, &json!(word))));
        let response = noted(&idempotency, &world.journal, messages).await.unwrap();
        assert_eq!((not_done(&response).len(), world.journal.take().len()), (0, 2));
    }
    assert!(world.records().is_empty());
    // What cannot be read fails all the same.
    let response = noted(&idempotency, &world.journal, batch([message("c", &json!(7))])).await.unwrap();
    assert_eq!(not_done(&response), ["c"]);
}
