//! The table of records, read for the page.

use std::{cmp::Reverse, collections::HashMap, time::Duration};

use idempotency_core::{Clock, EpochMillis, Record, StoredResult, SystemClock};
use idempotency_dynamodb::{DynamoDbStore, StoredItem, TableScan};
use serde_json::{Value, json};

use crate::{
    error::in_one_line,
    operate::{Beside, State, operation},
};

/// How many rows are shown, and how many items are read for them: the table is read again each second.
const SHOWN_ROWS: usize = 200;
const READ_ITEMS: usize = 5_000;

/// The newest records, by the end of their lease, with what stands beside them; and how many more there are.
pub(super) async fn read(store: &DynamoDbStore) -> Result<Value, String> {
    let (items, is_whole) = scan(store).await?;
    let now = SystemClock.now();
    let mut unreadable = 0;
    let mut partitions: HashMap<String, Vec<StoredItem>> = HashMap::new();
    for item in items {
        unreadable += usize::from(matches!(item, StoredItem::Unreadable { .. }));
        partitions.entry(item.key().as_str().to_owned()).or_default().push(item);
    }
    let mut rows: Vec<_> = partitions.values().filter_map(|items| Some((record(items)?, items))).collect();
    rows.sort_by_key(|(record, _)| (Reverse(record.lease_until), record.key.as_str().to_owned()));
    let more = rows.len().saturating_sub(SHOWN_ROWS);
    let rows: Vec<_> = rows.into_iter().take(SHOWN_ROWS).map(|(record, items)| row(record, items, now)).collect();
    Ok(json!({ "now": now.get(), "rows": rows, "more": more, "is_whole": is_whole, "unreadable": unreadable }))
}

/// The first items of the table, and whether these are all.
async fn scan(store: &DynamoDbStore) -> Result<(Vec<StoredItem>, bool), String> {
    let scan = TableScan::new(1).page_size(1_000).within(Duration::from_secs(5));
    let mut items = Vec::new();
    let mut position = Some(scan.start(0));
    while let Some(from) = position {
        if items.len() >= READ_ITEMS {
            return Ok((items, false));
        }
        let page = scan.page(store, &from).await.map_err(|error| in_one_line(&error))?;
        items.extend(page.items);
        position = page.next;
    }
    Ok((items, true))
}

fn record(items: &[StoredItem]) -> Option<&Record> {
    items.iter().find_map(|item| match item {
        StoredItem::Record(record) => Some(record),
        _ => None,
    })
}

/// Times are absolute, so that the page can count down between two readings. Never the result itself.
fn row(record: &Record, items: &[StoredItem], now: EpochMillis) -> Value {
    let state = State::of(record, now);
    let result = match &record.result {
        Some(StoredResult::Inline(encoded)) => Some(encoded.len()),
        Some(StoredResult::Parts(parts)) => usize::try_from(parts.length).ok(),
        None => None,
    };
    json!({
        "key": record.key.as_str(),
        "operation": operation(&record.key),
        "state": state.name(),
        "meaning": state.meaning(),
        "needs_attention": state.needs_attention(),
        "attempt": record.attempt.get(),
        "epoch": record.epoch.get(),
        "lease_until": record.status.is_leased().then_some(record.lease_until.get()),
        "expires_at": record.expires_at.to_millis().get(),
        "result_bytes": result,
        "beside": Beside::of(items, Some(record.execution)).facts(),
    })
}
