//! What a function of records takes.

use aws_lambda_events::sqs::SqsMessage;
use idempotency_core::Status;
use lambda_idempotency::{
    events::{Delivered, Raw},
    function::BoxError,
    idempotent,
};

use crate::support::{ClaimReceived, Journal, World, batch, claim, message, not_done, text_message};

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = tenant(&claim.tenant), key = [claim.id])]
pub(crate) async fn take_in(claim: ClaimReceived, journal: &Journal) -> Result<(), BoxError> {
    journal.note(claim.id);
    Ok(())
}

#[tokio::test]
async fn each_message_is_carried_out_once_however_often_it_comes() {
    let world = World::new();
    let deliver = async || {
        let messages = ["c-1", "c-2", "c-3"].map(|id| message(&format!("m-{id}"), &claim(id)));
        take_in(&world.idempotency, &world.journal, batch(messages)).await.unwrap()
    };
    for expected in [vec!["c-1", "c-2", "c-3"], vec![], vec![]] {
        assert_eq!(not_done(&deliver().await), [""; 0]);
        assert_eq!(world.journal.take(), expected);
    }
    assert_eq!(world.records().len(), 3);
    assert!(world.records().iter().all(|record| record.status == Status::Completed));
}

#[tokio::test]
async fn an_empty_batch_is_done_and_asks_the_store_for_nothing() {
    let world = World::new();
    let response = take_in(&world.idempotency, &world.journal, batch([])).await.unwrap();
    assert_eq!((not_done(&response), world.records().len()), (vec![], 0));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_fails_alone_and_claims_nothing() {
    let world = World::new();
    let messages = [text_message("m-1", "no JSON"), message("m-2", &claim("c-2")), text_message("m-3", "{}")];
    let response = take_in(&world.idempotency, &world.journal, batch(messages)).await.unwrap();
    assert_eq!(not_done(&response), ["m-1", "m-3"]);
    assert_eq!((world.journal.take(), world.records().len()), (vec!["c-2".to_owned()], 1));
}

#[idempotent(sqs, operation = "archive", version = 1, scope = none)]
async fn archive(text: Raw, journal: &Journal) -> Result<usize, BoxError> {
    journal.note(String::from_utf8_lossy(&text.0));
    Ok(text.0.len())
}

#[tokio::test]
async fn a_raw_message_is_what_was_sent() {
    let world = World::new();
    for _ in 0..2 {
        let messages = batch([text_message("m-1", "no JSON"), text_message("m-2", "")]);
        assert_eq!(not_done(&archive(&world.idempotency, &world.journal, messages).await.unwrap()), [""; 0]);
    }
    assert_eq!(world.journal.take(), ["no JSON", ""]);
}

#[idempotent(
    operation = "take-in-delivered", version = 1, sqs,
    scope = tenant(&claim.payload.tenant), key = [message = claim.record.message_id, claim.payload.id]
)]
async fn take_in_delivered(journal: &Journal, mut claim: Delivered<ClaimReceived, SqsMessage>) -> Result<(), BoxError> {
    claim.payload.cents += 1;
    journal.note(format!("{:?} {} {}", claim.record.message_id, claim.payload.id, claim.payload.cents));
    Ok(())
}

#[tokio::test]
async fn a_message_may_come_with_the_record_that_brought_it() {
    let world = World::new();
    for _ in 0..2 {
        let messages = batch([message("m-1", &claim("c-1")), message("m-2", &claim("c-1"))]);
        let response = take_in_delivered(&world.idempotency, &world.journal, messages).await.unwrap();
        assert_eq!(not_done(&response), [""; 0]);
    }
    assert_eq!(world.journal.take(), [r#"Some("m-1") c-1 1201"#, r#"Some("m-2") c-1 1201"#]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_may_be_carried_out_on_another_thread() {
    let world = World::new();
    let (idempotency, journal) = (world.idempotency.clone(), world.journal.clone());
    let messages = batch([message("m-1", &claim("c-1")), message("m-2", &claim("c-2"))]);
    let response = tokio::spawn(async move { take_in(&idempotency, &journal, messages).await }).await.unwrap();
    assert_eq!((not_done(&response.unwrap()), world.journal.take().len()), (vec![], 2));
}
