//! Claims from a queue: 58 chunks stay 58, whatever is delivered twice and wherever an attempt dies.

use std::num::NonZeroU32;

use idempotency_cli::QueueOptions;
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Rule},
    sqs::Message,
};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    policy::Policy,
    queue_world::{QueueWorld, claim, document},
    world::PATIENCE,
};

const CHUNKS: usize = 58;
/// 25 chunks are one request.
const REQUESTS: usize = 3;

#[tokio::test]
async fn a_message_becomes_the_chunks_of_its_document() {
    let world = QueueWorld::start().await;
    let document = document(CHUNKS);
    world.send(&claim("CLM-1", &document));
    world.deleted(1).await;

    let chunks = world.chunks().await;
    assert_eq!(chunks.len(), CHUNKS);
    assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), document);
    assert!(chunks.iter().enumerate().all(|(index, chunk)| chunk.index == index), "places are from 0, without gaps");
    assert!(chunks.iter().all(|chunk| (chunk.claim_id.as_str(), chunk.model.as_str()) == ("CLM-1", "chunks-v1")));
    assert_eq!(world.chunk_requests().len(), REQUESTS);
    assert_eq!(world.record().await.status, Status::Completed);
    assert!(world.queue().is_empty());
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!(world.stack.summariser().calls(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_message_that_is_delivered_again_is_replayed_and_writes_no_chunk() {
    let world = QueueWorld::start().await;
    let twice = world.queue().config().unwrap().duplicate_every(NonZeroU32::MIN);
    world.queue().configure(twice).unwrap();
    let message = claim("CLM-1", &document(CHUNKS));
    world.send(&message);
    world.deleted(1).await;
    assert_eq!(world.chunk_requests().len(), REQUESTS);
    let (chunks, record) = (world.chunks().await, world.record().await);

    // The second copy comes under the same message id, in the same batch or while the first is at work or later; the message that
    // its sender sends again, which is delivered twice as well, under another id.
    world.send(&message);
    world.emptied().await;
    assert_eq!(world.chunk_requests(), []);
    assert_eq!((world.chunks().await, world.record().await), (chunks, record));
    assert_eq!(world.dead_letters(), 0);
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!(world.stack.summariser().calls(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_crash_after_any_number_of_chunk_writes_leaves_58_chunks_in_the_end() {
    for writes in 0..=REQUESTS {
        let world = QueueWorld::start().await;
        let document = document(CHUNKS);
        let gate = match u64::try_from(writes).unwrap() {
            3 => world.hold_completion(),
            writes => world.hold_chunks_after(writes),
        };
        world.send(&claim("CLM-1", &document));
        let held = if writes == REQUESTS { 1 } else { REQUESTS - writes };
        timeout(PATIENCE, gate.reached_by(held)).await.unwrap();
        let written = async || {
            let requests = world.stack.proxy().requests();
            let answered = |request: &&_| is_chunk_write(request) && request.status == Some(200);
            (requests.iter().filter(answered).count() == writes).then_some(())
        };
        eventually(PATIENCE, written).await.unwrap();
        world.kill().await;
        let left = world.chunks().await.len();
        assert!((writes == 0) == (left == 0) && (writes == REQUESTS) == (left == CHUNKS), "{left} after {writes}");
        let abandoned = world.record().await;
        assert_eq!((abandoned.status, abandoned.attempt.get()), (Status::InFlight, 1));

        world.stack.proxy().clear_rules();
        world.stack.records().end_leases().await.unwrap();
        world.come_again();
        world.deleted(1).await;
        // What the dead attempt had sent arrives after all.
        gate.open();
        let record = world.record().await;
        assert_eq!((record.status, record.attempt.get()), (Status::Completed, 2));
        let chunks = world.chunks().await;
        assert_eq!(chunks.len(), CHUNKS, "{writes} writes before the crash");
        assert_eq!(chunks.into_iter().map(|chunk| chunk.text).collect::<String>(), document);
        world.assert_taken_in_once("CLM-1", CHUNKS).await;
        world.stop().await;
    }
}

fn is_chunk_write(request: &idempotency_testkit::fault_proxy::RecordedRequest) -> bool {
    request.operation == "BatchWriteItem"
}

#[tokio::test]
async fn another_document_under_a_claims_id_goes_to_the_dead_letters_and_changes_nothing() {
    let world = QueueWorld::with(QueueOptions { max_receives: 2, ..QueueOptions::default() }).await;
    world.send(&claim("CLM-1", &document(CHUNKS)));
    world.deleted(1).await;
    let (chunks, record) = (world.chunks().await, world.record().await);
    world.chunk_requests();

    world.send(&claim("CLM-1", &document(CHUNKS + 1)));
    for receives in 1..=2 {
        world.returned(receives).await;
        world.come_again();
    }
    world.dead(1).await;
    assert_eq!(world.chunk_requests(), []);
    assert_eq!((world.chunks().await, world.record().await), (chunks, record));
    assert!(world.queue().is_empty());
    world.stop().await;
}

#[tokio::test]
async fn poison_in_a_batch_goes_to_the_dead_letters_and_the_rest_is_done() {
    let world = QueueWorld::with(QueueOptions { max_receives: 2, ..QueueOptions::default() }).await;
    world.queue().send(Message::new("no JSON")).unwrap();
    world.send(&claim("CLM-0", " \n"));
    world.send(&claim("CLM-00", ""));
    world.send(&json!({ "tenant": "tenant-7", "claim_id": "CLM 9", "document": "An id with a blank." }));
    for number in 1..=5 {
        world.send(&claim(&format!("CLM-{number}"), "One paragraph."));
    }
    world.deleted(5).await;
    for receives in 1..=2 {
        world.returned(4 * receives).await;
        world.come_again();
    }
    world.dead(4).await;
    assert_eq!(world.chunks().await.len(), 5);
    assert!(world.queue().is_empty());
    let records = world.records().await;
    let count = |status| records.iter().filter(|record| record.status == status).count();
    // Those with an empty document have failed for good; the other two were never claimed.
    assert_eq!((count(Status::Completed), count(Status::Failed), records.len()), (5, 2, 7));
    let asked = ["BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "TransactWriteItems"];
    Policy::of("ClaimsIntake").assert_allows(&world.stack.proxy().requests(), &asked);
    world.stop().await;
}

#[tokio::test]
async fn while_the_table_of_chunks_is_down_messages_come_again_and_their_keys_are_free() {
    let world = QueueWorld::start().await;
    world.stack.proxy().inject(Rule::on("BatchWriteItem").forever().fault(Fault::Throttle));
    world.send(&claim("CLM-1", &document(CHUNKS)));
    world.returned(1).await;
    assert_eq!(world.chunks().await, []);
    world.stack.proxy().clear_rules();
    // No lease ends in between.
    world.come_again();
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!(world.record().await.status, Status::Completed);
    // The wording of the first attempt, which was released.
    assert_eq!(world.stack.summariser().calls(), 1);
    Policy::of("ClaimsIntake").assert_allows(&world.stack.proxy().requests(), &["Query"]);
    world.stop().await;
}

#[tokio::test]
async fn what_dynamodb_leaves_of_a_batch_is_sent_again_in_the_same_attempt() {
    let message = claim("CLM-1", "One paragraph.");
    let world = QueueWorld::start().await;
    world.send(&message);
    world.deleted(1).await;
    let unprocessed = world.chunk_requests().remove(0).body["RequestItems"].clone();
    world.stop().await;

    let world = QueueWorld::start().await;
    let answer = Fault::Answer { status: 200, body: json!({ "UnprocessedItems": unprocessed }) };
    world.stack.proxy().inject(Rule::on("BatchWriteItem").times(2).fault(answer));
    world.send(&message);
    world.deleted(1).await;
    assert_eq!(world.chunk_requests().len(), 3);
    assert_eq!(world.chunks().await.len(), 1);
    assert_eq!(world.record().await.attempt.get(), 1);
    world.stop().await;
}
