//! What claims have beside their chunks: the summary, the notification, the row and the event, through refusals, outages, and senders
//! that give one claim two keys.

use idempotency_cli::QueueOptions;
use idempotency_core::Status;
use idempotency_testkit::{
    fault_proxy::{Fault, Gate, Rule},
    keyed_service,
};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    queue_world::{QueueWorld, claim, document},
    world::PATIENCE,
};

const CHUNKS: usize = 3;

impl QueueWorld {
    fn notifier(&self, behaviour: keyed_service::Behaviour) {
        self.stack.notifier().set_behaviour(behaviour);
    }
}

#[tokio::test]
async fn a_claim_under_two_keys_is_told_once() {
    let world = QueueWorld::start().await;
    let message = claim("CLM-1", &document(CHUNKS));
    for (number, key) in ["a", "b"].into_iter().enumerate() {
        world.send_under(key, &message);
        world.deleted(number as u64 + 1).await;
    }
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!((world.records().await.len(), world.stack.summariser().calls()), (2, 1));
    world.stop().await;
}

#[tokio::test]
async fn a_claim_under_two_keys_at_the_same_time_is_told_once() {
    for notify_first in [false, true] {
        let world = QueueWorld::start().await;
        // Both are in one batch, and none knows of the other.
        let gate = Gate::new();
        let rule = Rule::on("GetItem").table("claims").times(2).fault(Fault::HoldAfter(gate.clone()));
        world.stack.proxy().inject(rule);
        let message = claim("CLM-1", &document(CHUNKS));
        world.send_under("a", &message);
        world.send_under("b", &message);
        timeout(PATIENCE, gate.reached_by(2)).await.unwrap();
        if notify_first {
            // The first one's notification is turned away, so the second one's is sent.
            world.notifier(keyed_service::Behaviour { turn_away: 1, ..Default::default() });
        }
        gate.open();
        world.emptied().await;
        world.assert_taken_in_once("CLM-1", CHUNKS).await;
        assert_eq!(world.records().await.len(), 2);
        assert_eq!(world.dead_letters(), 0);
        world.stop().await;
    }
}

#[tokio::test]
async fn a_lost_attempt_takes_over_the_words_of_another_key() {
    let world = QueueWorld::start().await;
    let message = claim("CLM-1", &document(CHUNKS));
    let gate = world.hold_completion();
    world.send_under("a", &message);
    timeout(PATIENCE, gate.reached()).await.unwrap();
    world.kill().await;
    world.stack.proxy().clear_rules();
    let before = world.chunks().await[0].summary.clone();
    world.send_under("b", &message);
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_ne!(world.chunks().await[0].summary, before, "the second one's, which has committed");
    world.stack.records().end_leases().await.unwrap();
    world.come_again();
    world.deleted(2).await;
    // The dead attempt's transaction, with the words that nobody has any more.
    gate.open();
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert!(world.records().await.iter().all(|record| record.status == Status::Completed));
    world.stop().await;
}

#[tokio::test]
async fn another_document_under_another_key_goes_to_the_dead_letters_and_changes_nothing() {
    let world = QueueWorld::with(QueueOptions { max_receives: 1, ..QueueOptions::default() }).await;
    world.send_under("a", &claim("CLM-1", &document(CHUNKS)));
    world.deleted(1).await;
    let chunks = world.chunks().await;
    world.send_under("b", &claim("CLM-1", &document(CHUNKS + 1)));
    world.returned(1).await;
    world.come_again();
    world.dead(1).await;
    assert_eq!(world.chunks().await, chunks);
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    world.stop().await;
}

#[tokio::test]
async fn of_two_documents_under_two_keys_at_the_same_time_the_refused_one_leaves_no_chunk() {
    let world = QueueWorld::with(QueueOptions { max_receives: 2, ..QueueOptions::default() }).await;
    // Both are in one batch, and none knows of the other.
    let gate = Gate::new();
    let rule = Rule::on("GetItem").table("claims").times(2).fault(Fault::HoldAfter(gate.clone()));
    world.stack.proxy().inject(rule);
    let documents = [CHUNKS, CHUNKS + 1].map(document);
    for (key, document) in ["a", "b"].into_iter().zip(&documents) {
        world.send_under(key, &claim("CLM-1", document));
    }
    timeout(PATIENCE, gate.reached_by(2)).await.unwrap();
    gate.open();
    world.deleted(1).await;
    world.returned(1).await;
    world.come_again();
    world.returned(2).await;
    world.come_again();
    world.dead(1).await;
    let (claims, chunks) = (world.claims().await, world.chunks().await);
    assert_eq!((claims.len(), &claims[0]["chunks"]), (1, &json!(chunks.len())));
    let text: String = chunks.into_iter().map(|chunk| chunk.text).collect();
    assert!(documents.contains(&text), "all chunks of one document, and no other: {} characters", text.len());
    world.stop().await;
}

#[tokio::test]
async fn tenants_with_the_same_claim_id_are_each_told() {
    let world = QueueWorld::start().await;
    for tenant in ["tenant-7", "tenant-8"] {
        world.send(&json!({ "tenant": tenant, "claim_id": "CLM-1", "document": "One paragraph." }));
    }
    world.deleted(2).await;
    let told = world.stack.notifier().ledger();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_ne!(told[0].key, told[1].key);
    assert_eq!((world.claims().await.len(), world.events().await.len(), world.chunks().await.len()), (2, 2, 2));
    world.stop().await;
}

#[tokio::test]
async fn without_protection_a_claim_has_all_its_effects() {
    for mode in ["off", "shadow"] {
        let options = QueueWorld::options(QueueOptions::default()).env("IDEMPOTENCY_MODE", mode);
        let world = QueueWorld::with_options(options).await;
        world.send(&claim("CLM-1", &document(CHUNKS)));
        world.deleted(1).await;
        world.assert_taken_in_once("CLM-1", CHUNKS).await;
        world.stop().await;
    }
}

#[tokio::test]
async fn what_the_notifier_turns_away_is_told_by_the_next_attempt_at_once() {
    let world = QueueWorld::start().await;
    world.notifier(keyed_service::Behaviour { turn_away: 1, ..Default::default() });
    world.send(&claim("CLM-1", &document(CHUNKS)));
    world.returned(1).await;
    assert_eq!((world.claims().await.len(), world.events().await.len()), (0, 0));
    // No lease ends in between.
    world.come_again();
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!(world.stack.summariser().calls(), 1);
    world.stop().await;
}

#[tokio::test]
async fn what_the_notifier_may_have_sent_is_told_again_under_the_same_key_when_the_lease_is_over() {
    let world = QueueWorld::start().await;
    world.notifier(keyed_service::Behaviour { fail_after: 1, ..Default::default() });
    world.send(&claim("CLM-1", &document(CHUNKS)));
    world.returned(1).await;
    assert_eq!(world.record().await.status, Status::InFlight, "abandoned");
    world.stack.records().end_leases().await.unwrap();
    world.come_again();
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    assert_eq!(world.stack.notifier_proxy().requests().len(), 2);
    world.stop().await;
}

#[tokio::test]
async fn what_is_refused_for_good_is_not_tried_again() {
    for notifier in [true, false] {
        let world = QueueWorld::with(QueueOptions { max_receives: 2, ..QueueOptions::default() }).await;
        if notifier {
            world.notifier(keyed_service::Behaviour { refuse: 1, ..Default::default() });
        } else {
            let refusal = Fault::Answer { status: 422, body: json!({}) };
            world.stack.summariser_proxy().inject(Rule::any().fault(refusal));
        }
        world.send(&claim("CLM-1", &document(CHUNKS)));
        for receives in 1..=2 {
            world.returned(receives).await;
            world.come_again();
        }
        world.dead(1).await;
        assert_eq!(world.record().await.status, Status::Failed);
        assert_eq!(world.stack.summariser_proxy().requests().len(), 1);
        assert_eq!((world.claims().await.len(), world.events().await.len()), (0, 0));
        assert_eq!(world.stack.notifier().ledger(), []);
        world.stop().await;
    }
}

#[tokio::test]
async fn while_the_summariser_gives_nothing_usable_messages_come_again_and_nothing_is_stored() {
    let answers = [
        Fault::Answer { status: 503, body: json!({}) },
        Fault::Answer { status: 500, body: json!({}) },
        Fault::Answer { status: 401, body: json!({}) },
        Fault::Answer { status: 200, body: json!({ "summary": " " }) },
        Fault::Answer { status: 200, body: json!({ "summary": "x".repeat(2001) }) },
        Fault::Answer { status: 200, body: json!({ "text": "…" }) },
        Fault::DropAfter,
    ];
    let world = QueueWorld::with(QueueOptions { max_receives: 100, ..QueueOptions::default() }).await;
    for (answer, returned) in answers.into_iter().zip(1..) {
        world.stack.summariser_proxy().inject(Rule::any().fault(answer));
        match returned {
            1 => world.send(&claim("CLM-1", &document(CHUNKS))),
            _ => world.come_again(),
        }
        world.returned(returned).await;
        assert_eq!(world.record().await.status, Status::Released);
    }
    assert_eq!((world.chunks().await, world.stack.notifier().ledger()), (vec![], vec![]));
    world.come_again();
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-1", CHUNKS).await;
    world.stop().await;
}
