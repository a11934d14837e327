//! Goal: the store keeps its contract on a DynamoDB engine, on the wire.
//!
//! Method: the embedded engine behind the fault proxy, which also shows what was sent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, Inserted, OwnerToken, Record, RecordKey,
    Replaced, Status, Store, StoreError, Version,
};
use idempotency_dynamodb::DynamoDbStore;
use idempotency_testkit::{
    FaultyTable,
    fault_proxy::{Fault, Rule},
};

const WITHIN: Duration = Duration::from_secs(30);
const OWNER: OwnerToken = OwnerToken::from_bytes([1; 16]);
const EXPIRES_AT: EpochSeconds = EpochSeconds::new(4_000_000_000);

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

    async fn stored(&self) -> Record {
        match self.store.insert_if_absent(&record(9), WITHIN).await.unwrap() {
            Inserted::Exists(record) => record,
            Inserted::Inserted => panic!("nothing was stored"),
        }
    }
}

fn key() -> RecordKey {
    RecordKey::from_stored("test#charge#v1#abc")
}

fn record(owner: u8) -> Record {
    Record {
        key: key(),
        status: Status::InFlight,
        owner: OwnerToken::from_bytes([owner; 16]),
        execution: ExecutionId::from_bytes([2; 16]),
        epoch: Epoch::new(1_700_000_000_000),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(1_700_000_013_000),
        expires_at: EXPIRES_AT,
        fingerprint: Fingerprint::from_bytes([4; 32]),
        result: None,
    }
}

#[tokio::test]
async fn an_insert_shows_what_is_stored_and_writes_nothing_over_it() {
    let world = World::start().await;
    assert_eq!(world.store.insert_if_absent(&record(1), WITHIN).await.unwrap(), Inserted::Inserted);
    let shown = world.store.insert_if_absent(&record(2), WITHIN).await.unwrap();
    assert_eq!(shown, Inserted::Exists(record(1)));
    assert_eq!(world.stored().await, record(1));
}

#[tokio::test]
async fn a_replace_needs_owner_status_and_epoch_to_be_as_expected() {
    let world = World::start().await;
    let (old, new) = (record(1), Record { status: Status::Completed, ..record(1) });
    world.store.insert_if_absent(&old, WITHIN).await.unwrap();
    let others = [
        Version { owner: OwnerToken::from_bytes([2; 16]), ..old.version() },
        Version { status: Status::Completed, ..old.version() },
        Version { epoch: Epoch::new(old.epoch.get() - 1), ..old.version() },
    ];
    for expected in others {
        let differs = world.store.replace(expected, &new, WITHIN).await.unwrap();
        assert_eq!(differs, Replaced::Differs(Some(old.clone())), "{expected:?}");
    }
    assert_eq!(world.store.replace(old.version(), &new, WITHIN).await.unwrap(), Replaced::Replaced);
    assert_eq!(world.stored().await, new);
    // The same write again finds its own result.
    let again = world.store.replace(old.version(), &new, WITHIN).await.unwrap();
    assert_eq!(again, Replaced::Differs(Some(new)));
}

#[tokio::test]
async fn a_replace_of_a_deleted_record_creates_none() {
    let world = World::start().await;
    let differs = world.store.replace(record(1).version(), &record(2), WITHIN).await.unwrap();
    assert_eq!(differs, Replaced::Differs(None));
    assert_eq!(world.store.insert_if_absent(&record(3), WITHIN).await.unwrap(), Inserted::Inserted);
}

#[tokio::test]
async fn parts_come_back_in_order_are_kept_apart_by_owner_and_expire_with_their_record() {
    let world = World::start().await;
    let parts: Vec<Bytes> = (0..12_u8).map(|number| Bytes::from(vec![number; 1000])).collect();
    let other = OwnerToken::from_bytes([7; 16]);
    world.store.put_parts(&key(), OWNER, &parts, EXPIRES_AT, WITHIN).await.unwrap();
    world.store.put_parts(&key(), other, &[Bytes::from_static(b"zombie")], EXPIRES_AT, WITHIN).await.unwrap();

    assert_eq!(world.store.get_parts(&key(), OWNER, 12, WITHIN).await.unwrap(), Some(parts));
    assert_eq!(world.store.get_parts(&key(), OWNER, 13, WITHIN).await.unwrap(), None, "one is missing");
    for request in world.table.proxy().requests() {
        match request.operation.as_str() {
            "PutItem" => assert_eq!(request.body["Item"]["expires_at"]["N"], "4000000000"),
            _ => assert_eq!(request.body["ConsistentRead"], true, "the parts were just written"),
        }
    }
    // Parts are no record.
    assert_eq!(world.store.insert_if_absent(&record(1), WITHIN).await.unwrap(), Inserted::Inserted);
}

#[tokio::test]
async fn a_part_that_cannot_be_written_is_an_error() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::on("PutItem").nth(2).forever().fault(Fault::ErrorBefore));
    let parts = [Bytes::from_static(b"a"), Bytes::from_static(b"b")];
    let error = world.store.put_parts(&key(), OWNER, &parts, EXPIRES_AT, WITHIN).await.unwrap_err();
    assert!(matches!(error, StoreError::Unknown(_)), "{error:?}");
}

#[tokio::test]
async fn no_call_waits_longer_than_it_was_told() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::any().forever().fault(Fault::Slow(Duration::from_secs(3600))));
    let within = Duration::from_millis(50);
    let parts = [Bytes::from_static(b"a")];
    // Without the limit each of these would end by the client's own, of 15 s, and the test by the one below.
    let calls = async {
        assert!(matches!(world.store.insert_if_absent(&record(1), within).await, Err(StoreError::Unknown(_))));
        assert!(matches!(
            world.store.replace(record(1).version(), &record(1), within).await,
            Err(StoreError::Unknown(_))
        ));
        assert!(matches!(
            world.store.put_parts(&key(), OWNER, &parts, EXPIRES_AT, within).await,
            Err(StoreError::Unknown(_))
        ));
        assert!(matches!(world.store.get_parts(&key(), OWNER, 1, within).await, Err(StoreError::Unknown(_))));
    };
    tokio::time::timeout(Duration::from_secs(14), calls).await.unwrap();
}

#[tokio::test]
async fn throttling_is_told_apart_from_no_answer() {
    let world = World::start().await;
    world.table.proxy().inject(Rule::any().forever().fault(Fault::Throttle));
    assert!(matches!(world.store.insert_if_absent(&record(1), WITHIN).await, Err(StoreError::Throttled(_))));
}
