//! A real queue in front of a real function: what comes again, when, and what ends in the dead-letter queue.

use std::time::Duration;

use idempotency_testkit::{
    eventually,
    sqs::{EventSourceMapping, MappingConfig, Message, MessageAttribute, Queue, QueueConfig, Sqs},
};
use serde_json::json;

use crate::event_world::{EventWorld, PATIENCE};

/// Far above the function's timeout, as AWS advises.
const VISIBILITY: Duration = Duration::from_secs(6 * 60);

const MAX_RECEIVES: u32 = 5;

struct QueueWorld {
    sqs: Sqs,
    queue: Queue,
    dead_letters: Queue,
    world: EventWorld,
    mapping: EventSourceMapping,
}

impl QueueWorld {
    async fn start(variables: &[(&str, &str)]) -> Self {
        let sqs = Sqs::start().await.unwrap();
        let dead_letters = sqs.create_queue(QueueConfig::new("records-dlq")).unwrap();
        let config = QueueConfig::new("records").visibility_timeout(VISIBILITY);
        let queue = sqs.create_queue(config.dead_letter("records-dlq", MAX_RECEIVES)).unwrap();
        let variables: Vec<_> = variables.iter().copied().chain([("AWS_ENDPOINT_URL_SQS", sqs.url())]).collect();
        let world = EventWorld::start("sqs", &variables).await;
        let mapping = EventSourceMapping::start(&queue, world.function.clone(), MappingConfig::new()).unwrap();
        Self { sqs, queue, dead_letters, world, mapping }
    }

    fn send(&self, key: &str, todo: &str) -> String {
        let message = Message::new(json!({ "do": todo }).to_string());
        self.queue.send(message.attribute("Idempotency-Key", MessageAttribute::string(key))).unwrap().id
    }

    /// How often a message was received.
    fn receives(&self, id: &str) -> u32 {
        let messages = self.queue.messages();
        messages.iter().find(|message| message.id == id).map_or(0, |message| message.receive_count)
    }

    async fn returned(&self, count: u64) {
        eventually(PATIENCE, async || (self.mapping.counts().returned >= count).then_some(())).await.unwrap();
    }

    async fn stop(self) {
        self.mapping.stop().await;
        self.world.stop().await;
        self.sqs.stop().await;
    }
}

#[tokio::test]
async fn a_message_in_conflict_comes_again_when_the_lease_is_over_and_not_before() {
    let world = QueueWorld::start(&[("VISIBILITY", "lease")]).await;
    let lost = world.send("k", "abandoned");
    world.returned(1).await;
    // The lease of the lost attempt runs: the function's timeout of a minute, and 3 s.
    let duplicate = world.send("k", "abandoned");
    world.returned(2).await;
    assert_eq!((world.receives(&lost), world.receives(&duplicate)), (1, 1));
    world.sqs.advance(Duration::from_secs(30));
    world.sqs.advance(PATIENCE + Duration::from_secs(4) - Duration::from_secs(30));
    world.returned(3).await;
    assert_eq!((world.receives(&lost), world.receives(&duplicate)), (1, 2), "long before the queue's own timeout");
    assert_eq!(world.world.run_count().await, 1);
    world.stop().await;
}

#[tokio::test]
async fn without_the_permission_a_message_in_conflict_waits_for_its_queue() {
    let world = QueueWorld::start(&[]).await;
    world.send("k", "abandoned");
    world.returned(1).await;
    let duplicate = world.send("k", "abandoned");
    world.returned(2).await;
    world.sqs.advance(VISIBILITY - Duration::from_secs(60));
    // Another message is delivered meanwhile, so the mapping has looked.
    world.send("l", "permanent");
    world.returned(3).await;
    assert_eq!(world.receives(&duplicate), 1);
    world.stop().await;
}

#[tokio::test]
async fn what_will_never_do_goes_to_the_dead_letter_queue_without_running_again() {
    let world = QueueWorld::start(&[]).await;
    let first = world.send("k", "it");
    eventually(PATIENCE, async || (world.mapping.counts().deleted == 1).then_some(())).await.unwrap();
    let mismatch = world.send("k", "something else");
    let failed = world.send("l", "permanent");
    let poison = world.queue.send(Message::new("no JSON")).unwrap().id;
    for returned in 1..=u64::from(MAX_RECEIVES) {
        world.returned(3 * returned).await;
        world.sqs.advance(VISIBILITY);
    }
    eventually(PATIENCE, async || world.queue.is_empty().then_some(())).await.unwrap();
    let mut dead: Vec<_> = world.dead_letters.messages().into_iter().map(|message| message.id).collect();
    let mut expected = vec![mismatch, failed, poison];
    dead.sort();
    expected.sort();
    assert_eq!(dead, expected);
    assert!(!dead.contains(&first));
    assert_eq!(world.world.run_count().await, 2, "the first, and the one that failed");
    world.stop().await;
}
