//! What tests of functions of records share.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use aws_lambda_events::{sqs::SqsEvent, streams::SqsEventResponse};
use idempotency_core::{Clock, Engine, EpochMillis, MemoryStore, Record};
use lambda_http::{Context, LambdaEvent};
use lambda_idempotency::{Idempotency, Namespace};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What handlers did, in its order. Clones write the same one.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    /// What has been noted since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A handle over the memory store, and its clock.
pub(crate) struct World {
    pub(crate) idempotency: Idempotency<MemoryStore>,
    pub(crate) journal: Journal,
    pub(crate) clock: Hands,
}

/// A clock that stands still until it is set.
#[derive(Clone)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Clock for Hands {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

impl Hands {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Hands(Arc::new(AtomicI64::new(1_796_000_000_000)));
        let engine = Engine::new(MemoryStore::default()).with_clock(clock.clone());
        let idempotency = Idempotency::with_engine(engine, Namespace::new("test").unwrap());
        Self { idempotency, journal: Journal::default(), clock }
    }

    /// Sets the clock past every lease.
    pub(crate) fn end_lease(&self) {
        self.clock.advance(Duration::from_secs(3600));
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.idempotency.engine().store().records()
    }
}

/// An event as Lambda delivers it.
pub(crate) fn event<E: DeserializeOwned>(event: Value) -> LambdaEvent<E> {
    LambdaEvent::new(serde_json::from_value(event).unwrap(), Context::default())
}

/// A batch of an SQS queue.
pub(crate) fn batch(messages: impl IntoIterator<Item = Value>) -> LambdaEvent<SqsEvent> {
    event(json!({ "Records": messages.into_iter().collect::<Vec<_>>() }))
}

/// A message of a standard queue.
pub(crate) fn message(id: &str, body: &Value) -> Value {
    text_message(id, &body.to_string())
}

/// A message whose body may be no JSON.
pub(crate) fn text_message(id: &str, body: &str) -> Value {
    json!({ "messageId": id, "body": body, "attributes": {}, "messageAttributes": {}, "eventSource": "aws:sqs" })
}

/// A message with the key that its sender gave it.
pub(crate) fn message_with_key(id: &str, body: &Value, key: &str) -> Value {
    let mut message = message(id, body);
    message["messageAttributes"] = json!({ "Idempotency-Key": { "stringValue": key, "dataType": "String", "stringListValues": [], "binaryListValues": [] } });
    message
}

/// A message of a FIFO queue's group.
pub(crate) fn fifo_message(id: &str, group: &str, body: &Value) -> Value {
    let mut message = message(id, body);
    message["attributes"] = json!({ "MessageGroupId": group, "SequenceNumber": "1", "MessageDeduplicationId": id });
    message["eventSourceARN"] = json!("arn:aws:sqs:eu-central-1:123456789012:claims.fifo");
    message
}

/// The messages that are not done.
pub(crate) fn not_done(response: &SqsEventResponse) -> Vec<&str> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.as_deref().unwrap()).collect()
}

/// An insurance claim.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub(crate) struct ClaimReceived {
    pub(crate) tenant: String,
    pub(crate) id: String,
    pub(crate) cents: u64,
}

pub(crate) fn claim(id: &str) -> Value {
    json!({ "tenant": "tenant-7", "id": id, "cents": 1200 })
}
