//! The mark of what was sent.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, error::DisplayErrorContext, types::AttributeValue};
use futures::{StreamExt as _, stream};
use idempotency_core::{EpochMillis, OutboxEntry};
use idempotency_dynamodb::{attribute, outbox_attribute};
use lambda_runtime::tracing;
use tokio::time::timeout;

/// Writes at once.
const SIDE_BY_SIDE: usize = 32;

/// The table, where entries are marked.
#[derive(Debug)]
pub(crate) struct Marks {
    client: Client,
    table: String,
}

impl Marks {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Marks entries as sent, one write each, for no longer than `limit`. One that is not marked was sent all the same: that is logged,
    /// and no failure.
    pub(crate) async fn mark(&self, entries: &[OutboxEntry], sent_at: EpochMillis, limit: Duration) {
        let marks = stream::iter(entries).for_each_concurrent(SIDE_BY_SIDE, |entry| self.mark_one(entry, sent_at));
        if timeout(limit, marks).await.is_err() {
            tracing::warn!(entries = entries.len(), "not every entry that was sent could be marked in time");
        }
    }

    async fn mark_one(&self, entry: &OutboxEntry, sent_at: EpochMillis) {
        let marked = self
            .client
            .update_item()
            .table_name(&self.table)
            .key(attribute::PK, AttributeValue::S(entry.record_key.as_str().to_owned()))
            .key(attribute::SK, AttributeValue::S(entry.sort_key()))
            .update_expression("SET #sent_at = :sent_at")
            // An entry that expired meanwhile must not come back as a mark alone.
            .condition_expression("attribute_exists(#pk)")
            .expression_attribute_names("#sent_at", outbox_attribute::SENT_AT)
            .expression_attribute_names("#pk", attribute::PK)
            .expression_attribute_values(":sent_at", AttributeValue::N(sent_at.get().to_string()))
            .send()
            .await;
        if let Err(error) = marked {
            let (pk, sk, event_id) = (&entry.record_key, entry.sort_key(), &entry.id);
            let error = DisplayErrorContext(error);
            tracing::warn!(%pk, sk, %event_id, %error, "an entry of the outbox was sent and is not marked");
        }
    }
}
