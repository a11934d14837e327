//! What is there at the end of each claim's effects.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::{error::DisplayErrorContext, types::AttributeValue};
use serde_json::Value;

use crate::{CliError, Relay, Stack};

/// Each claim's effects, by its id.
#[derive(Default)]
pub(super) struct Books {
    /// The texts of its chunks, by place.
    pub(super) chunks: BTreeMap<String, BTreeMap<usize, String>>,
    /// Its summary's wordings: beside its chunks, in its row, in its events.
    pub(super) wordings: BTreeMap<String, BTreeSet<String>>,
    /// How many rows it has.
    pub(super) rows: BTreeMap<String, usize>,
    /// How often its sender was told.
    pub(super) notifications: BTreeMap<String, usize>,
    /// The ids of its events on the bus.
    pub(super) events: BTreeMap<String, BTreeSet<String>>,
}

impl Books {
    pub(super) async fn of(stack: &Stack, relay: &Relay) -> Result<Self, CliError> {
        let mut books = Self::default();
        books.read(stack, Stack::CHUNKS_TABLE).await?;
        books.read(stack, Stack::CLAIMS_TABLE).await?;
        for told in stack.notifier().ledger() {
            *books.notifications.entry(member(&told.body, "claim_id")).or_default() += 1;
        }
        for message in relay.bus_events().messages() {
            let event: Value = serde_json::from_str(&message.body).unwrap_or_default();
            let detail = event.get("detail").unwrap_or(&Value::Null);
            let claim = member(detail, "claim_id");
            books.wordings.entry(claim.clone()).or_default().insert(member(detail, "summary"));
            books.events.entry(claim).or_default().insert(member(detail, "outboxEventId"));
        }
        Ok(books)
    }

    /// Enters the rows of a table: chunks have a place, claims none.
    async fn read(&mut self, stack: &Stack, table: &str) -> Result<(), CliError> {
        let scan = stack.dynamodb().scan().table_name(table).consistent_read(true);
        let mut items = scan.into_paginator().items().send();
        while let Some(item) = items.next().await {
            let item = item.map_err(|error| CliError::records(DisplayErrorContext(error).to_string()))?;
            let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
            let claim = text("claim_id");
            self.wordings.entry(claim.clone()).or_default().insert(text("summary"));
            match item.get("index").and_then(|value| AttributeValue::as_n(value).ok()) {
                None => *self.rows.entry(claim).or_default() += 1,
                Some(index) => {
                    let index = index.parse().unwrap_or(usize::MAX);
                    self.chunks.entry(claim).or_default().insert(index, text("text"));
                }
            }
        }
        Ok(())
    }

    /// Whose effects there are.
    pub(super) fn claims(&self) -> BTreeSet<&String> {
        let rows = self.rows.keys().chain(self.notifications.keys());
        self.chunks.keys().chain(self.wordings.keys()).chain(rows).chain(self.events.keys()).collect()
    }

    /// How many wordings, rows, notifications and events a claim has.
    pub(super) fn counts(&self, claim: &str) -> [usize; 4] {
        let (rows, told) = (self.rows.get(claim), self.notifications.get(claim));
        let wordings = self.wordings.get(claim).map_or(0, BTreeSet::len);
        let events = self.events.get(claim).map_or(0, BTreeSet::len);
        [wordings, rows.copied().unwrap_or(0), told.copied().unwrap_or(0), events]
    }
}

fn member(json: &Value, name: &str) -> String {
    json.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
