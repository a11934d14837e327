//! Goal: what the conformance suite (`conformance.rs`) does not see: the wire, time limits, and which of many parts failed.
//!
//! Method: the embedded engine behind the fault proxy, which also shows what was sent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Record, RecordKey, Status,
    Store, StoreError,
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
        renewed: false,
        resolved_at: None,
        epoch: Epoch::new(1_700_000_000_000),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(1_700_000_013_000),
        expires_at: EXPIRES_AT,
        fingerprint: Fingerprint::from_bytes([4; 32]),
        result: None,
    }
}

#[tokio::test]
async fn parts_expire_with_their_record() {
    let world = World::start().await;
    let parts = [Bytes::from_static(b"a"), Bytes::from_static(b"b")];
    world.store.put_parts(&key(), OWNER, &parts, EXPIRES_AT, WITHIN).await.unwrap();
    let requests = world.table.proxy().requests();
    let expiries: Vec<_> = requests.iter().map(|request| &request.body["Item"]["expires_at"]["N"]).collect();
    assert_eq!(expiries, ["4000000000", "4000000000"]);
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
