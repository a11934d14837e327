//! Comparisons, by hand.

use idempotency_core::Namespace;

use super::*;
use crate::effect_table::effect_tables;

const HOUR: i64 = 3_600_000;
/// When the run began.
const NOW: i64 = 1_000 * HOUR;

fn found(entries: impl IntoIterator<Item = Entry>) -> Findings {
    let effects = r#"[
        {"table": "charges", "business_key": ["tenant", "order"], "record": "r", "created_at": "at", "operations": ["charge"]},
        {"table": "ledger", "record": "r", "operations": ["charge", "transfer"]}
    ]"#;
    let settings = Settings {
        namespace: Namespace::new("dev").unwrap(),
        effects: effect_tables(effects).unwrap(),
        remembered_for: Duration::from_secs(48 * 3600),
        segments: 1,
        read_units_per_second: None,
        memory: 1,
    };
    let (mut comparison, mut findings) = (Comparison::default(), Findings::default());
    entries.into_iter().for_each(|entry| comparison.take(&settings, NOW, entry));
    comparison.end(&settings, NOW, &mut findings);
    findings
}

fn business(table: usize, order: &str, item: &str) -> Entry {
    Entry::Business { table, key: vec!["s:t".into(), order.into()], item: item.into() }
}

fn effect(table: usize, at: Option<i64>) -> Entry {
    Entry::Effect { table, record: "dev#charge#v1#h".into(), item: "charge_id=1".into(), at }
}

fn record(operation: &str, claimed_at: i64, has_effect: bool) -> Entry {
    Entry::Record { record: format!("dev#{operation}#v1#h"), claimed_at, has_effect }
}

#[test]
fn effects_with_one_business_key_are_duplicates_of_the_first() {
    let findings = found([
        business(0, "s:1", "a"),
        business(0, "s:1", "b"),
        business(0, "s:1", "c"),
        business(0, "n:1", "d"),
        business(1, "s:1", "e"),
    ]);
    assert_eq!(findings.duplicates.count, 2);
    let [example] = &findings.duplicates.examples[..] else { panic!("{findings:?}") };
    let expected = json!({ "table": "charges", "business_key": ["s:t", "s:1"], "items": ["a", "b", "c"], "count": 3 });
    assert_eq!(*example, expected);
}

#[test]
fn only_an_effect_whose_record_must_be_there_is_told_to_have_none() {
    for (at, count) in [
        (Some(NOW - 2 * HOUR), 1),
        (Some(NOW - HOUR), 1),
        (Some(NOW - HOUR + 1), 0),
        (Some(NOW - 47 * HOUR), 0),
        (Some(NOW - 47 * HOUR + 1), 1),
        (Some(NOW + HOUR), 0),
        (None, 0),
    ] {
        assert_eq!(found([effect(0, at)]).effects_without_record.count, count, "{at:?}");
        for status in [true, false] {
            let findings = found([record("charge", NOW, status), effect(0, at)]);
            assert_eq!(findings.effects_without_record.count, 0, "{at:?}");
        }
    }
    assert_eq!(found([effect(0, Some(NOW - 2 * HOUR)), effect(1, None)]).effects_without_record.count, 1);
}

#[test]
fn a_settled_result_without_an_effect_in_each_table_of_its_operation_is_told() {
    let old = NOW - HOUR;
    assert_eq!(found([record("charge", old, true)]).records_without_effect.count, 2);
    assert_eq!(found([record("transfer", old, true)]).records_without_effect.count, 1);
    assert_eq!(found([record("other", old, true)]).records_without_effect.count, 0);
    assert_eq!(found([record("charge", old + 1, true)]).records_without_effect.count, 0);
    assert_eq!(found([record("charge", old, false)]).records_without_effect.count, 0);
    let one_of_two = found([effect(0, None), record("charge", old, true)]);
    assert_eq!(one_of_two.records_without_effect.examples, [json!({ "record": "dev#charge#v1#h", "table": "ledger" })]);
    assert_eq!(found([effect(0, None), record("charge", old, true), effect(1, None)]), Findings::default());
}
