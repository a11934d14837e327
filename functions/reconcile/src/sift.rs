//! What is written down of what was read, and what is found at once.

use std::time::Duration;

use idempotency_core::{EpochMillis, Namespace, Record, Status, StoredResult};
use idempotency_dynamodb::StoredItem;
use lambda_idempotency::{Engine, http::read_stored};
use serde_json::{Value, json};

use crate::{
    effect_table::EffectTable,
    entry::Entry,
    findings::Findings,
    item_key::{Item, ItemKey, value_text},
    run::App,
};

/// Looks at a record, and says what is to be compared of it.
pub(crate) async fn record(app: &App, findings: &mut Findings, item: &StoredItem, now: EpochMillis) -> Option<Entry> {
    let record = match item {
        StoredItem::Record(record) => record,
        StoredItem::Unreadable { key, error, .. } => {
            findings.unreadable.add(1, || json!({ "record": key.as_str(), "error": error.to_string() }));
            return None;
        }
        _ => return None,
    };
    // An expired one is as good as deleted.
    if now >= record.expires_at.to_millis() {
        return None;
    }
    let operation = operation(record)?;
    let statuses = findings.records.entry(operation.to_owned()).or_default();
    *statuses.entry(record.status.to_string()).or_default() += 1;
    let is_left = now >= record.lease_until;
    match record.status {
        Status::InFlight if is_left => findings.overdue.add(1, || told(record)),
        Status::Compensating if is_left => findings.compensating.add(1, || told(record)),
        Status::Stuck => findings.stuck.add(1, || told(record)),
        _ => {}
    }
    let is_compared = app.settings.effects.iter().any(|table| table.record.is_some());
    is_compared.then_some(())?;
    Some(Entry::Record {
        record: record.key.as_str().to_owned(),
        // An epoch is the time of its claim, or a little more where clocks differ.
        claimed_at: record.epoch.get(),
        has_effect: record.status == Status::Completed && says_of_an_effect(app, record).await,
    })
}

/// Says what is to be compared of an effect.
pub(crate) fn effect(
    findings: &mut Findings,
    namespace: &Namespace,
    table: usize,
    described: &EffectTable,
    key: &[String],
    item: &Item,
) -> Vec<Entry> {
    let name = ItemKey::of(item, key).text();
    let mut entries = Vec::new();
    // An item without one of the attributes is none of those that have a business key.
    let business: Option<Vec<String>> =
        described.business_key.iter().map(|attribute| value_text(item.get(attribute)?)).collect();
    if let Some(key) = business.filter(|key| !key.is_empty()) {
        entries.push(Entry::Business { table, key, item: name.clone() });
    }
    let text = |attribute: &Option<String>| item.get(attribute.as_ref()?)?.as_s().ok().cloned();
    if let Some(record) = text(&described.record) {
        // Its record is not among those that are read.
        if record.split_once('#').is_some_and(|(of, _)| of != namespace.as_str()) {
            findings.effects_of_other_namespaces += 1;
            return entries;
        }
        let at = described.created_at.as_ref().and_then(|attribute| item.get(attribute)?.as_n().ok()?.parse().ok());
        entries.push(Entry::Effect { table, record, item: name, at });
    }
    entries
}

/// The name of a record's operation, if it is one of a deployment.
fn operation(record: &Record) -> Option<&str> {
    record.key.operation_name()
}

fn told(record: &Record) -> Value {
    json!({
        "record": record.key.as_str(),
        "status": record.status.to_string(),
        "attempt": record.attempt.get(),
        "lease_until": record.lease_until.get(),
    })
}

/// Whether a result says that there was an effect. An HTTP response from 400 on does not; nor does an empty one, which no handler's is: a
/// marker (`Attempt::once`) is a record of its operation too and stands in no table of effects, and an old function's result of which no
/// response could be made says nothing. Of a result whose parts stand elsewhere this is not known, and it is taken for one of an effect.
async fn says_of_an_effect(app: &App, record: &Record) -> bool {
    if !matches!(record.result, Some(StoredResult::Inline(_))) {
        return true;
    }
    // Nothing is asked for an inline result.
    let read = Engine::new(app.store.clone()).read_result(record, Duration::from_secs(1)).await;
    let Some(body) = read.ok().and_then(|replay| replay.into_body()) else { return true };
    !body.is_empty() && read_stored(&body).is_none_or(|response| response.status().as_u16() < 400)
}
