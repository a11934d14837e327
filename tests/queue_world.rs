//! The stack of one test of `claims-intake`, and what a test does with it.

use std::{collections::BTreeSet, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{QueueOptions, Stack, StackOptions};
use idempotency_core::{Fingerprint, Record};
use idempotency_dynamodb::outbox_entry_from_item;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Gate, RecordedRequest, Rule},
    lambda::Logs,
    sqs::{EventSourceMapping, Message, MessageAttribute, Queue},
};
use serde_json::{Value, json};

use crate::world::PATIENCE;

/// Longer than the function's timeout and than anything takes. Nobody waits for it: time jumps.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(90);

/// `claims-intake` behind its queue.
pub(crate) struct QueueWorld {
    pub(crate) stack: Stack,
}

/// A stored chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) id: String,
    pub(crate) claim_id: String,
    pub(crate) index: usize,
    pub(crate) text: String,
    pub(crate) model: String,
    pub(crate) summary: String,
}

/// A document that `claims-intake` splits into this many chunks: paragraphs that fit, and no two of them together.
pub(crate) fn document(chunks: usize) -> String {
    let paragraph = |number: usize| format!("Paragraph {number}. {}\n\n", "The water came at night. ".repeat(25));
    (1..=chunks).map(paragraph).collect()
}

/// A claim's message.
pub(crate) fn claim(claim_id: &str, document: &str) -> Value {
    json!({ "tenant": "tenant-7", "claim_id": claim_id, "document": document })
}

impl QueueWorld {
    pub(crate) async fn start() -> Self {
        Self::with(QueueOptions::default()).await
    }

    pub(crate) async fn with(queue: QueueOptions) -> Self {
        Self::with_options(Self::options(queue)).await
    }

    /// How its stack is set up.
    pub(crate) fn options(queue: QueueOptions) -> StackOptions {
        StackOptions {
            function: "claims-intake".to_owned(),
            timeout: PATIENCE,
            logs: Logs::Captured,
            queue: QueueOptions { visibility_timeout: VISIBILITY_TIMEOUT, ..queue },
            ..StackOptions::default()
        }
    }

    pub(crate) async fn with_options(options: StackOptions) -> Self {
        Self { stack: Stack::start(options).await.unwrap() }
    }

    pub(crate) async fn stop(self) {
        self.stack.stop().await;
    }

    pub(crate) fn queue(&self) -> &Queue {
        self.stack.queue().unwrap()
    }

    fn mapping(&self) -> &EventSourceMapping {
        self.stack.mapping().unwrap()
    }

    pub(crate) fn dead_letters(&self) -> usize {
        self.stack.dead_letters().unwrap().counts().total()
    }

    pub(crate) fn send(&self, message: &Value) {
        self.queue().send(Message::new(message.to_string())).unwrap();
    }

    /// Sends a message under a key of its sender's.
    pub(crate) fn send_under(&self, key: &str, message: &Value) {
        let message = Message::new(message.to_string()).attribute("Idempotency-Key", MessageAttribute::string(key));
        self.queue().send(message).unwrap();
    }

    /// Waits until this many messages have succeeded in all.
    pub(crate) async fn deleted(&self, messages: u64) {
        eventually(PATIENCE, async || (self.mapping().counts().deleted >= messages).then_some(())).await.unwrap();
    }

    /// Waits until this many deliveries have failed in all.
    pub(crate) async fn returned(&self, messages: u64) {
        eventually(PATIENCE, async || (self.mapping().counts().returned >= messages).then_some(())).await.unwrap();
    }

    /// Lets the messages come again that have failed.
    pub(crate) fn come_again(&self) {
        self.stack.sqs().advance(VISIBILITY_TIMEOUT);
    }

    /// Waits until the queue is empty. What was a conflict comes again as soon as nothing is at work.
    pub(crate) async fn emptied(&self) {
        let mut again = 0;
        let emptied = async || {
            let (counts, failed) = (self.queue().counts(), self.mapping().counts().returned - again);
            if failed > 0 && counts.visible == 0 && counts.in_flight as u64 == failed {
                again += failed;
                self.come_again();
            }
            (counts.total() == 0).then_some(())
        };
        eventually(PATIENCE, emptied).await.unwrap();
    }

    /// Waits until this many messages lie in the dead-letter queue.
    pub(crate) async fn dead(&self, messages: usize) {
        eventually(PATIENCE, async || (self.dead_letters() >= messages).then_some(())).await.unwrap();
    }

    /// The chunks, by claim and place.
    pub(crate) async fn chunks(&self) -> Vec<Chunk> {
        let scan = self.stack.dynamodb().scan().table_name(Stack::CHUNKS_TABLE).consistent_read(true);
        let items = scan.send().await.unwrap().items.unwrap();
        let text = |value: &AttributeValue| value.as_s().unwrap().clone();
        let mut chunks: Vec<_> = items
            .iter()
            .map(|item| Chunk {
                id: text(&item["chunk_id"]),
                claim_id: text(&item["claim_id"]),
                index: item["index"].as_n().unwrap().parse().unwrap(),
                text: text(&item["text"]),
                model: text(&item["model"]),
                summary: text(&item["summary"]),
            })
            .collect();
        chunks.sort_by(|a, b| (&a.claim_id, a.index).cmp(&(&b.claim_id, b.index)));
        chunks
    }

    /// The records, without the markers of notifications.
    pub(crate) async fn records(&self) -> Vec<Record> {
        let marker = Fingerprint::builder().bytes("once", b"claim-received").finish();
        let records = self.stack.records().all().await.unwrap();
        records.into_iter().filter(|record| record.fingerprint != marker).collect()
    }

    /// What stands in the table of claims, as plain JSON.
    pub(crate) async fn claims(&self) -> Vec<Value> {
        let scan = self.stack.dynamodb().scan().table_name(Stack::CLAIMS_TABLE).consistent_read(true);
        let items = scan.send().await.unwrap().items.unwrap();
        items.into_iter().map(|item| serde_dynamo::from_item(item).unwrap()).collect()
    }

    /// The details of all events that are staged and committed.
    pub(crate) async fn events(&self) -> Vec<Value> {
        let beside = self.stack.records().beside().await.unwrap();
        let entries = beside.iter().filter(|item| item["sk"].as_s().unwrap().starts_with("outbox#"));
        entries.map(|item| serde_json::from_str(&outbox_entry_from_item(item).unwrap().body).unwrap()).collect()
    }

    /// Asserts that a claim has this many chunks, one row, one notification and one event, and that wherever its summary stands, it
    /// has the same words.
    pub(crate) async fn assert_taken_in_once(&self, claim_id: &str, chunks: usize) {
        let is_of = |json: &&Value| json["claim_id"] == claim_id;
        let (claims, events, stored) = (self.claims().await, self.events().await, self.chunks().await);
        let stored: Vec<_> = stored.into_iter().filter(|chunk| chunk.claim_id == claim_id).collect();
        let (rows, events) = (claims.iter().filter(is_of), events.iter().filter(is_of));
        let told = self.stack.notifier().ledger().iter().filter(|told| told.body["claim_id"] == claim_id).count();
        let counts = (stored.len(), rows.clone().count(), told, events.clone().count());
        assert_eq!(counts, (chunks, 1, 1, 1), "chunks, rows, notifications and events of {claim_id}");
        let texts = rows.chain(events).map(|json| json["summary"].as_str().unwrap());
        let wordings: BTreeSet<_> = texts.chain(stored.iter().map(|chunk| chunk.summary.as_str())).collect();
        assert_eq!(wordings.len(), 1, "{claim_id}: {wordings:?}");
        assert!(wordings.iter().all(|wording| !wording.is_empty()));
    }

    /// The only record.
    pub(crate) async fn record(&self) -> Record {
        let mut records = self.records().await;
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }

    /// Requests to the table of chunks since the last call.
    pub(crate) fn chunk_requests(&self) -> Vec<RecordedRequest> {
        let requests = self.stack.proxy().requests();
        self.stack.proxy().clear_requests();
        requests.into_iter().filter(|request| request.table.as_deref() == Some(Stack::CHUNKS_TABLE)).collect()
    }

    /// Lets this many writes of chunks through, and holds all that follow.
    pub(crate) fn hold_chunks_after(&self, writes: u64) -> Gate {
        let gate = Gate::new();
        let rule = Rule::on("BatchWriteItem").table(Stack::CHUNKS_TABLE).nth(writes + 1).forever();
        self.stack.proxy().inject(rule.fault(Fault::Hold(gate.clone())));
        gate
    }

    /// Holds the transaction that completes the record.
    pub(crate) fn hold_completion(&self) -> Gate {
        let gate = Gate::new();
        let rule = Rule::on("TransactWriteItems").table(Stack::TABLE).forever();
        self.stack.proxy().inject(rule.fault(Fault::Hold(gate.clone())));
        gate
    }

    /// Kills the sandbox at work, and waits until its message has come back to the queue for later.
    pub(crate) async fn kill(&self) {
        let returned = self.mapping().counts().returned;
        let sandboxes = self.stack.function().sandboxes();
        assert_eq!(sandboxes.len(), 1);
        sandboxes[0].kill();
        sandboxes[0].exited().await;
        self.returned(returned + 1).await;
    }
}
