//! Goal: a scan shows each item once, whatever its segments, pages and pauses; what an operator changes is changed with the word about
//! it, or not at all.
//!
//! Method: the embedded engine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use futures::StreamExt;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Record, RecordKey, Replaced,
    Row, RowKind, Status, Store,
};
use idempotency_dynamodb::{AuditEntry, DynamoDbStore, StoredItem, TableScan};
use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table};

const WITHIN: Duration = Duration::from_secs(30);
const EXPIRES_AT: EpochSeconds = EpochSeconds::new(4_000_000_000);

async fn start() -> (EmbeddedDynamoDb, DynamoDbStore) {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    create_idempotency_table(&dynamodb.client(), "idempotency").await.unwrap();
    let store = DynamoDbStore::new(dynamodb.client(), "idempotency");
    (dynamodb, store)
}

fn record(number: u32, status: Status) -> Record {
    Record {
        key: RecordKey::from_stored(format!("dev#charge#v1#{number:03}")),
        status,
        owner: OwnerToken::from_bytes([1; 16]),
        execution: ExecutionId::from_bytes([2; 16]),
        epoch: Epoch::new(7),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(1_000 + i64::from(number)),
        expires_at: EXPIRES_AT,
        fingerprint: Fingerprint::from_bytes([3; 32]),
        result: None,
        renewed: false,
        resolved_at: None,
    }
}

fn row(of: &Record) -> Row {
    Row {
        key: of.key.clone(),
        execution: of.execution,
        kind: RowKind::Step { ordinal: 0, has_undo: false },
        name: "step".into(),
        owner: OwnerToken::from_bytes([5; 16]),
        type_name: "()".into(),
        value: None,
        expires_at: EXPIRES_AT,
    }
}

fn audit(of: &Record) -> AuditEntry {
    AuditEntry::of(of, EpochMillis::new(5), OwnerToken::from_bytes([8; 16]), "rerun", "me", "because")
}

async fn put(store: &DynamoDbStore, record: &Record) {
    store.insert_if_absent(record, WITHIN).await.unwrap();
}

async fn shown(store: &DynamoDbStore, scan: &TableScan) -> Vec<String> {
    let mut pages = Box::pin(scan.pages(store));
    let mut shown = Vec::new();
    while let Some(page) = pages.next().await {
        shown.extend(page.unwrap().items.iter().map(|item| format!("{} {}", item.key(), item.sort_key())));
    }
    shown
}

#[tokio::test]
async fn every_item_is_shown_once_in_any_segments_and_pages() {
    let (_dynamodb, store) = start().await;
    for number in 0..40 {
        put(&store, &record(number, Status::Completed)).await;
    }
    store.put_row(&row(&record(1, Status::Completed)), WITHIN).await.unwrap();
    store
        .put_parts(
            &record(2, Status::Completed).key,
            OwnerToken::from_bytes([1; 16]),
            &[Bytes::from_static(b"x")],
            EXPIRES_AT,
            WITHIN,
        )
        .await
        .unwrap();
    for (segments, page) in [(1, 100), (1, 7), (3, 4), (8, 1)] {
        let shown = shown(&store, &TableScan::new(segments).page_size(page)).await;
        assert_eq!(shown.len(), 42, "{segments} {page}");
        assert_eq!(shown.iter().collect::<BTreeSet<_>>().len(), 42);
    }
}

#[tokio::test]
async fn a_scan_shows_what_it_was_asked_for_alone() {
    let (_dynamodb, store) = start().await;
    let statuses = [Status::InFlight, Status::Stuck, Status::Completed];
    for (number, status) in (0..).zip(statuses) {
        put(&store, &record(number, status)).await;
        store.put_row(&row(&record(number, status)), WITHIN).await.unwrap();
    }
    let other = Record { key: RecordKey::from_stored("dev#charge2#v1#x"), ..record(9, Status::Stuck) };
    put(&store, &other).await;
    let count = async |scan: TableScan| shown(&store, &scan).await.len();
    assert_eq!(count(TableScan::new(2)).await, 7);
    assert_eq!(count(TableScan::new(2).records_only()).await, 4);
    assert_eq!(count(TableScan::new(2).statuses([Status::Stuck, Status::InFlight])).await, 3);
    assert_eq!(count(TableScan::new(2).statuses([Status::Stuck]).key_prefix("dev#charge#v")).await, 1);
    assert_eq!(count(TableScan::new(2).lease_before(EpochMillis::new(1_001))).await, 1);
    assert_eq!(count(TableScan::new(2).key_prefix("prod#")).await, 0);
}

#[tokio::test]
async fn a_scan_goes_on_where_its_position_says_in_another_process_too() {
    let (_dynamodb, store) = start().await;
    for number in 0..10 {
        put(&store, &record(number, Status::Completed)).await;
    }
    let scan = TableScan::new(1).page_size(4);
    let first = scan.page(&store, &scan.start(0)).await.unwrap();
    let position = first.next.unwrap().to_string();
    let (mut seen, mut next) = (first.items.len(), Some(position.parse().unwrap()));
    while let Some(from) = next {
        let page = TableScan::new(1).page(&store, &from).await.unwrap();
        (seen, next) = (seen + page.items.len(), page.next);
    }
    assert_eq!(seen, 10);
    assert!(first.read_units.is_some_and(|units| units > 0.0));
}

#[tokio::test]
async fn an_item_that_cannot_be_read_is_shown_as_such() {
    let (dynamodb, store) = start().await;
    put(&store, &record(1, Status::Completed)).await;
    let update = dynamodb.client().update_item().table_name("idempotency");
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.into());
    let update =
        update.key("pk", text("dev#charge#v1#001")).key("sk", text("claim")).update_expression("SET epoch = :odd");
    update.expression_attribute_values(":odd", text("soon")).send().await.unwrap();
    let items = store.partition(&record(1, Status::Completed).key, WITHIN).await.unwrap();
    assert!(matches!(&items[..], [StoredItem::Unreadable { sort_key, .. }] if sort_key == "claim"), "{items:?}");
}

#[tokio::test]
async fn a_change_is_stored_with_the_word_about_it() {
    let (_dynamodb, store) = start().await;
    let found = record(1, Status::InFlight);
    put(&store, &found).await;
    let released = Record { status: Status::Released, epoch: Epoch::new(8), ..found.clone() };
    let told = audit(&found);
    assert_eq!(store.replace_audited(&found, &released, &told, WITHIN).await.unwrap(), Replaced::Replaced);
    let items = store.partition(&found.key, WITHIN).await.unwrap();
    assert_eq!(items, [StoredItem::Audit(told), StoredItem::Record(released)]);
}

#[tokio::test]
async fn what_has_changed_since_it_was_found_is_neither_replaced_nor_removed_nor_told_of() {
    let (_dynamodb, store) = start().await;
    let found = record(1, Status::InFlight);
    let others = [
        Record { status: Status::Completed, ..found.clone() },
        Record { epoch: Epoch::new(8), ..found.clone() },
        Record { owner: OwnerToken::from_bytes([4; 16]), ..found.clone() },
        Record { lease_until: EpochMillis::new(9), ..found.clone() },
    ];
    for stored in others {
        put(&store, &stored).await;
        let differs = Replaced::Differs(Some(stored.clone()));
        assert_eq!(store.replace_audited(&found, &found, &audit(&found), WITHIN).await.unwrap(), differs);
        assert_eq!(store.remove_audited(&found, &audit(&found), WITHIN).await.unwrap(), differs);
        assert_eq!(store.partition(&found.key, WITHIN).await.unwrap(), [StoredItem::Record(stored.clone())]);
        assert_eq!(store.remove_audited(&stored, &audit(&stored), WITHIN).await.unwrap(), Replaced::Replaced);
        assert_eq!(store.remove_audited(&stored, &audit(&stored), WITHIN).await.unwrap(), Replaced::Differs(None));
        assert_eq!(store.partition(&found.key, WITHIN).await.unwrap(), [StoredItem::Audit(audit(&stored))]);
        let sort_keys = [audit(&stored).sort_key(), "claim".into()];
        assert_eq!(store.delete_beside(&found.key, sort_keys, WITHIN).await.unwrap(), 1);
    }
}
