//! Changes by an operator, each in one transaction with what is told of it.

use std::time::Duration;

use aws_sdk_dynamodb::{
    error::BuildError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{CancellationReason, Delete, Put, ReturnValuesOnConditionCheckFailure::AllOld, TransactWriteItem},
};
use futures::{StreamExt, stream};
use idempotency_core::{Record, RecordKey, Replaced, StoreError, Write};

use crate::{
    DynamoDbStore,
    audit_item::{AuditEntry, item_from_audit},
    error::classify,
    item::{CLAIM, Item, attribute, item_from_record, number, record_from_item, string},
    put_condition::PutCondition,
};

/// How many deletions are on their way at a time.
const DELETIONS_IN_FLIGHT: usize = 8;

impl DynamoDbStore {
    /// Writes `record` over the one that was `found`, if that one is unchanged, and the entry about it: both or neither.
    ///
    /// Ok(`Replaced`): both are stored. Ok(`Differs(old)`): `old` (or nothing) is stored, and nothing was written.
    ///
    /// Dropping the future is like a lost reply: both may be written, or neither.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then. `dynamodb:PutItem` is needed on the table.
    pub async fn replace_audited(
        &self,
        found: &Record,
        record: &Record,
        audit: &AuditEntry,
        within: Duration,
    ) -> Result<Replaced, StoreError> {
        let condition = unchanged(found);
        let put = Put::builder()
            .table_name(self.table())
            .set_item(Some(item_from_record(record)))
            .condition_expression(condition.expression)
            .set_expression_attribute_names(Some(condition.names))
            .set_expression_attribute_values(condition.values)
            .return_values_on_condition_check_failure(AllOld)
            .build();
        let action = put.map(|put| TransactWriteItem::builder().put(put).build());
        self.audited(action, audit, within).await
    }

    /// Removes the record that was `found`, if it is unchanged, and writes the entry about it: both or neither. What stands beside the
    /// record stays.
    ///
    /// Answers and drops like [`replace_audited`](Self::replace_audited).
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then. `dynamodb:DeleteItem` and `dynamodb:PutItem` are needed on the table.
    pub async fn remove_audited(
        &self,
        found: &Record,
        audit: &AuditEntry,
        within: Duration,
    ) -> Result<Replaced, StoreError> {
        let condition = unchanged(found);
        let delete = Delete::builder()
            .table_name(self.table())
            .set_key(Some(key_of(&found.key, CLAIM)))
            .condition_expression(condition.expression)
            .set_expression_attribute_names(Some(condition.names))
            .set_expression_attribute_values(condition.values)
            .return_values_on_condition_check_failure(AllOld)
            .build();
        let action = delete.map(|delete| TransactWriteItem::builder().delete(delete).build());
        self.audited(action, audit, within).await
    }

    /// Deletes items beside a record, by their sort keys. One that is gone already counts as deleted. The record itself is none of them:
    /// see [`remove_audited`](Self::remove_audited).
    ///
    /// Dropping the future may leave some of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the first that could not be deleted; others may be. `dynamodb:DeleteItem` is needed on the table.
    pub async fn delete_beside(
        &self,
        key: &RecordKey,
        sort_keys: impl IntoIterator<Item = String>,
        within: Duration,
    ) -> Result<usize, StoreError> {
        let deletions = sort_keys.into_iter().filter(|sort_key| sort_key != CLAIM).map(|sort_key| {
            let delete = self.client().delete_item().table_name(self.table()).set_key(Some(key_of(key, &sort_key)));
            async move { self.ask("DeleteItem", within, delete.send()).await?.map(drop).map_err(classify) }
        });
        let mut deletions = stream::iter(deletions.collect::<Vec<_>>()).buffer_unordered(DELETIONS_IN_FLIGHT);
        let mut deleted = 0;
        while let Some(deletion) = deletions.next().await {
            deletion?;
            deleted += 1;
        }
        Ok(deleted)
    }

    async fn audited(
        &self,
        action: Result<TransactWriteItem, BuildError>,
        audit: &AuditEntry,
        within: Duration,
    ) -> Result<Replaced, StoreError> {
        let absent = PutCondition::absent();
        let told = Put::builder()
            .table_name(self.table())
            .set_item(Some(item_from_audit(audit)))
            .condition_expression(absent.expression)
            .set_expression_attribute_names(Some(absent.names))
            .build()
            .map(|put| TransactWriteItem::builder().put(put).build());
        let actions = action.and_then(|action| Ok(vec![action, told?]));
        let actions = actions.map_err(|error| StoreError::Refused(error.into()))?;
        let send = self.client().transact_write_items().set_transact_items(Some(actions)).send();
        let Err(error) = Box::pin(self.ask("TransactWriteItems", within, send)).await? else {
            return Ok(Replaced::Replaced);
        };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                let code = |reason: &CancellationReason| reason.code().unwrap_or_default().to_owned();
                match cancelled.cancellation_reasons().first() {
                    Some(reason) if code(reason) == "ConditionalCheckFailed" => {
                        Ok(Replaced::Differs(reason.item().map(record_from_item).transpose()?))
                    }
                    // Another write of the record is under way, or there were too many.
                    _ => Err(StoreError::Throttled(error.into())),
                }
            }
            Some(TransactWriteItemsError::TransactionInProgressException(_)) => Err(StoreError::Unknown(error.into())),
            _ => Err(classify(error)),
        }
    }
}

/// The record's version, and its lease: whoever ends a lease early ([`Engine`](idempotency_core::Engine) does when undoing is left to
/// others) or begins a new one changes it.
fn unchanged(found: &Record) -> PutCondition {
    let mut condition = PutCondition::of(&Write::Replace { expected: found.version(), record: found.clone() });
    condition.expression = "#owner = :owner AND #status = :status AND #epoch = :epoch AND #lease = :lease";
    condition.names.insert("#lease".to_owned(), attribute::LEASE_UNTIL.to_owned());
    condition.values.get_or_insert_default().insert(":lease".to_owned(), number(found.lease_until.get()));
    condition
}

fn key_of(key: &RecordKey, sort_key: &str) -> Item {
    Item::from([(attribute::PK.into(), string(key.as_str())), (attribute::SK.into(), string(sort_key))])
}
