//! What each trigger gets for each outcome: a test per trigger and outcome, through the fixture function's binary.

use idempotency_core::Status;
use idempotency_testkit::fault_proxy::{Fault, Rule};
use serde_json::Value;

use crate::{
    event_samples::{Sample, Trigger},
    event_world::EventWorld,
};

/// A world and its trigger.
struct Cell {
    trigger: Trigger,
    world: EventWorld,
}

impl Cell {
    async fn new(trigger: Trigger, variables: &[(&str, &str)]) -> Self {
        Self { trigger, world: EventWorld::start(trigger.name(), variables).await }
    }

    async fn deliver(&self, sample: &Sample) -> Result<Value, String> {
        self.world.deliver(&self.trigger.event(std::slice::from_ref(sample))).await
    }

    fn done(&self) -> Result<Value, String> {
        self.trigger.answer(&[], "")
    }

    fn not_done(&self, sample: &Sample, outcome: &str) -> Result<Value, String> {
        self.trigger.answer(&[sample], outcome)
    }

    /// Asserts that a record is not done, because of this, and that nothing ran.
    async fn assert_refused(&self, sample: &Sample, outcome: &str) {
        let before = self.world.run_count().await;
        assert_eq!(self.deliver(sample).await, self.not_done(sample, outcome), "{}", self.world.log());
        assert_eq!(self.world.run_count().await, before);
        assert!(self.world.log().contains(&format!("{outcome}=1")), "counted by its name\n{}", self.world.log());
    }
}

async fn fresh_and_replay(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "it").key("k-1");
    assert_eq!(cell.deliver(&sample).await, cell.done());
    for _ in 0..2 {
        assert_eq!(cell.deliver(&sample).await, cell.done());
    }
    assert_eq!(cell.world.run_count().await, 1);
    // And another record is another one.
    assert_eq!(cell.deliver(&Sample::new(2, "it").key("k-2")).await, cell.done());
    assert_eq!(cell.world.run_count().await, 2);
    assert!(cell.world.all_records().await.iter().all(|record| record.status == Status::Completed));
    cell.world.stop().await;
}

/// The platform's own id makes the key where nothing else does.
async fn platform_key(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    for number in [1, 2, 1, 2] {
        assert_eq!(cell.deliver(&Sample::new(number, "it")).await, cell.done());
    }
    // Every invocation has a request id of its own.
    let expected = if trigger == Trigger::Invocation { 4 } else { 2 };
    assert_eq!(cell.world.run_count().await, expected);
    cell.world.stop().await;
}

async fn conflict(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "abandoned").key("k");
    // The attempt is lost, and its lease runs.
    assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "abandoned"));
    cell.assert_refused(&sample, "conflict").await;
    // When the lease is over, the record runs again.
    cell.world.records().end_leases().await.unwrap();
    assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "abandoned"));
    assert_eq!(cell.world.run_count().await, 2);
    cell.world.stop().await;
}

async fn mismatch(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let (first, other) = match trigger {
        // An object's version is part of its key, its ETag is what makes it another.
        Trigger::S3 => (Sample::new(1, "it").key("etag-1"), Sample::new(1, "it").key("etag-2")),
        _ => (Sample::new(1, "it").key("k"), Sample::new(2, "something else").key("k")),
    };
    assert_eq!(cell.deliver(&first).await, cell.done());
    cell.assert_refused(&other, "mismatch").await;
    cell.world.stop().await;
}

async fn invalid_key(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    match trigger {
        Trigger::S3 => cell.assert_refused(&Sample::new(1, "it").garbage(), "key-invalid").await,
        _ => cell.assert_refused(&Sample::new(1, "it").key(" "), "key-invalid").await,
    }
    assert_eq!(cell.world.store_operations(), [""; 0]);
    cell.world.stop().await;
}

async fn undecodable(trigger: Trigger) {
    // S3's record is its own payload.
    if trigger == Trigger::S3 {
        return;
    }
    let cell = Cell::new(trigger, &[]).await;
    cell.assert_refused(&Sample::new(1, "it").garbage(), "undecodable").await;
    assert_eq!(cell.world.store_operations(), [""; 0]);
    cell.world.stop().await;
}

async fn uncertain(trigger: Trigger) {
    let cell = Cell::new(trigger, &[("ON_ABANDONED", "reject")]).await;
    let sample = Sample::new(1, "abandoned").key("k");
    assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "abandoned"));
    cell.world.records().end_leases().await.unwrap();
    for _ in 0..2 {
        cell.assert_refused(&sample, "uncertain").await;
    }
    cell.world.stop().await;
}

async fn permanent_failure(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "permanent").key("k");
    assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "failed"));
    for _ in 0..2 {
        cell.assert_refused(&sample, "failed").await;
    }
    cell.world.stop().await;
}

async fn retryable_failure(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "retryable").key("k");
    for runs in 1..=3 {
        assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "retryable"));
        assert_eq!(cell.world.run_count().await, runs, "the next delivery runs at once");
    }
    cell.world.stop().await;
}

async fn panicking_handler(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "panic").key("k");
    assert_eq!(cell.deliver(&sample).await, cell.not_done(&sample, "abandoned"));
    cell.assert_refused(&sample, "conflict").await;
    cell.world.stop().await;
}

async fn store_down(trigger: Trigger) {
    let cell = Cell::new(trigger, &[]).await;
    let sample = Sample::new(1, "it").key("k");
    cell.world.proxy.inject(Rule::any().forever().fault(Fault::ErrorBefore));
    cell.assert_refused(&sample, "not-protected").await;
    cell.world.proxy.clear_rules();
    assert_eq!(cell.deliver(&sample).await, cell.done());
    assert_eq!(cell.world.run_count().await, 1);
    cell.world.stop().await;
}

async fn skipped_poison(trigger: Trigger) {
    let cell = Cell::new(trigger, &[("ON_POISON", "skip")]).await;
    let sample = Sample::new(1, "permanent").key("k");
    for _ in 0..2 {
        assert_eq!(cell.deliver(&sample).await, cell.done());
    }
    assert_eq!(cell.world.run_count().await, 1);
    assert!(cell.world.log().contains("failed=1"), "{}", cell.world.log());
    // What another delivery may change is never skipped.
    let lost = Sample::new(2, "abandoned").key("l");
    assert_eq!(cell.deliver(&lost).await, cell.not_done(&lost, "abandoned"));
    cell.assert_refused(&lost, "conflict").await;
    cell.world.stop().await;
}

macro_rules! every_trigger {
    ($($name:ident: $trigger:ident),* $(,)?) => {$(
        mod $name {
            use crate::event_samples::Trigger;
            every_trigger!(@tests $trigger: fresh_and_replay platform_key conflict mismatch invalid_key undecodable uncertain
                permanent_failure retryable_failure panicking_handler store_down skipped_poison);
        }
    )*};
    (@tests $trigger:ident: $($outcome:ident)*) => {$(
        #[tokio::test]
        async fn $outcome() {
            super::$outcome(Trigger::$trigger).await;
        }
    )*};
}

every_trigger! {
    sqs: Sqs,
    fifo: Fifo,
    kinesis: Kinesis,
    dynamodb: DynamoDb,
    kafka: Kafka,
    kafka_reporting: KafkaReporting,
    eventbridge: EventBridge,
    sns: Sns,
    s3: S3,
    scheduler: Scheduler,
    invocation: Invocation,
}
