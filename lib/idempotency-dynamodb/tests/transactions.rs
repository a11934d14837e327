//! Goal: a record and its effects are one request, and what became of it is told right, whatever else is in the way.
//!
//! Method: the embedded engine behind the fault proxy, which shows what was sent and gives the answers that no engine gives.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{Client, config::retry::RetryPartition, types::AttributeValue};
use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Committed, Effect, Epoch, EpochMillis, EpochSeconds, Event, ExecutionId, Fingerprint, Inserted,
    OutboxEntry, OwnerToken, Record, RecordKey, Row, RowInserted, RowKind, Status, Store, StoreError, StoredResult,
    TableWrite, Write,
};
use idempotency_dynamodb::{DynamoDbStore, outbox_entry_from_item, retries};
use idempotency_testkit::{
    FaultyTable,
    dynamodb::create_table,
    fault_proxy::{Fault, RecordedRequest, Rule},
};
use serde_json::{Value, json};
use uuid::Uuid;

const WITHIN: Duration = Duration::from_secs(30);
const TRANSACT: &str = "TransactWriteItems";
const ACCOUNTS: &str = "accounts";

struct World {
    table: FaultyTable,
    client: Client,
    store: DynamoDbStore,
}

impl World {
    async fn start() -> Self {
        let table = FaultyTable::start().await.unwrap();
        // Production's number of attempts, with pauses as short as they get, and an allowance of retries for each test.
        let retries = retries().with_initial_backoff(Duration::from_millis(1));
        let config = table.client().config().to_builder().retry_config(retries);
        let config = config.retry_partition(RetryPartition::new(Uuid::new_v4().to_string()));
        let client = Client::from_conf(config.build());
        create_table(&client, ACCOUNTS, "id", None).await.unwrap();
        let store = DynamoDbStore::new(client.clone(), FaultyTable::NAME);
        table.proxy().clear_requests();
        Self { table, client, store }
    }

    async fn commit(&self, write: &Write, effects: &[Effect]) -> Result<Committed, StoreError> {
        self.store.commit(Some(write), effects, WITHIN).await
    }

    /// The requests since the last look.
    fn requests(&self) -> Vec<RecordedRequest> {
        let requests = self.table.proxy().requests();
        self.table.proxy().clear_requests();
        requests
    }

    /// The tokens of the transactions since the last look.
    fn tokens(&self) -> Vec<Value> {
        let requests = self.requests();
        assert!(requests.iter().all(|request| request.operation == TRANSACT), "{requests:?}");
        requests.into_iter().map(|request| request.body["ClientRequestToken"].clone()).collect()
    }

    async fn item(&self, id: &str) -> Option<HashMap<String, AttributeValue>> {
        let get = self.client.get_item().table_name(ACCOUNTS).key("id", AttributeValue::S(id.to_owned()));
        let item = get.consistent_read(true).send().await.unwrap().item;
        self.table.proxy().clear_requests();
        item
    }

    /// The number `n` of an item.
    async fn number(&self, id: &str) -> Option<i64> {
        self.item(id).await.map(|item| item["n"].as_n().unwrap().parse().unwrap())
    }

    /// What a commit of a record and two effects is told when DynamoDB answers this each time, and how many requests that were.
    async fn told(&self, status: u16, body: Value) -> (Result<Committed, StoreError>, usize) {
        self.table.proxy().inject(Rule::on(TRANSACT).forever().fault(Fault::Answer { status, body }));
        let committed = self.commit(&insert(1), &[raise("a"), raise("b")]).await;
        self.table.proxy().clear_rules();
        (committed, self.requests().len())
    }

    /// The same when it is cancelled with a reason for each action. It is never repeated by the client.
    async fn cancelled(&self, reasons: [Value; 3]) -> Result<Committed, StoreError> {
        let body = json!({ "__type": kind("TransactionCanceledException"), "Message": "cancelled", "CancellationReasons": reasons });
        let (told, requests) = self.told(400, body).await;
        assert_eq!(requests, 1);
        told
    }
}

fn kind(error: &str) -> String {
    format!("com.amazonaws.dynamodb.v20120810#{error}")
}

fn record(owner: u8) -> Record {
    Record {
        key: RecordKey::from_stored("test#charge#v1#abc"),
        status: Status::Completed,
        owner: OwnerToken::from_bytes([owner; 16]),
        execution: ExecutionId::from_bytes([2; 16]),
        renewed: false,
        resolved_at: None,
        epoch: Epoch::new(1_700_000_000_000),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(1_700_000_013_000),
        expires_at: EpochSeconds::new(4_000_000_000),
        fingerprint: Fingerprint::from_bytes([4; 32]),
        result: None,
    }
}

fn insert(owner: u8) -> Write {
    Write::Insert(record(owner))
}

fn raise(id: &str) -> Effect {
    Effect::Table(TableWrite::increment(ACCOUNTS, json!({ "id": id }), "n", 1).unwrap())
}

/// An increment that is refused.
fn refused(id: &str) -> Effect {
    let raise = TableWrite::increment(ACCOUNTS, json!({ "id": id }), "n", 1).unwrap();
    Effect::Table(raise.only_if("n > :enough").value(":enough", 1_000).unwrap())
}

fn is_throttled(told: &Result<Committed, StoreError>) -> bool {
    matches!(told, Err(StoreError::Throttled(_)))
}

fn is_unknown(told: &Result<Committed, StoreError>) -> bool {
    matches!(told, Err(StoreError::Unknown(_)))
}

fn is_refused(told: &Result<Committed, StoreError>) -> bool {
    matches!(told, Err(StoreError::Refused(_)))
}

#[tokio::test]
async fn a_record_and_every_form_of_a_write_are_one_request() {
    let world = World::start().await;
    let key = |id: &str| json!({ "id": id });
    let existing = Effect::Table(TableWrite::put(ACCOUNTS, json!({ "id": "gone", "n": 1 })).unwrap());
    world.store.commit(None, &[existing], WITHIN).await.unwrap();
    world.requests();
    let writes = [
        TableWrite::put(ACCOUNTS, json!({ "id": "put", "list": [1, "a", true, null], "map": { "half": 0.5 } })),
        TableWrite::insert(ACCOUNTS, json!({ "id": "inserted", "n": 1 }), "id"),
        TableWrite::increment(ACCOUNTS, key("raised"), "n", -5),
        TableWrite::update(ACCOUNTS, key("updated"), "SET #status = :status")
            .and_then(|update| update.name("#status", "status").value(":status", "open")),
        TableWrite::delete(ACCOUNTS, key("gone")).map(|delete| delete.only_if("attribute_exists(id)")),
        TableWrite::check(ACCOUNTS, key("absent"), "attribute_not_exists(id)"),
    ];
    let effects = writes.map(|write| Effect::Table(write.unwrap()));
    assert_eq!(world.commit(&insert(1), &effects).await.unwrap(), Committed::Committed);

    let requests = world.requests();
    assert_eq!(requests.len(), 1);
    let actions = &requests[0].body["TransactItems"];
    assert_eq!(actions.as_array().unwrap().len(), 7);
    let put = &actions[0]["Put"];
    assert_eq!((put["TableName"].as_str(), put["Item"]["sk"]["S"].as_str()), (Some(FaultyTable::NAME), Some("claim")));
    assert_eq!(put["ConditionExpression"], "attribute_not_exists(#pk)");
    let key = |id: &str| json!({ "id": { "S": id } });
    let (table, old) = (ACCOUNTS, "ALL_OLD");
    assert_eq!(
        actions.as_array().unwrap()[1..],
        [
            json!({ "Put": {
                "TableName": table,
                "Item": {
                    "id": { "S": "put" },
                    "list": { "L": [{ "N": "1" }, { "S": "a" }, { "BOOL": true }, { "NULL": true }] },
                    "map": { "M": { "half": { "N": "0.5" } } },
                },
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
            json!({ "Put": {
                "TableName": table,
                "Item": { "id": { "S": "inserted" }, "n": { "N": "1" } },
                "ConditionExpression": "attribute_not_exists(#insert_key)",
                "ExpressionAttributeNames": { "#insert_key": "id" },
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
            json!({ "Update": {
                "TableName": table,
                "Key": key("raised"),
                "UpdateExpression": "ADD #increment_attribute :increment_by",
                "ExpressionAttributeNames": { "#increment_attribute": "n" },
                "ExpressionAttributeValues": { ":increment_by": { "N": "-5" } },
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
            json!({ "Update": {
                "TableName": table,
                "Key": key("updated"),
                "UpdateExpression": "SET #status = :status",
                "ExpressionAttributeNames": { "#status": "status" },
                "ExpressionAttributeValues": { ":status": { "S": "open" } },
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
            json!({ "Delete": {
                "TableName": table,
                "Key": key("gone"),
                "ConditionExpression": "attribute_exists(id)",
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
            json!({ "ConditionCheck": {
                "TableName": table,
                "Key": key("absent"),
                "ConditionExpression": "attribute_not_exists(id)",
                "ReturnValuesOnConditionCheckFailure": old,
            } }),
        ]
    );
    assert_eq!((world.number("raised").await, world.item("gone").await), (Some(-5), None));
    assert_eq!(world.item("updated").await.unwrap()["status"].as_s().unwrap(), "open");
    assert_eq!(world.item("put").await.unwrap()["list"].as_l().unwrap().len(), 4);
}

#[tokio::test]
async fn conditions_have_names_and_values_and_tell_the_item_that_does_not_meet_them() {
    let world = World::start().await;
    let account = json!({ "id": "a", "n": 100, "status": "open" });
    let put = Effect::Table(TableWrite::put(ACCOUNTS, account).unwrap());
    assert_eq!(world.store.commit(None, &[put], WITHIN).await.unwrap(), Committed::Committed);
    let debit = |amount: i64| {
        let debit = TableWrite::increment(ACCOUNTS, json!({ "id": "a" }), "n", -amount).unwrap();
        let debit = debit.only_if("n >= :amount OR #status = :vip").only_if("attribute_exists(#status)");
        let debit = debit.name("#status", "status").value(":amount", amount).unwrap().value(":vip", "vip").unwrap();
        Effect::Table(debit)
    };
    let told = world.commit(&insert(1), &[raise("b"), debit(101)]).await.unwrap();
    let Committed::EffectRefused { index: 1, item: Some(item) } = told else { panic!("{told:?}") };
    assert_eq!(format!("{:?}", item["n"]), r#"N("100")"#);
    assert_eq!(world.store.get(&record(1).key, WITHIN).await.unwrap(), None);
    assert_eq!((world.number("a").await, world.number("b").await), (Some(100), None));
    assert_eq!(world.commit(&insert(1), &[raise("b"), debit(100)]).await.unwrap(), Committed::Committed);
    assert_eq!((world.number("a").await, world.number("b").await), (Some(0), Some(1)));
}

#[tokio::test]
async fn a_record_that_is_refused_comes_before_everything_else() {
    let world = World::start().await;
    let first = world.store.insert_if_absent(&record(1), WITHIN).await.unwrap();
    assert_eq!(first, Inserted::Inserted);
    world.requests();
    let told = world.commit(&insert(2), &[raise("a"), refused("b")]).await.unwrap();
    assert_eq!((told, world.requests().len()), (Committed::Refused(Some(record(1))), 1));
    let expected = record(2).version();
    let told = world.commit(&Write::Replace { expected, record: record(2) }, &[refused("b")]).await.unwrap();
    assert_eq!(told, Committed::Refused(Some(record(1))));
    assert_eq!(world.number("a").await, None);
}

#[tokio::test]
async fn reasons_of_a_cancelled_transaction_are_told_apart() {
    let world = World::start().await;
    let none = || json!({ "Code": "None" });
    let reason = |code: &str| json!({ "Code": code, "Message": "it is said why" });
    let failed = || reason("ConditionalCheckFailed");

    assert_eq!(world.cancelled([failed(), failed(), none()]).await.unwrap(), Committed::Refused(None));
    let told = world.cancelled([none(), none(), failed()]).await.unwrap();
    assert_eq!(told, Committed::EffectRefused { index: 1, item: None });
    // Another transaction's effect is in the way of this one's second, and a third's of its first.
    let told = world.cancelled([none(), reason("TransactionConflict"), failed()]).await.unwrap();
    assert_eq!(told, Committed::EffectRefused { index: 1, item: None });
    // Nobody has looked at the record: it may be a duplicate's, whose effect this one is refused by.
    let told = world.cancelled([reason("TransactionConflict"), failed(), none()]).await;
    assert!(is_throttled(&told), "{told:?}");

    for code in ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"] {
        for reasons in [[reason(code), none(), none()], [none(), none(), reason(code)]] {
            let told = world.cancelled(reasons).await;
            assert!(is_throttled(&told), "{code}: {told:?}");
        }
    }
    for code in ["ValidationError", "ItemCollectionSizeLimitExceeded", "SomethingNew"] {
        for reasons in [[none(), reason(code), none()], [none(), reason("TransactionConflict"), reason(code)]] {
            let told = world.cancelled(reasons).await;
            assert!(is_refused(&told), "{code}: {told:?}");
        }
    }
    let told = world.cancelled([none(), none(), none()]).await;
    assert!(is_unknown(&told), "{told:?}");
}

#[tokio::test]
async fn a_stored_record_that_cannot_be_read_is_no_record_that_is_absent() {
    let world = World::start().await;
    let item = json!({ "pk": { "S": "test#charge#v1#abc" }, "schema": { "N": "2" } });
    let failed = json!({ "Code": "ConditionalCheckFailed", "Item": item });
    let told = world.cancelled([failed, json!({ "Code": "None" }), json!({ "Code": "None" })]).await;
    assert!(matches!(told, Err(StoreError::Undecodable(_))), "{told:?}");
}

#[tokio::test]
async fn errors_of_the_whole_request_are_told_apart() {
    let world = World::start().await;
    let error = |name: &str| json!({ "__type": kind(name), "message": "injected" });
    for (name, requests) in [("TransactionInProgressException", 3), ("InternalServerError", 3)] {
        let status = if name == "InternalServerError" { 500 } else { 400 };
        let (told, sent) = world.told(status, error(name)).await;
        // The one in progress may still be applied.
        assert!(is_unknown(&told), "{name}: {told:?}");
        assert_eq!(sent, requests, "{name}");
    }
    for name in ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"] {
        let (told, sent) = world.told(400, error(name)).await;
        assert!(is_throttled(&told), "{name}: {told:?}");
        assert_eq!(sent, 3, "{name}");
    }
    for name in [
        "ValidationException",
        "ResourceNotFoundException",
        "AccessDeniedException",
        "IdempotentParameterMismatchException",
    ] {
        let (told, sent) = world.told(400, error(name)).await;
        assert!(is_refused(&told), "{name}: {told:?}");
        assert_eq!(sent, 1, "{name}");
    }
}

#[tokio::test]
async fn a_transaction_that_no_dynamodb_takes_is_refused_for_good() {
    let world = World::start().await;
    let unknown_table = Effect::Table(TableWrite::put("no-such-table", json!({ "id": "a" })).unwrap());
    let no_key = Effect::Table(TableWrite::put(ACCOUNTS, json!({ "name": "a" })).unwrap());
    let no_number = Effect::Table(TableWrite::increment(ACCOUNTS, json!({ "id": "text" }), "n", 1).unwrap());
    let text = Effect::Table(TableWrite::put(ACCOUNTS, json!({ "id": "text", "n": "seven" })).unwrap());
    assert_eq!(world.store.commit(None, &[text], WITHIN).await.unwrap(), Committed::Committed);
    let twice = [raise("a"), raise("a")];
    let one = [[unknown_table], [no_key], [no_number]];
    for effects in one.iter().map(<[Effect; 1]>::as_slice).chain([&twice[..]]) {
        let told = world.commit(&insert(1), effects).await;
        assert!(is_refused(&told), "{effects:?}: {told:?}");
        assert_eq!(world.store.get(&record(1).key, WITHIN).await.unwrap(), None, "{effects:?}");
    }
    assert_eq!(world.number("a").await, None);
}

#[tokio::test]
async fn a_write_that_dynamodb_refuses_is_told_by_its_name_and_why() {
    let world = World::start().await;
    let write = TableWrite::put(ACCOUNTS, json!({ "name": "Ada" })).unwrap().named("payout");
    let told = world.commit(&insert(1), &[raise("a"), Effect::Table(write)]).await;
    let Err(StoreError::Refused(why)) = told else { panic!("{told:?}") };
    let why = why.to_string();
    assert!(why.starts_with(r#"the write "payout" to table "accounts": ValidationError: "#), "{why}");
    assert!(why.contains("id") && !why.contains("Ada"), "{why}");
}

#[tokio::test]
async fn transmissions_of_one_call_have_one_token_and_are_applied_once() {
    let world = World::start().await;
    for fault in [Fault::ErrorAfter, Fault::DropAfter, Fault::ResetAfter] {
        let (key, id) = (RecordKey::from_stored(format!("test#charge#v1#{fault:?}")), format!("{fault:?}"));
        let write = Write::Insert(Record { key, ..record(1) });
        world.table.proxy().inject(Rule::on(TRANSACT).fault(fault));
        assert_eq!(world.commit(&write, &[raise(&id)]).await.unwrap(), Committed::Committed);
        let tokens = world.tokens();
        assert_eq!(tokens.len(), 2);
        assert!(tokens[0].as_str().is_some_and(|token| !token.is_empty()));
        assert_eq!(tokens[0], tokens[1]);
        // Another call has another one, and recognises its own record.
        let Write::Insert(own) = &write else { panic!() };
        assert_eq!(world.commit(&write, &[raise(&id)]).await.unwrap(), Committed::Refused(Some(own.clone())));
        let again = world.tokens();
        assert_eq!(again.len(), 1);
        assert_ne!(again[0], tokens[0]);
        assert_eq!(world.number(&id).await, Some(1));
    }
}

#[tokio::test]
async fn whatever_becomes_of_its_transmissions_all_of_it_is_written_once_or_nothing() {
    let world = World::start().await;
    let faults = [
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::ResetBefore,
        Fault::ResetAfter,
        Fault::ErrorBefore,
        Fault::ErrorAfter,
        Fault::Throttle,
    ];
    for (fault, times) in faults.into_iter().flat_map(|fault| [1, 2, 3, 4].map(|times| (fault.clone(), times))) {
        let place = format!("{fault:?}-{times}");
        let record = Record { key: RecordKey::from_stored(format!("test#charge#v1#{place}")), ..record(1) };
        let (write, effects) = (Write::Insert(record.clone()), [raise(&place), raise("all")]);
        let all = world.number("all").await;
        world.table.proxy().inject(Rule::on(TRANSACT).times(times).fault(fault.clone()));
        let told = world.commit(&write, &effects).await;
        let expected = match (&fault, times) {
            (_, 1 | 2) => matches!(told, Ok(Committed::Committed)),
            (Fault::Throttle, _) => is_throttled(&told),
            _ => is_unknown(&told),
        };
        assert!(expected, "{place}: {told:?}");
        world.table.proxy().clear_rules();
        // All of it or nothing.
        let stored = world.store.get(&record.key, WITHIN).await.unwrap();
        let is_applied = matches!(fault, Fault::DropAfter | Fault::ResetAfter | Fault::ErrorAfter) || times < 3;
        assert_eq!(stored, is_applied.then(|| record.clone()), "{place}");
        assert_eq!(world.number(&place).await, is_applied.then_some(1), "{place}");
        // The engine asks again.
        let again = world.commit(&write, &effects).await.unwrap();
        let expected = if is_applied { Committed::Refused(Some(record)) } else { Committed::Committed };
        assert_eq!(again, expected, "{place}");
        assert_eq!(world.number(&place).await, Some(1), "{place}");
        assert_eq!(world.number("all").await, Some(all.unwrap_or(0) + 1), "{place}");
    }
}

#[tokio::test]
async fn an_event_is_written_as_the_relay_reads_it() {
    let world = World::start().await;
    let (created_at, expires_at) = (EpochMillis::new(1_700_000_000_000), EpochSeconds::new(4_000_000_000));
    let entry =
        |ordinal, event| OutboxEntry::new(&record(1).key, record(1).execution, ordinal, event, created_at, expires_at);
    let entries = [
        entry(0, Event::eventbridge("com.example.payments", "Charged", &json!({ "charge": "ch_1" })).unwrap()),
        entry(1, Event::queue("mails", &json!({ "charge": "ch_1" })).unwrap()),
    ];
    let effects = entries.clone().map(Effect::Event);
    assert_eq!(world.commit(&insert(1), &effects).await.unwrap(), Committed::Committed);
    assert_eq!(world.requests().len(), 1);
    for entry in entries {
        let key = AttributeValue::S(entry.record_key.as_str().to_owned());
        let get = world.client.get_item().table_name(FaultyTable::NAME).key("pk", key);
        let item = get.key("sk", AttributeValue::S(entry.sort_key())).send().await.unwrap().item.unwrap();
        assert_eq!(outbox_entry_from_item(&item), Ok(entry));
    }
}

fn row(name: &str, bytes: usize) -> Row {
    Row {
        key: record(1).key,
        execution: record(1).execution,
        kind: RowKind::Step { ordinal: 0, has_undo: false },
        name: name.to_owned(),
        owner: OwnerToken::from_bytes([1; 16]),
        type_name: "u32".to_owned(),
        value: Some(StoredResult::Inline(Bytes::from(vec![7; bytes]))),
        expires_at: EpochSeconds::new(4_000_000_000),
    }
}

#[tokio::test]
async fn a_row_whose_reply_was_lost_is_the_callers_own() {
    let world = World::start().await;
    for (fault, answer) in [
        (Fault::DropAfter, RowInserted::Exists(row("DropAfter", 1))),
        (Fault::ErrorAfter, RowInserted::Exists(row("ErrorAfter", 1))),
        (Fault::ErrorBefore, RowInserted::Inserted),
        (Fault::Throttle, RowInserted::Inserted),
    ] {
        world.table.proxy().inject(Rule::on("PutItem").fault(fault.clone()));
        let inserted = world.store.insert_row(&row(&format!("{fault:?}"), 1), WITHIN).await.unwrap();
        assert_eq!((inserted, world.requests().len()), (answer, 2), "{fault:?}");
    }
}

#[tokio::test]
async fn rows_are_read_in_consistent_pages_and_never_in_part() {
    let world = World::start().await;
    let rows: Vec<_> = (0..40).map(|at| row(&format!("step-{at:02}"), StoredResult::MAX_INLINE)).collect();
    for row in &rows {
        assert_eq!(world.store.insert_row(row, WITHIN).await.unwrap(), RowInserted::Inserted);
    }
    let read = async || world.store.rows(&record(1).key, record(1).execution, WITHIN).await;
    world.requests();
    let mut found = read().await.unwrap();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(found, rows);
    let requests = world.requests();
    assert_eq!(requests.len(), 2, "1 MB a page");
    assert!(requests.iter().all(|request| request.operation == "Query" && request.body["ConsistentRead"] == true));

    world.table.proxy().inject(Rule::on("Query").nth(2).forever().fault(Fault::ErrorBefore));
    let told = read().await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "{told:?}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_error_and_never_no_row() {
    let world = World::start().await;
    let row = row("charge", 1);
    let sk = AttributeValue::S(row.sort_key());
    let put = world.client.put_item().table_name(FaultyTable::NAME);
    let pk = AttributeValue::S(row.key.as_str().to_owned());
    put.item("pk", pk).item("sk", sk).item("schema", AttributeValue::N("2".to_owned())).send().await.unwrap();
    let told = world.store.rows(&row.key, row.execution, WITHIN).await;
    assert!(matches!(told, Err(StoreError::Undecodable(_))), "{told:?}");
    let told = world.store.insert_row(&row, WITHIN).await;
    assert!(matches!(told, Err(StoreError::Undecodable(_))), "{told:?}");
}

#[tokio::test]
async fn no_call_waits_longer_than_it_was_told() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::any().forever().fault(Fault::Slow(Duration::from_secs(3600))));
    let within = Duration::from_millis(50);
    // Without the limit each of these would end by the client's own, of 15 s, and the test by the one below.
    let calls = async {
        assert!(is_unknown(&world.store.commit(Some(&insert(1)), &[raise("a")], within).await));
        let row = row("charge", 1);
        assert!(matches!(world.store.insert_row(&row, within).await, Err(StoreError::Unknown(_))));
        assert!(matches!(world.store.put_row(&row, within).await, Err(StoreError::Unknown(_))));
        let rows = world.store.rows(&row.key, row.execution, within).await;
        assert!(matches!(rows, Err(StoreError::Unknown(_))));
    };
    tokio::time::timeout(Duration::from_secs(14), calls).await.unwrap();
}
