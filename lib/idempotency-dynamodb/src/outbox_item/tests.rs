use idempotency_core::Event;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn entry_of(event: Event, ordinal: u32) -> OutboxEntry {
    OutboxEntry::new(
        &RecordKey::from_stored("dev#charge#v1#abc"),
        ExecutionId::from_bytes([2; 16]),
        ordinal,
        event,
        EpochMillis::new(1_700_000_000_000),
        EpochSeconds::new(1_700_172_800),
    )
}

fn queued() -> OutboxEntry {
    entry_of(Event::queue("receipts", &json!({ "charge": "ch_1" })).unwrap(), 0)
}

fn charged() -> OutboxEntry {
    entry_of(Event::eventbridge("com.example", "Charged", &json!({ "charge": "ch_1" })).unwrap(), 1)
}

fn event() -> impl Strategy<Value = Event> {
    let eventbridge = ("[a-zä.]{1,9}b", "\\PC{1,20}", "\\PC{0,40}")
        .prop_map(|(source, kind, text)| Event::eventbridge(source, kind, &json!({ "text": text })).unwrap());
    let queue = ("[a-zA-Z0-9_-]{1,80}", any::<String>()).prop_map(|(name, text)| Event::queue(name, &text).unwrap());
    prop_oneof![eventbridge, queue]
}

fn entry() -> impl Strategy<Value = OutboxEntry> {
    (event(), proptest::option::of("[!-~]{1,255}"), "\\PC{1,40}", any::<([u8; 16], u32, i64, i64)>()).prop_map(
        |(event, key, pk, (execution, ordinal, created_at, expires_at))| {
            let event = key.iter().fold(event, |event, key| event.with_key(&IdempotencyKey::new(key).unwrap()));
            let (created_at, expires_at) = (EpochMillis::new(created_at), EpochSeconds::new(expires_at));
            let (record_key, execution) = (RecordKey::from_stored(pk), ExecutionId::from_bytes(execution));
            OutboxEntry::new(&record_key, execution, ordinal, event, created_at, expires_at)
        },
    )
}

/// The rule of the DynamoDB Developer Guide, "DynamoDB item sizes and formats", on the item itself.
fn counted(item: &Item) -> usize {
    let value = |value: &AttributeValue| match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        other => panic!("{other:?}"),
    };
    item.iter().map(|(name, v)| name.len() + value(v)).sum()
}

proptest! {
    #[test]
    fn an_entry_survives_the_way_into_an_item_and_back_and_knows_its_size(entry in entry()) {
        let mut item = item_from_outbox_entry(&entry);
        prop_assert_eq!(entry.size(), counted(&item));
        prop_assert_eq!(outbox_entry_from_item(&item), Ok(entry.clone()));
        item.insert(outbox_attribute::SENT_AT.into(), number(1));
        prop_assert_eq!(outbox_entry_from_item(&item), Ok(entry));
    }
}

#[test]
fn the_stored_form_never_changes() {
    let item = item_from_outbox_entry(&charged());
    let text = |name: &str| item[name].as_s().unwrap().as_str();
    assert_eq!(text("pk"), "dev#charge#v1#abc");
    assert_eq!(text("sk"), "outbox#AgICAgICAgICAgICAgICAg#0001");
    assert_eq!((text("to"), text("source"), text("detail_type")), ("eventbridge", "com.example", "Charged"));
    assert_eq!((text("body"), text("event_id")), (r#"{"charge":"ch_1"}"#, text("key")));
    assert_eq!(item["created_at"].as_n().unwrap(), "1700000000000");
    assert_eq!(item["expires_at"].as_n().unwrap(), "1700172800");
    assert_eq!(item["schema"].as_n().unwrap(), "1");
    assert_eq!(item.len(), 12);
    let item = item_from_outbox_entry(&queued());
    assert_eq!((item["to"].as_s().unwrap().as_str(), item["queue"].as_s().unwrap().as_str()), ("sqs", "receipts"));
    assert_eq!(item.len(), 11);
}

#[test]
fn every_missing_or_mistyped_attribute_is_an_error() {
    for whole in [queued(), charged()].map(|entry| item_from_outbox_entry(&entry)) {
        for name in whole.keys() {
            let mut item = whole.clone();
            item.remove(name);
            assert!(matches!(outbox_entry_from_item(&item), Err(RecordError::Missing { .. })), "{name}");
            item.insert(name.clone(), AttributeValue::Bool(true));
            assert!(matches!(outbox_entry_from_item(&item), Err(RecordError::Invalid { .. })), "{name}");
        }
    }
}

#[test]
fn another_version_another_kind_of_destination_or_another_place_is_an_error() {
    let with = |name: &str, value: AttributeValue| {
        let mut item = item_from_outbox_entry(&queued());
        item.insert(name.into(), value);
        outbox_entry_from_item(&item)
    };
    assert_eq!(with("schema", number(2)), Err(RecordError::UnknownSchema { found: 2 }));
    assert_eq!(with("to", string("kafka")), Err(RecordError::Invalid { attribute: "to" }));
    assert_eq!(with("key", string("a b")), Err(RecordError::Invalid { attribute: "key" }));
    for place in ["claim", "outbox#", "outbox#AgICAgICAgICAgICAgICAg#1", "outbox#AgICAgICAgICAgICAgICAg#+001"] {
        assert_eq!(with("sk", string(place)), Err(RecordError::Invalid { attribute: "sk" }), "{place}");
    }
}
