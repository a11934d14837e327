//! What becomes of records whose handler fails.

use idempotency_core::Status;
use lambda_idempotency::{
    Attempt, IdempotencyKey, KeyError, Probed,
    function::{BoxError, Classify, Failed, Failure},
    idempotent,
};
use serde_json::json;

use crate::support::{Journal, World, batch, message, not_done};

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Trouble(String);

impl Classify for Trouble {
    fn classify(&self) -> Failure {
        match self.0.as_str() {
            "later" => Failure::Retryable { retry_after: None },
            "never" => Failure::Permanent(Failed::new("no such customer")),
            _ => Failure::Abandoned,
        }
    }
}

#[idempotent(sqs, operation = "troubled", version = 1, scope = none)]
async fn troubled(trouble: String, journal: &Journal) -> Result<(), Trouble> {
    run(trouble, journal)
}

#[idempotent(sqs, operation = "troubled", version = 1, scope = none, on_poison = skip)]
async fn troubled_and_skipped(trouble: String, journal: &Journal) -> Result<(), Trouble> {
    run(trouble, journal)
}

fn run(trouble: String, journal: &Journal) -> Result<(), Trouble> {
    journal.note(trouble.as_str());
    match trouble.as_str() {
        "" => Ok(()),
        "panic" => panic!("a panic in the handler"),
        _ => Err(Trouble(trouble)),
    }
}

#[tokio::test]
async fn each_failure_is_that_of_its_own_record() {
    let world = World::new();
    let troubles = ["", "panic", "", "later", "never", "lost", ""];
    let messages = || troubles.iter().enumerate().map(|(id, trouble)| message(&id.to_string(), &json!(trouble)));
    let response = troubled(&world.idempotency, &world.journal, batch(messages())).await.unwrap();
    assert_eq!(not_done(&response), ["1", "3", "4", "5"]);
    assert_eq!(world.journal.take(), troubles);
    let count = |status| world.records().iter().filter(|record| record.status == status).count();
    assert_eq!([Status::Completed, Status::InFlight, Status::Released, Status::Failed].map(count), [3, 2, 1, 1]);
    // Only what is known not to have happened runs again at once.
    let response = troubled(&world.idempotency, &world.journal, batch(messages())).await.unwrap();
    assert_eq!((not_done(&response), world.journal.take()), (vec!["1", "3", "4", "5"], vec!["later".to_owned()]));
}

#[tokio::test]
async fn poison_is_done_with_only_where_it_is_to_be_skipped() {
    let world = World::new();
    let never = || message("never", &json!("never"));
    let messages = || batch([never(), message("unreadable", &json!(7)), message("lost", &json!("lost"))]);
    let response = troubled(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!(not_done(&response), ["never", "unreadable", "lost"]);
    let response = troubled_and_skipped(&world.idempotency, &world.journal, messages()).await.unwrap();
    assert_eq!(not_done(&response), ["lost"]);
    assert_eq!(world.journal.take(), ["never", "lost"], "nothing ran again");
}

/// What the outside world knows.
struct Register(Probed<u32>);

impl Register {
    async fn find(&self, attempt: &Attempt, journal: &Journal) -> Result<Probed<u32>, BoxError> {
        journal.note(format!("asks for {}", attempt.key().as_str()));
        Ok(self.0)
    }
}

#[idempotent(
    sqs, operation = "probed", version = 1, scope = none,
    on_abandoned = probe(|attempt| async move { register.find(&attempt, journal).await })
)]
async fn probed(trouble: String, register: &Register, journal: &Journal) -> Result<u32, BoxError> {
    let _ = register;
    journal.note(trouble.as_str());
    Err(trouble.into())
}

#[tokio::test]
async fn a_probe_is_asked_about_each_lost_attempt() {
    for (says, then, refused) in [
        (Probed::Happened(7), vec!["asks for 1", "asks for 2"], vec![]),
        (Probed::Unknown, vec!["asks for 1", "asks for 2"], vec!["1", "2"]),
        (Probed::DidNotHappen, vec!["asks for 1", "asks for 2", "lost", "lost"], vec!["1", "2"]),
    ] {
        let (world, register) = (World::new(), Register(says));
        let messages = || batch(["1", "2"].map(|id| message(id, &json!("lost"))));
        let response = probed(&world.idempotency, &register, &world.journal, messages()).await.unwrap();
        assert_eq!((not_done(&response), world.journal.take()), (vec!["1", "2"], vec!["lost".to_owned(); 2]));
        world.end_lease();
        let response = probed(&world.idempotency, &register, &world.journal, messages()).await.unwrap();
        assert_eq!(
            (not_done(&response), world.journal.take()),
            (refused, then.into_iter().map(String::from).collect())
        );
    }
}

#[idempotent(sqs, operation = "rejected", version = 1, scope = none, on_abandoned = reject)]
async fn rejected(trouble: String, journal: &Journal) -> Result<(), Trouble> {
    run(trouble, journal)
}

#[tokio::test]
async fn after_a_lost_attempt_a_record_runs_again_or_never() {
    let world = World::new();
    let messages = || batch([message("1", &json!("lost"))]);
    for expected in ["lost", "lost"] {
        let response = troubled(&world.idempotency, &world.journal, messages()).await.unwrap();
        assert_eq!((not_done(&response), world.journal.take()), (vec!["1"], vec![expected.to_owned()]));
        world.end_lease();
    }
    for expected in [vec!["lost".to_owned()], vec![], vec![]] {
        let response = rejected(&world.idempotency, &world.journal, messages()).await.unwrap();
        assert_eq!((not_done(&response), world.journal.take()), (vec!["1"], expected));
        world.end_lease();
    }
}

fn key_of(word: &str) -> Result<IdempotencyKey, KeyError> {
    assert_ne!(word, "panic", "a panic in the key");
    IdempotencyKey::new(word)
}

#[idempotent(sqs, operation = "touchy", version = 1, scope = none, key = key_of(word))]
async fn touchy(word: String, journal: &Journal) -> Result<(), Trouble> {
    journal.note(word);
    Ok(())
}

#[tokio::test]
async fn a_key_that_panics_takes_down_its_own_record_only() {
    let world = World::new();
    let messages = ["a", "panic", "b"].map(|word| message(word, &json!(word)));
    let response = touchy(&world.idempotency, &world.journal, batch(messages)).await.unwrap();
    assert_eq!((not_done(&response), world.journal.take()), (vec!["panic"], vec!["a".to_owned(), "b".to_owned()]));
}
