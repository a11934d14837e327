//! The attempt and shared state, as handlers take them.

use lambda_idempotency::{Attempt, function::BoxError, idempotent};

use crate::support::{ClaimReceived, Journal, World, batch, claim, message, not_done};

#[idempotent(sqs, operation = "owned", version = 1, scope = none)]
async fn owned(journal: &Journal, attempt: Attempt, _claim: ClaimReceived) -> Result<(), BoxError> {
    tokio::task::yield_now().await;
    journal.note(attempt.key().as_str());
    Ok(())
}

#[idempotent(sqs, operation = "borrowed", version = 1, scope = none)]
async fn borrowed(attempt: &Attempt, _claim: ClaimReceived, journal: &Journal) -> Result<(), BoxError> {
    tokio::task::yield_now().await;
    journal.note(attempt.key().as_str());
    Ok(())
}

#[idempotent(sqs, operation = "shared", version = 1, scope = none)]
async fn shared(
    prefix: &str,
    attempt: &lambda_idempotency::Attempt,
    names: &[String],
    _claim: ClaimReceived,
    #[shared] journal: &Journal,
) -> Result<(), BoxError> {
    journal.note(format!("{prefix}/{}/{}", names.join("+"), attempt.key().as_str()));
    Ok(())
}

#[tokio::test]
async fn each_record_has_its_own_attempt_by_value_or_by_reference() {
    let world = World::new();
    let messages = || batch(["1", "2", "3"].map(|id| message(id, &claim(id))));
    let attempts = || {
        let mut attempts = world.journal.take();
        attempts.sort();
        attempts
    };
    let response = owned(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!((not_done(&response), attempts()), (vec![], ["1", "2", "3"].map(String::from).to_vec()));
    let response = borrowed(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!((not_done(&response), attempts()), (vec![], ["1", "2", "3"].map(String::from).to_vec()));
}

#[tokio::test]
async fn all_records_share_what_is_taken_by_reference() {
    let (world, names) = (World::new(), ["a".to_owned(), "b".to_owned()]);
    let messages = batch(["1", "2"].map(|id| message(id, &claim(id))));
    shared(&world.idempotency, "p", &names, &world.journal, messages).await.unwrap();
    assert_eq!(world.journal.take(), ["p/a+b/1", "p/a+b/2"]);
}
