//! Goal: many writes or reads are few requests, tell each member's truth whatever becomes of the batch, and leave the items that
//! single writes leave.
//!
//! Method: the embedded engine behind the fault proxy, which shows what was sent. What no engine answers by itself (a member that
//! is throttled or denied, keys that are left out) is injected.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Parts, Record, RecordKey,
    Status, Store, StoreError, StoredResult, Version, Write, Written,
};
use idempotency_dynamodb::DynamoDbStore;
use idempotency_testkit::{
    FaultyTable,
    fault_proxy::{Fault, Rule},
};
use serde_json::{Value, json};

const WITHIN: Duration = Duration::from_secs(30);

struct World {
    table: FaultyTable,
    store: DynamoDbStore,
}

impl World {
    async fn start() -> Self {
        let table = FaultyTable::start().await.unwrap();
        let store = DynamoDbStore::new(table.client(), FaultyTable::NAME);
        Self { table, store }
    }

    /// Stores the records, and forgets the requests.
    async fn given(&self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            self.store.insert_if_absent(&record, WITHIN).await.unwrap();
        }
        self.table.proxy().clear_requests();
    }

    async fn write(&self, writes: &[Write]) -> Vec<Written> {
        self.store.write_many(writes, WITHIN).await.into_iter().map(Result::unwrap).collect()
    }

    /// The operations since the last look, in the order of their arrival.
    fn operations(&self) -> Vec<String> {
        let operations = self.table.proxy().requests().into_iter().map(|request| request.operation).collect();
        self.table.proxy().clear_requests();
        operations
    }

    fn answer(&self, operation: &str, status: u16, body: Value) {
        self.table.proxy().inject(Rule::on(operation).fault(Fault::Answer { status, body }));
    }

    async fn stored(&self, key: &RecordKey) -> Option<Record> {
        self.store.get(key, WITHIN).await.unwrap()
    }

    async fn item(&self, key: &RecordKey) -> HashMap<String, AttributeValue> {
        let get = self.table.client().get_item().table_name(FaultyTable::NAME).consistent_read(true);
        let get = get.key("pk", AttributeValue::S(key.to_string())).key("sk", AttributeValue::S("claim".into()));
        get.send().await.unwrap().item.unwrap()
    }
}

fn key(number: usize) -> RecordKey {
    RecordKey::from_stored(format!("test#charge#v1#{number}"))
}

fn record(number: usize, owner: u8) -> Record {
    Record {
        key: key(number),
        status: Status::InFlight,
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

fn completed(number: usize, owner: u8) -> Record {
    let result = StoredResult::Inline(Bytes::from(format!("\0done {number}")));
    Record { status: Status::Completed, result: Some(result), ..record(number, owner) }
}

fn insert(number: usize, owner: u8) -> Write {
    Write::Insert(record(number, owner))
}

fn replace(expected: Version, record: Record) -> Write {
    Write::Replace { expected, record }
}

fn refused(record: Record) -> Written {
    Written::Refused(Some(record))
}

/// An error of one member, in the form of `BatchExecuteStatement`'s answer.
fn member_error(code: &str) -> Value {
    json!({ "Error": { "Code": code, "Message": "injected" } })
}

fn error(code: &str) -> Value {
    json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "injected" })
}

#[tokio::test]
async fn ten_fresh_inserts_are_one_request_and_thirty_are_two() {
    let world = World::start().await;
    let ten: Vec<_> = (0..10).map(|number| insert(number, 1)).collect();
    assert_eq!(world.write(&ten).await, vec![Written::Written; 10]);
    assert_eq!(world.operations(), ["BatchExecuteStatement"]);

    let thirty: Vec<_> = (10..40).map(|number| insert(number, 1)).collect();
    assert_eq!(world.write(&thirty).await, vec![Written::Written; 30]);
    assert_eq!(world.operations(), ["BatchExecuteStatement"; 2]);

    let keys: Vec<_> = (0..41).map(key).collect();
    let found: Vec<_> = world.store.get_many(&keys, WITHIN).await.into_iter().map(Result::unwrap).collect();
    let expected: Vec<_> = (0..40).map(|number| Some(record(number, 1))).chain([None]).collect();
    assert_eq!(found, expected);
    assert_eq!(world.operations(), ["BatchGetItem"]);
}

#[tokio::test]
async fn records_that_refuse_an_insert_are_read_by_one_request_more() {
    let world = World::start().await;
    world.given([1, 4, 9].map(|number| completed(number, 7))).await;
    let writes: Vec<_> = (0..10).map(|number| insert(number, 1)).collect();

    let expected: Vec<_> = (0..10)
        .map(|number| if [1, 4, 9].contains(&number) { refused(completed(number, 7)) } else { Written::Written })
        .collect();
    assert_eq!(world.write(&writes).await, expected);
    assert_eq!(world.operations(), ["BatchExecuteStatement", "BatchGetItem"]);
}

#[tokio::test]
async fn ten_replaces_are_one_request_whether_or_not_they_are_refused() {
    let world = World::start().await;
    world.given((0..10).map(|number| record(number, 1))).await;
    let expected = record(0, 1).version();
    let other = [
        Version { owner: OwnerToken::from_bytes([9; 16]), ..expected },
        Version { status: Status::Released, ..expected },
        Version { epoch: Epoch::new(1_700_000_000_001), ..expected },
    ];
    let writes: Vec<_> =
        (0..10).map(|number| replace(*other.get(number).unwrap_or(&expected), completed(number, 1))).collect();

    let answers: Vec<_> =
        (0..10).map(|number| if number < 3 { refused(record(number, 1)) } else { Written::Written }).collect();
    assert_eq!(world.write(&writes).await, answers);
    assert_eq!(world.operations(), ["BatchExecuteStatement"]);
    for number in 0..10 {
        let stored = if number < 3 { record(number, 1) } else { completed(number, 1) };
        assert_eq!(world.stored(&key(number)).await, Some(stored));
    }
}

#[tokio::test]
async fn inserts_and_replaces_stand_in_one_batch() {
    let world = World::start().await;
    world.given([record(1, 1), record(2, 1)]).await;
    let writes = [
        insert(0, 5),
        replace(record(1, 1).version(), completed(1, 1)),
        insert(2, 5),
        replace(record(3, 1).version(), completed(3, 1)),
    ];
    let answers = [Written::Written, Written::Written, refused(record(2, 1)), Written::Refused(None)];
    assert_eq!(world.write(&writes).await, answers);
    assert_eq!(world.operations(), ["BatchExecuteStatement", "BatchGetItem"]);
    assert_eq!(world.stored(&key(3)).await, None, "a replace of nothing writes nothing");
}

#[tokio::test]
async fn no_member_is_no_request_and_one_is_the_ordinary_one() {
    let world = World::start().await;
    assert_eq!(world.write(&[]).await, []);
    assert!(world.store.get_many(&[], WITHIN).await.is_empty());
    assert_eq!(world.operations(), [""; 0]);
    assert_eq!(world.write(&[insert(0, 1)]).await, [Written::Written]);
    assert_eq!(world.write(&[insert(0, 2)]).await, [refused(record(0, 1))]);
    assert_eq!(world.store.get_many(&[key(0)], WITHIN).await.remove(0).unwrap(), Some(record(0, 1)));
    assert_eq!(world.operations(), ["PutItem", "PutItem", "GetItem"]);
}

#[tokio::test]
async fn writes_of_the_same_key_are_in_different_requests_and_one_insert_wins() {
    let world = World::start().await;
    let writes = [insert(0, 1), insert(1, 1), insert(0, 2), insert(1, 2), insert(0, 3)];
    let answers = world.write(&writes).await;
    for of_key in [vec![0, 2, 4], vec![1, 3]] {
        let won: Vec<_> = of_key.iter().filter(|index| answers[**index] == Written::Written).collect();
        let [winner] = won[..] else { panic!("{answers:?}") };
        for index in &of_key {
            let expected = if index == winner { Written::Written } else { refused(writes[*winner].record().clone()) };
            assert_eq!(answers[*index], expected);
        }
    }
    let mut operations = world.operations();
    operations.sort();
    assert_eq!(operations, ["BatchExecuteStatement", "BatchExecuteStatement", "BatchGetItem", "PutItem"]);

    let keys = [key(1), key(0), key(1), key(5)];
    let found: Vec<_> = world.store.get_many(&keys, WITHIN).await.into_iter().map(|found| found.unwrap()).collect();
    assert_eq!(found[0], found[2]);
    assert_eq!(
        found.iter().map(|found| found.as_ref().map(|found| found.key.clone())).collect::<Vec<_>>(),
        [Some(key(1)), Some(key(0)), Some(key(1)), None]
    );
    assert_eq!(world.operations(), ["BatchGetItem"]);
}

#[tokio::test]
async fn items_of_a_batch_are_those_of_single_writes_attribute_for_attribute() {
    let world = World::start().await;
    let results = [
        None,
        Some(StoredResult::Inline(Bytes::new())),
        Some(StoredResult::Inline(Bytes::from_static(b"\0done"))),
        Some(StoredResult::Parts(Parts { count: 2, length: u64::MAX, sha256: [9; 32] })),
    ];
    // Every kind of result over every other one, and each new; by a batch under 0.., by single writes under 100...
    let pairs: Vec<_> =
        results.iter().flat_map(|old| results.iter().map(move |new| (old.clone(), new.clone()))).collect();
    let olds = |from: usize| -> Vec<Record> {
        let old = |(number, (old, _)): (usize, &(Option<StoredResult>, _))| Record {
            result: old.clone(),
            ..record(from + number, 1)
        };
        pairs.iter().enumerate().map(old).collect()
    };
    let news = |from: usize| -> Vec<Record> {
        let new = |(number, (_, new)): (usize, &(_, Option<StoredResult>))| Record {
            status: Status::Failed,
            execution: ExecutionId::from_bytes([5; 16]),
            renewed: number % 2 == 1,
            resolved_at: (number % 3 == 1).then_some(EpochMillis::new(1_700_000_000_000)),
            epoch: Epoch::new(-7),
            attempt: AttemptNumber::new(9),
            lease_until: EpochMillis::new(i64::MIN),
            expires_at: EpochSeconds::new(i64::MAX),
            fingerprint: Fingerprint::from_bytes([6; 32]),
            result: new.clone(),
            ..record(from + number, 2)
        };
        pairs.iter().enumerate().map(new).collect()
    };
    let same = async || {
        for number in 0..pairs.len() {
            let (batched, mut single) = (world.item(&key(number)).await, world.item(&key(100 + number)).await);
            single.insert("pk".into(), batched["pk"].clone());
            assert_eq!(batched, single);
        }
    };

    let inserts: Vec<_> = olds(0).into_iter().map(Write::Insert).collect();
    assert_eq!(world.write(&inserts).await, vec![Written::Written; 16]);
    assert_eq!(world.operations(), ["BatchExecuteStatement"]);
    world.given(olds(100)).await;
    same().await;

    world.operations();
    let versions = olds(0).into_iter().map(|old| old.version());
    let replaces: Vec<_> = versions.zip(news(0)).map(|(expected, new)| replace(expected, new)).collect();
    assert_eq!(world.write(&replaces).await, vec![Written::Written; 16]);
    assert_eq!(world.operations(), ["BatchExecuteStatement"]);
    for new in news(100) {
        world.store.replace(record(0, 1).version(), &new, WITHIN).await.unwrap();
    }
    same().await;
}

#[tokio::test]
async fn after_a_lost_reply_each_member_finds_its_own_record() {
    let world = World::start().await;
    world.given([record(1, 1)]).await;
    world.table.proxy().inject(Rule::on("BatchExecuteStatement").fault(Fault::DropAfter));
    let writes = [insert(0, 5), replace(record(1, 1).version(), completed(1, 1)), insert(2, 5)];
    let own: Vec<_> = writes.iter().map(|write| refused(write.record().clone())).collect();
    assert_eq!(world.write(&writes).await, own);
    assert_eq!(world.operations(), ["BatchExecuteStatement", "BatchExecuteStatement", "BatchGetItem"]);
}

#[tokio::test]
async fn a_batch_without_an_answer_is_written_one_by_one() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::on("BatchExecuteStatement").times(3).fault(Fault::ErrorBefore));
    assert_eq!(world.write(&[insert(0, 1), insert(1, 1)]).await, vec![Written::Written; 2]);
    let mut operations = world.operations();
    operations.sort();
    assert_eq!(operations[..3], ["BatchExecuteStatement"; 3]);
    assert_eq!(operations[3..], ["PutItem"; 2]);

    assert_eq!(world.write(&[insert(2, 1), insert(3, 1)]).await, vec![Written::Written; 2]);
    assert_eq!(world.operations(), ["BatchExecuteStatement"], "it may be answered the next time");
}

#[tokio::test]
async fn where_batches_are_denied_they_are_not_sent_again() {
    let world = World::start().await;
    world.answer("BatchExecuteStatement", 400, error("AccessDeniedException"));
    assert_eq!(world.write(&[insert(0, 1), insert(1, 1)]).await, vec![Written::Written; 2]);
    assert_eq!(world.operations(), ["BatchExecuteStatement", "PutItem", "PutItem"]);
    let clone = world.store.clone();
    let answers = clone.write_many(&[insert(0, 2), insert(2, 2)], WITHIN).await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, [refused(record(0, 1)), Written::Written]);
    assert_eq!(world.operations(), ["PutItem", "PutItem"]);

    world.answer("BatchGetItem", 400, error("AccessDeniedException"));
    for operations in [&["BatchGetItem", "GetItem", "GetItem"][..], &["GetItem", "GetItem"]] {
        let found = world.store.get_many(&[key(0), key(2)], WITHIN).await;
        let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
        assert_eq!(found, [Some(record(0, 1)), Some(record(2, 2))]);
        assert_eq!(world.operations(), operations);
    }
}

#[tokio::test]
async fn a_member_is_denied_where_the_batch_is_not() {
    let world = World::start().await;
    let denied = json!({ "Responses": [member_error("AccessDenied"), member_error("AccessDenied")] });
    world.answer("BatchExecuteStatement", 200, denied);
    for operations in [&["BatchExecuteStatement", "PutItem", "PutItem"][..], &["PutItem", "PutItem"]] {
        world.write(&[insert(0, 1), insert(1, 1)]).await;
        assert_eq!(world.operations(), operations);
    }
}

#[tokio::test]
async fn who_may_neither_batch_nor_write_alone_is_told_so_and_batches_are_tried_again() {
    let world = World::start().await;
    for operation in ["BatchExecuteStatement", "PutItem", "BatchGetItem", "GetItem"] {
        let denied = Fault::Answer { status: 400, body: error("AccessDeniedException") };
        world.table.proxy().inject(Rule::on(operation).forever().fault(denied));
    }
    for answer in world.store.write_many(&[insert(0, 1), insert(1, 1)], WITHIN).await {
        assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    }
    for answer in world.store.get_many(&[key(0), key(1)], WITHIN).await {
        assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    }
    world.table.proxy().clear_rules();
    world.operations();
    // Credentials that had expired were refreshed, for example.
    world.write(&[insert(0, 1), insert(1, 1)]).await;
    world.store.get_many(&[key(0), key(1)], WITHIN).await;
    assert_eq!(world.operations(), ["BatchExecuteStatement", "BatchGetItem"]);
}

#[tokio::test]
async fn who_may_not_read_is_shown_the_record_by_a_single_write() {
    let world = World::start().await;
    world.given([record(0, 7), record(1, 7)]).await;
    let denied = Fault::Answer { status: 400, body: error("AccessDeniedException") };
    world.table.proxy().inject(Rule::on("BatchGetItem").forever().fault(denied));
    for operations in [
        &["BatchExecuteStatement", "BatchGetItem", "PutItem", "PutItem"][..],
        &["BatchExecuteStatement", "PutItem", "PutItem"],
    ] {
        let answers = world.write(&[insert(0, 1), insert(1, 1)]).await;
        assert_eq!(answers, [refused(record(0, 7)), refused(record(1, 7))]);
        assert_eq!(world.operations(), operations);
    }
}

#[tokio::test]
async fn a_member_without_a_definite_answer_is_written_alone() {
    let world = World::start().await;
    world.given([record(0, 7), record(2, 7)]).await;
    for (turn, code) in [
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "InternalServerError",
        "TransactionConflict",
        "SomethingNew",
    ]
    .into_iter()
    .enumerate()
    {
        world.table.proxy().inject(Rule::on("BatchExecuteStatement").fault(Fault::RefuseMember { place: 1, code }));
        let writes = [insert(0, 1), insert(10 + turn, 1), insert(2, 1)];
        assert_eq!(world.write(&writes).await, [refused(record(0, 7)), Written::Written, refused(record(2, 7))]);
        let mut operations = world.operations();
        operations.sort();
        assert_eq!(operations, ["BatchExecuteStatement", "BatchGetItem", "PutItem"], "{code}");
        assert_eq!(world.stored(&key(10 + turn)).await, Some(record(10 + turn, 1)));
        world.operations();
    }
}

#[tokio::test]
async fn members_that_the_answer_leaves_out_are_written_alone() {
    let world = World::start().await;
    world.given([record(0, 7)]).await;
    world.answer("BatchExecuteStatement", 200, json!({ "Responses": [member_error("DuplicateItem")] }));
    let answers = world.write(&[insert(0, 1), insert(1, 1)]).await;
    assert_eq!(answers, [refused(record(0, 7)), Written::Written]);
    assert_eq!(world.stored(&key(1)).await, Some(record(1, 1)));
}

#[tokio::test]
async fn what_refused_a_write_and_is_gone_or_back_by_the_look_is_tried_alone() {
    let world = World::start().await;
    world.given([record(1, 1)]).await;
    // As if the record of 0 was deleted, and that of 1 was stored, between the write and the look.
    let refusals =
        [member_error("DuplicateItem"), member_error("ConditionalCheckFailed"), member_error("ConditionalCheckFailed")];
    world.answer("BatchExecuteStatement", 200, json!({ "Responses": refusals }));
    let writes = [
        insert(0, 1),
        replace(record(1, 1).version(), completed(1, 1)),
        replace(record(2, 1).version(), completed(2, 1)),
    ];
    assert_eq!(world.write(&writes).await, [Written::Written, Written::Written, Written::Refused(None)]);
    assert_eq!(world.operations(), ["BatchExecuteStatement", "BatchGetItem", "PutItem", "PutItem"]);
    assert_eq!(world.stored(&key(0)).await, Some(record(0, 1)));
    assert_eq!(world.stored(&key(1)).await, Some(completed(1, 1)));
}

#[tokio::test]
async fn keys_that_a_read_leaves_out_are_asked_for_again_and_in_the_end_alone() {
    let world = World::start().await;
    world.given([record(0, 1), record(2, 1)]).await;
    let keys = [key(0), key(1), key(0), key(3)];
    let left_out = |place| Fault::RefuseMember { place, code: "" };

    world.table.proxy().inject(Rule::on("BatchGetItem").fault(left_out(0)));
    let found = world.store.get_many(&keys, WITHIN).await;
    let expected = [Some(record(0, 1)), None, Some(record(0, 1)), None];
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), expected);
    let asked: Vec<_> = world.table.proxy().requests();
    let asked: Vec<_> = asked
        .iter()
        .map(|request| request.body["RequestItems"][FaultyTable::NAME]["Keys"].as_array().unwrap().len())
        .collect();
    assert_eq!(asked, [3, 1]);
    world.operations();

    world.table.proxy().inject(Rule::on("BatchGetItem").forever().fault(left_out(0)));
    let found = world.store.get_many(&keys, WITHIN).await;
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), expected);
    let operations = world.operations();
    assert_eq!(operations[..3], ["BatchGetItem"; 3]);
    assert_eq!(operations[3..], ["GetItem"; 2], "one for each place that asks for the first key");
}

#[tokio::test]
async fn more_than_a_hundred_keys_are_read_by_two_requests() {
    let world = World::start().await;
    world.given([record(0, 1), record(150, 1)]).await;
    let keys: Vec<_> = (0..151).map(key).collect();
    let found: Vec<_> = world.store.get_many(&keys, WITHIN).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(world.operations(), ["BatchGetItem"; 2]);
    for (number, found) in found.into_iter().enumerate() {
        assert_eq!(found, [0, 150].contains(&number).then(|| record(number, 1)));
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_an_error_of_its_own_member_only() {
    let world = World::start().await;
    world.given([record(0, 1), record(1, 1), record(2, 1)]).await;
    let update = world.table.client().update_item().table_name(FaultyTable::NAME);
    let update = update.key("pk", AttributeValue::S(key(1).to_string())).key("sk", AttributeValue::S("claim".into()));
    let update = update.update_expression("SET #schema = :new").expression_attribute_names("#schema", "schema");
    update.expression_attribute_values(":new", AttributeValue::N("99".into())).send().await.unwrap();

    let found = world.store.get_many(&[key(0), key(1), key(2)], WITHIN).await;
    assert!(matches!(found[..], [Ok(Some(_)), Err(StoreError::Undecodable(_)), Ok(Some(_))]), "{found:?}");
    let wrong = Version { epoch: Epoch::new(1), ..record(1, 1).version() };
    for write in [insert(1, 2), replace(wrong, completed(1, 1))] {
        let answers = world.store.write_many(&[insert(0, 2), write, insert(2, 2)], WITHIN).await;
        let [Ok(Written::Refused(Some(_))), Err(StoreError::Undecodable(_)), Ok(Written::Refused(Some(_)))] =
            answers[..]
        else {
            panic!("{answers:?}")
        };
    }
}

#[tokio::test]
async fn no_batch_waits_longer_than_it_was_told() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::any().forever().fault(Fault::Slow(Duration::from_secs(3600))));
    let within = Duration::from_millis(50);
    let calls = async {
        let writes: Vec<_> = (0..30).map(|number| insert(number, 1)).collect();
        let answers = world.store.write_many(&writes, within).await;
        assert!(answers.iter().all(|answer| matches!(answer, Err(StoreError::Unknown(_)))), "{answers:?}");
        let found = world.store.get_many(&[key(0), key(1)], within).await;
        assert!(found.iter().all(|found| matches!(found, Err(StoreError::Unknown(_)))), "{found:?}");
    };
    tokio::time::timeout(Duration::from_secs(14), calls).await.unwrap();
}
