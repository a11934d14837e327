//! Entries that were staged before those of a batch and come behind them in the stream.
//!
//! The changes of one transaction may come in any order, and in different batches ("Amazon DynamoDB Transactions: How it works",
//! "Using DynamoDB Streams with transactions"). The transaction has committed when the first of them comes, so all of them are in the
//! table then.
//!
//! One that can never be sent is passed over here: its own record is reported and given up for it, before or after.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::{Client, error::DisplayErrorContext, types::AttributeValue};
use idempotency_core::{EventId, OutboxEntry};
use idempotency_dynamodb::{attribute, outbox_attribute, outbox_entry_from_item};
use lambda_runtime::tracing;

use crate::{
    known::Known,
    staged::{Staged, Unreadable},
};

/// The table, where entries are read that have not come yet.
#[derive(Debug)]
pub(crate) struct Predecessors {
    client: Client,
    table: String,
}

type Item = HashMap<String, AttributeValue>;

impl Predecessors {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// The batch, and what must be sent before something in it and was not sent yet. Reads the table only where something is missing.
    /// What cannot be read keeps those from being sent that come behind it.
    pub(crate) async fn complete(&self, mut staged: Vec<Staged>, known: &Known) -> Vec<Staged> {
        for (execution, last) in incomplete(&staged, known) {
            let is_of = |staged: &Staged| staged.execution() == execution && staged.pk == last.record_key.as_str();
            let place =
                staged.iter().filter(|staged| is_of(staged)).map(|staged| staged.place).min().unwrap_or_default();
            match self.read(&last, &execution).await {
                Ok(items) => {
                    let missing = items.iter().filter_map(|item| before(item, &last, place));
                    let missing: Vec<_> = missing
                        .filter(|missing| {
                            !staged.iter().any(|staged| (&staged.pk, &staged.sk) == (&missing.pk, &missing.sk))
                        })
                        .collect();
                    staged.extend(missing);
                }
                Err(why) => {
                    tracing::error!(pk = %last.record_key, why, "what is to be sent before an entry of the outbox could not be read");
                    for staged in staged.iter_mut().filter(|staged| is_of(staged)) {
                        staged.entry = Err(Unreadable::Predecessors);
                    }
                }
            }
        }
        staged
    }

    /// The entries of an execution up to its last one in the batch.
    async fn read(&self, last: &OutboxEntry, execution: &str) -> Result<Vec<Item>, String> {
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("#pk = :pk AND #sk BETWEEN :first AND :last")
            .expression_attribute_names("#pk", attribute::PK)
            .expression_attribute_names("#sk", attribute::SK)
            .expression_attribute_values(":pk", AttributeValue::S(last.record_key.as_str().to_owned()))
            .expression_attribute_values(":first", AttributeValue::S(format!("{execution}#")))
            .expression_attribute_values(":last", AttributeValue::S(last.sort_key()));
        let items = query.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        items.map_err(|error| DisplayErrorContext(error).to_string())
    }
}

/// An item as an entry of a batch, if it was not sent yet.
fn before(item: &Item, last: &OutboxEntry, place: usize) -> Option<Staged> {
    let sk = item.get(attribute::SK)?.as_s().ok()?;
    let is_new = !item.contains_key(outbox_attribute::SENT_AT) && *sk != last.sort_key();
    is_new.then(|| Staged {
        place,
        pk: last.record_key.as_str().to_owned(),
        sk: sk.clone(),
        is_ahead: true,
        entry: outbox_entry_from_item(item).map_err(Unreadable::from),
    })
}

/// The executions of which something in the batch has predecessors that are neither in it nor known to be sent, and their last entries
/// in the batch.
fn incomplete(staged: &[Staged], known: &Known) -> Vec<(String, OutboxEntry)> {
    let mut executions = BTreeMap::<_, Vec<&OutboxEntry>>::new();
    for staged in staged {
        if let Ok(entry) = &staged.entry {
            executions.entry((&staged.pk, staged.execution())).or_default().push(entry);
        }
    }
    let incomplete = executions.into_iter().filter_map(|((_, execution), entries)| {
        let last = entries.iter().max_by_key(|entry| entry.ordinal)?;
        let is_there = |ordinal: u32| {
            entries.iter().any(|entry| entry.ordinal == ordinal)
                || known.has(&EventId::new(&last.record_key, last.execution, ordinal))
        };
        (!(0..last.ordinal).all(is_there)).then(|| (execution.to_owned(), (*last).clone()))
    });
    incomplete.collect()
}
