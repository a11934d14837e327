//! What is staged in the table reaches the bus and the queues: in order, under one id however often it is sent, and not at all too
//! early or never. The relay is the deployed binary on the table's stream; between it and what it sends to stand fault proxies.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{Relay, RelayOptions, Stack, StackOptions};
use idempotency_core::{EpochMillis, EpochSeconds, Event, ExecutionId, IdempotencyKey, OutboxEntry, RecordKey};
use idempotency_dynamodb::item_from_outbox_entry;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, FaultProxy, Gate, ProxiedRequest, RecordedRequest, Rule},
    lambda::Logs,
    sqs::{Queue, QueuedMessage},
    streams::{StreamConfig, StreamCounts},
};
use serde_json::{Value, json};

use crate::{policy::Policy, template::arn};

const PATIENCE: Duration = Duration::from_secs(60);
const CREATED_AT: EpochMillis = EpochMillis::new(1_790_856_000_000);

struct OutboxWorld {
    stack: Stack,
    /// In front of the bus, the queues and the table.
    bus: FaultProxy,
    sqs: FaultProxy,
    table: FaultProxy,
}

impl OutboxWorld {
    async fn start() -> Self {
        let options = StackOptions { logs: Logs::Captured, ..StackOptions::default() };
        let stack = Stack::start(options).await.unwrap();
        let bus = FaultProxy::start(stack.bus().url()).await.unwrap();
        let sqs = FaultProxy::start(stack.sqs().url()).await.unwrap();
        let table = FaultProxy::start(stack.dynamodb_url()).await.unwrap();
        Self { stack, bus, sqs, table }
    }

    async fn relay(&self) -> Relay {
        self.relay_with(StreamConfig::maximum_retry_attempts, 10).await
    }

    async fn relay_with<T>(&self, set: impl FnOnce(StreamConfig, T) -> StreamConfig, value: T) -> Relay {
        let options = RelayOptions::default();
        let stream = set(options.stream, value).retry_wait(Duration::from_millis(10));
        let options = RelayOptions {
            queues: vec!["receipts".to_owned(), "ledger.fifo".to_owned()],
            stream,
            timeout: PATIENCE,
            logs: Logs::Captured,
            ..options
        };
        let options = options
            .env("AWS_ENDPOINT_URL_DYNAMODB", self.table.endpoint_url())
            .env("AWS_ENDPOINT_URL_SQS", self.sqs.endpoint_url())
            .env("AWS_ENDPOINT_URL_EVENTBRIDGE", self.bus.endpoint_url());
        self.stack.relay(options).await.unwrap()
    }

    /// Writes entries as the store does, one after the other.
    async fn stage(&self, entries: &[OutboxEntry]) {
        for entry in entries {
            self.put(item_from_outbox_entry(entry)).await;
        }
    }

    async fn put(&self, item: std::collections::HashMap<String, AttributeValue>) {
        self.stack.dynamodb().put_item().table_name(Stack::TABLE).set_item(Some(item)).send().await.unwrap();
    }

    /// Which of the entries in the table are marked as sent, in the order of their keys.
    async fn marked(&self) -> Vec<bool> {
        let scan = self.stack.dynamodb().scan().table_name(Stack::TABLE).send().await.unwrap();
        let mut items = scan.items.unwrap();
        items.sort_by_key(|item| (item["pk"].as_s().unwrap().clone(), item["sk"].as_s().unwrap().clone()));
        items.iter().map(|item| item.contains_key("sent_at")).collect()
    }

    fn queue(&self, name: &str) -> Queue {
        self.stack.sqs().queue(name).unwrap()
    }

    /// Everything that the relay has asked for.
    fn requests(&self) -> Vec<RecordedRequest> {
        [&self.table, &self.bus, &self.sqs].into_iter().flat_map(FaultProxy::requests).collect()
    }

    /// What the relay may ask for in a stack with these queues.
    fn policy(&self) -> Policy {
        let queues = ["receipts", "ledger.fifo"].map(|queue| arn("sqs", queue));
        Policy::with("OutboxRelay", &[("OutboxQueueArns", json!(queues))])
    }

    async fn stop(self, relay: Relay) {
        relay.stop().await;
        self.stack.stop().await;
        self.bus.stop().await;
        self.sqs.stop().await;
        self.table.stop().await;
    }
}

/// Entry `ordinal` of the record with this letter.
fn entry(record: &str, ordinal: u32, event: Event) -> OutboxEntry {
    let pk = RecordKey::from_stored(format!("{}#create-charge#v1#{record}", Stack::NAMESPACE));
    OutboxEntry::new(
        &pk,
        ExecutionId::from_bytes([7; 16]),
        ordinal,
        event,
        CREATED_AT,
        EpochSeconds::new(1_893_456_000),
    )
}

fn to_bus(record: &str, ordinal: u32) -> OutboxEntry {
    let detail = json!({ "is": format!("{record}{ordinal}") });
    entry(record, ordinal, Event::eventbridge("com.example.payments", "Charged", &detail).unwrap())
}

fn to_queue(queue: &str, record: &str, ordinal: u32) -> OutboxEntry {
    entry(record, ordinal, Event::queue(queue, &json!({ "is": format!("{record}{ordinal}") })).unwrap())
}

/// Which events these are, in the order in which they came.
fn are(messages: &[QueuedMessage]) -> Vec<String> {
    let is = |message: &QueuedMessage| {
        let body: Value = serde_json::from_str(&message.body).unwrap();
        let is = body["detail"]["is"].as_str().or(body["is"].as_str());
        is.unwrap().to_owned()
    };
    messages.iter().map(is).collect()
}

async fn until(relay: &Relay, what: impl Fn(&StreamCounts) -> bool) -> StreamCounts {
    let counts = async || Some(relay.mapping().counts()).filter(|counts| what(counts));
    eventually(PATIENCE, counts).await.unwrap_or_else(|_| panic!("{:?}", relay.function().logs()))
}

fn sends(proxy: &FaultProxy) -> Vec<RecordedRequest> {
    proxy
        .requests()
        .into_iter()
        .filter(|request| ["PutEvents", "SendMessageBatch"].contains(&&*request.operation))
        .collect()
}

/// The ids of the events of a request to the bus.
fn event_ids(request: &RecordedRequest) -> Vec<String> {
    let entries = request.body["Entries"].as_array().unwrap();
    let detail = |entry: &Value| serde_json::from_str::<Value>(entry["Detail"].as_str().unwrap()).unwrap();
    entries.iter().map(|entry| detail(entry)["outboxEventId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_staged_reaches_the_bus_and_the_queues_with_its_id_and_its_key() {
    let world = OutboxWorld::start().await;
    let key = IdempotencyKey::new("order-42").unwrap();
    let charged = to_bus("a", 0);
    let receipt = entry("b", 0, Event::queue("receipts", &json!({ "is": "b0" })).unwrap().with_key(&key));
    let booked = to_queue("ledger", "c", 0);
    world.stage(&[charged.clone(), receipt.clone(), booked.clone()]).await;
    let relay = world.relay().await;
    until(&relay, |counts| counts.done == 3).await;

    let events = relay.bus_events().messages();
    assert_eq!(events.len(), 1);
    let event: Value = serde_json::from_str(&events[0].body).unwrap();
    let detail = json!({ "is": "a0", "idempotencyKey": charged.id.as_str(), "outboxEventId": charged.id.as_str() });
    assert_eq!((&event["detail"], &event["source"]), (&detail, &json!("com.example.payments")));
    assert_eq!((&event["detail-type"], &event["time"]), (&json!("Charged"), &json!("2026-10-01T12:00:00Z")));

    let messages = world.queue("receipts").messages();
    assert_eq!((messages.len(), messages[0].body.as_str()), (1, r#"{"is":"b0"}"#));
    assert_eq!(messages[0].attributes["Idempotency-Key"], "order-42".into());
    assert_eq!(messages[0].attributes["Outbox-Event-Id"], receipt.id.as_str().into());

    let messages = world.queue("ledger.fifo").messages();
    assert_eq!(messages[0].group.as_deref(), Some(booked.record_key.as_str()));
    assert_eq!(messages[0].deduplication_id.as_deref(), Some(booked.id.as_str()));
    assert_eq!(messages[0].attributes["Idempotency-Key"], booked.id.as_str().into());

    assert_eq!(world.marked().await, [true; 3]);
    assert!(relay.dead_letters().is_empty());
    let asked = world.requests();
    world.policy().assert_allows(&asked, &["PutEvents", "SendMessageBatch", "UpdateItem"]);
    world.stop(relay).await;
}

#[tokio::test]
async fn what_the_stream_shows_in_another_order_is_sent_as_it_was_staged() {
    // In one batch, and in one batch each.
    for batch in [10, 1] {
        let world = OutboxWorld::start().await;
        world.stage(&[2, 0, 1].map(|ordinal| to_queue("ledger", "a", ordinal))).await;
        let relay = world.relay_with(StreamConfig::batch_size, batch).await;
        until(&relay, |counts| counts.done == 3).await;
        assert_eq!(are(&world.queue("ledger.fifo").messages()), ["a0", "a1", "a2"], "{batch}");
        assert_eq!(world.marked().await, [true; 3]);
        let reads = world.table.requests().into_iter().filter(|request| request.operation == "Query").count();
        assert_eq!(reads, if batch == 1 { 1 } else { 0 }, "the table is read only where something is missing");
        let asked: &[&str] = if batch == 1 { &["Query", "UpdateItem"] } else { &["UpdateItem"] };
        world.policy().assert_allows(&world.table.requests(), asked);
        world.stop(relay).await;
    }
}

#[tokio::test]
async fn the_relay_asks_for_exactly_what_its_policy_allows() {
    let world = OutboxWorld::start().await;
    world.stage(&[2, 1, 0].map(|ordinal| to_queue("ledger", "a", ordinal))).await;
    world.stage(&[to_bus("b", 0), to_queue("receipts", "c", 0)]).await;
    // Each way to fail, once: what is not taken comes again, and a mark that fails is passed over.
    world.table.inject(Rule::on("Query").fault(Fault::DropAfter));
    world.table.inject(Rule::on("UpdateItem").fault(Fault::DropAfter));
    world.bus.inject(Rule::on("PutEvents").fault(Fault::DropAfter));
    world.sqs.inject(Rule::on("SendMessageBatch").fault(Fault::DropAfter));
    let relay = world.relay_with(StreamConfig::batch_size, 1).await;
    until(&relay, |counts| counts.done == 5).await;
    world.policy().assert_is_exactly(&world.requests());
    world.stop(relay).await;
}

#[tokio::test]
async fn what_comes_behind_something_that_cannot_be_read_now_comes_again() {
    let world = OutboxWorld::start().await;
    world.stage(&[1, 0].map(|ordinal| to_queue("ledger", "a", ordinal))).await;
    world.table.inject(Rule::on("Query").times(8).fault(Fault::ErrorBefore));
    let relay = world.relay_with(StreamConfig::batch_size, 1).await;
    until(&relay, |counts| counts.done == 2).await;
    assert_eq!(are(&world.queue("ledger.fifo").messages()), ["a0", "a1"]);
    world.stop(relay).await;
}

#[tokio::test]
async fn events_of_a_record_are_sent_in_order_and_those_of_others_with_them() {
    let world = OutboxWorld::start().await;
    let staged: Vec<_> =
        (0..4).flat_map(|ordinal| ["a", "b", "c"].map(|record| to_queue("ledger", record, ordinal))).collect();
    world.stage(&staged).await;
    let relay = world.relay().await;
    until(&relay, |counts| counts.done == 12).await;

    let came = are(&world.queue("ledger.fifo").messages());
    for record in ["a", "b", "c"] {
        let of_record: Vec<_> = came.iter().filter(|is| is.starts_with(record)).cloned().collect();
        assert_eq!(of_record, [0, 1, 2, 3].map(|ordinal| format!("{record}{ordinal}")));
    }
    // One message of each record in each request.
    assert_eq!(sends(&world.sqs).len(), 4);
    assert_eq!(world.marked().await, [true; 12]);
    world.stop(relay).await;
}

#[tokio::test]
async fn records_of_the_protocol_and_marks_are_passed_over_and_other_namespaces_left_alone() {
    let world = OutboxWorld::start().await;
    let mut foreign = to_bus("a", 0);
    foreign.record_key = RecordKey::from_stored("prod#create-charge#v1#a");
    let mut claim = item_from_outbox_entry(&to_bus("b", 0));
    claim.insert("sk".into(), AttributeValue::S("claim".into()));
    world.stage(&[foreign, to_bus("c", 0)]).await;
    world.put(claim).await;
    // Without the filter the function itself must tell.
    let relay = world
        .relay_with(
            |mut stream, filters| {
                stream.filters = filters;
                stream
            },
            Vec::new(),
        )
        .await;
    // The insertions and the mark.
    until(&relay, |counts| counts.done == 4).await;
    assert_eq!(are(&relay.bus_events().messages()), ["c0"]);
    assert_eq!(world.marked().await.iter().filter(|is_marked| **is_marked).count(), 1);
    world.stop(relay).await;
}

#[tokio::test]
async fn an_event_that_is_not_taken_comes_again_from_its_sequence_number_and_nothing_overtakes_it() {
    for lost in [false, true] {
        let world = OutboxWorld::start().await;
        // The first of "b" is not taken: refused as one of a request, or without an answer.
        let is_b0 = |request: &ProxiedRequest| request.body.to_string().contains("b0");
        let fault = match lost {
            true => Fault::ErrorBefore,
            false => Fault::Answer {
                status: 200,
                body: json!({ "FailedEntryCount": 1, "Entries": [
                    { "ErrorCode": "ThrottlingException", "ErrorMessage": "slow down" }, { "EventId": "1" },
                ] }),
            },
        };
        // The SDK itself tries three times when there is no answer.
        world.bus.inject(Rule::on("PutEvents").when(is_b0).times(if lost { 3 } else { 1 }).fault(fault));
        world.stage(&[to_bus("b", 0), to_bus("a", 0), to_bus("b", 1)]).await;
        let relay = world.relay().await;
        let counts = until(&relay, |counts| counts.done == 3).await;

        assert_eq!((counts.failed, counts.given_up), (1, 0), "{lost}");
        let came: Vec<_> = are(&relay.bus_events().messages()).into_iter().filter(|is| is.starts_with('b')).collect();
        assert_eq!(came, ["b0", "b1"], "{lost}");
        // What was taken behind it comes again too, and is not sent again by the process that knows it.
        let first = world.bus.requests()[0].clone();
        let again = sends(&world.bus).into_iter().filter(|request| request.status.is_some()).skip(1);
        let sent: Vec<_> = again.flat_map(|request| event_ids(&request)).collect();
        if !lost {
            assert_eq!(event_ids(&first), [to_bus("b", 0).id.as_str(), to_bus("a", 0).id.as_str()]);
            assert_eq!(sent, [to_bus("b", 0).id.as_str(), to_bus("b", 1).id.as_str()]);
        }
        assert_eq!(world.marked().await, [true; 3]);
        world.stop(relay).await;
    }
}

#[tokio::test]
async fn a_relay_that_dies_between_sending_and_marking_sends_again_under_the_same_id() {
    let world = OutboxWorld::start().await;
    let gate = Gate::new();
    world.table.inject(Rule::on("UpdateItem").fault(Fault::Hold(gate.clone())));
    world.stage(&[to_bus("a", 0)]).await;
    let relay = world.relay().await;
    gate.reached().await;
    assert_eq!((relay.bus_events().messages().len(), world.marked().await), (1, vec![false]));
    for sandbox in relay.function().sandboxes() {
        sandbox.kill();
    }
    let counts = until(&relay, |counts| counts.done == 1).await;

    assert_eq!((counts.invocations, counts.failed), (2, 1));
    let events = relay.bus_events().messages();
    let id = |message: &QueuedMessage| serde_json::from_str::<Value>(&message.body).unwrap()["detail"].clone();
    assert_eq!(events.len(), 2);
    assert_eq!(
        (id(&events[0]), &id(&events[1])["outboxEventId"]),
        (id(&events[1]), &json!(to_bus("a", 0).id.as_str()))
    );
    assert_eq!(world.marked().await, [true]);
    gate.open();
    world.stop(relay).await;
}

#[tokio::test]
async fn a_mark_that_fails_is_logged_and_no_failure() {
    let world = OutboxWorld::start().await;
    world.table.inject(Rule::on("UpdateItem").forever().fault(Fault::ErrorBefore));
    world.stage(&[to_bus("a", 0)]).await;
    let relay = world.relay().await;
    let counts = until(&relay, |counts| counts.done == 1).await;
    assert_eq!((counts.failed, relay.bus_events().messages().len(), world.marked().await), (0, 1, vec![false]));
    let is_told = || relay.function().logs().iter().any(|line| line.text.contains("was sent and is not marked"));
    eventually(PATIENCE, async || is_told().then_some(())).await.unwrap();
    world.stop(relay).await;
}

#[tokio::test]
async fn an_entry_that_expired_meanwhile_does_not_come_back_as_a_mark() {
    let world = OutboxWorld::start().await;
    let gate = Gate::new();
    world.table.inject(Rule::on("UpdateItem").fault(Fault::Hold(gate.clone())));
    world.stage(&[to_bus("a", 0)]).await;
    let relay = world.relay().await;
    gate.reached().await;
    let item = item_from_outbox_entry(&to_bus("a", 0));
    let delete = world.stack.dynamodb().delete_item().table_name(Stack::TABLE);
    delete.key("pk", item["pk"].clone()).key("sk", item["sk"].clone()).send().await.unwrap();
    gate.open();
    until(&relay, |counts| counts.done == 1).await;
    assert_eq!(world.marked().await, Vec::<bool>::new());
    world.stop(relay).await;
}

#[tokio::test]
async fn an_entry_that_can_never_be_sent_is_named_reported_and_given_up_while_the_others_are_sent() {
    let poison = |name: &str, value: &str| {
        let mut item = item_from_outbox_entry(&to_queue("receipts", "p", 0));
        let value = if name == "schema" { AttributeValue::N(value.into()) } else { AttributeValue::S(value.into()) };
        item.insert(name.into(), value);
        item
    };
    let cases = [
        (poison("schema", "2"), "schema version 2"),
        (poison("queue", "nowhere"), "OUTBOX_QUEUES"),
        (poison("body", "\u{FFFE}"), "InvalidMessageContents"),
    ];
    for (item, told) in cases {
        let world = OutboxWorld::start().await;
        world.stage(&[to_queue("receipts", "a", 0)]).await;
        world.put(item).await;
        world.stage(&[to_queue("receipts", "p", 1), to_queue("receipts", "b", 0)]).await;
        let relay = world.relay_with(StreamConfig::maximum_retry_attempts, 2).await;
        let counts = until(&relay, |counts| counts.done + counts.given_up == 4).await;

        assert_eq!(counts.given_up, 1, "{told}");
        let mut came = are(&world.queue("receipts").messages());
        came.sort();
        assert_eq!(came, ["a0", "b0", "p1"], "{told}");
        let letter: Value = serde_json::from_str(&relay.dead_letters().messages()[0].body).unwrap();
        assert_eq!(letter["DDBStreamBatchInfo"]["batchSize"], 1, "{letter}");
        let named = |line: &str| {
            line.contains(told) && line.contains("#p") && line.contains("outbox#") && line.contains("ERROR")
        };
        let is_told = || relay.function().logs().iter().any(|line| named(&line.text));
        let seen = eventually(PATIENCE, async || is_told().then_some(())).await;
        assert!(seen.is_ok(), "{told}: {:?}", relay.function().logs());
        world.stop(relay).await;
    }
}

#[tokio::test]
async fn a_request_that_is_refused_for_one_of_its_events_does_not_keep_the_others() {
    let world = OutboxWorld::start().await;
    let refused = Fault::Answer { status: 400, body: json!({ "__type": "ValidationException", "message": "b0" }) };
    let has_b0 = |request: &ProxiedRequest| request.body.to_string().contains("b0");
    world.bus.inject(Rule::on("PutEvents").when(has_b0).forever().fault(refused));
    world.stage(&["a", "b", "c"].map(|record| to_bus(record, 0))).await;
    let relay = world.relay_with(StreamConfig::maximum_retry_attempts, 1).await;
    let counts = until(&relay, |counts| counts.done + counts.given_up == 3).await;
    assert_eq!((counts.done, counts.given_up), (2, 1));
    let mut came = are(&relay.bus_events().messages());
    came.sort();
    assert_eq!(came, ["a0", "c0"]);
    // All three, and each alone, in the first invocation.
    assert_eq!(sends(&world.bus)[..4].iter().map(|request| event_ids(request).len()).collect::<Vec<_>>(), [3, 1, 1, 1]);
    world.stop(relay).await;
}

#[test]
fn the_template_filters_as_the_local_stream_does() {
    let template = include_str!("../template.yaml");
    let pattern =
        template.lines().find_map(|line| line.trim().strip_prefix("- Pattern: !Sub '")?.strip_suffix('\'')).unwrap();
    let pattern: Value = serde_json::from_str(&pattern.replace("${Namespace}", Stack::NAMESPACE)).unwrap();
    assert_eq!(RelayOptions::default().stream.filters, [pattern]);
}
