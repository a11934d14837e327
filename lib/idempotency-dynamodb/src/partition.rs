//! All that belongs to one record.

use std::time::Duration;

use idempotency_core::{RecordKey, StoreError};

use crate::{
    DynamoDbStore,
    error::classify,
    item::{attribute, string},
    stored_item::StoredItem,
};

impl DynamoDbStore {
    /// Reads all that belongs to a record, the record too if there is one, in the order of the sort keys. A strongly consistent read of
    /// the partition: parts of large results are read and billed too, and only named.
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when there was no answer, or the request was refused: `dynamodb:Query` is needed on the table.
    pub async fn partition(&self, key: &RecordKey, within: Duration) -> Result<Vec<StoredItem>, StoreError> {
        let query = self
            .client()
            .query()
            .table_name(self.table())
            .consistent_read(true)
            .key_condition_expression("#pk = :pk")
            .expression_attribute_names("#pk", attribute::PK)
            .expression_attribute_values(":pk", string(key.as_str()));
        let mut pages = query.into_paginator().send();
        let read = async {
            let mut items = Vec::new();
            // Page by page, so that at most one page of parts is in memory.
            while let Some(page) = pages.next().await {
                items.extend(page.map_err(classify)?.items().iter().map(StoredItem::read));
            }
            Ok(items)
        };
        Box::pin(self.ask("Query", within, read)).await?
    }
}
