//! The store: conditional puts, and the old record out of a failed condition.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    operation::put_item::{PutItemError, builders::PutItemFluentBuilder},
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure},
};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use idempotency_core::{
    Committed, Effect, EpochSeconds, ExecutionId, Inserted, OwnerToken, Record, RecordKey, Replaced, Row, RowInserted,
    Store, StoreError, Version, Write, Written,
};

use crate::{
    batch_support::BatchSupport,
    deadline::Deadline,
    error::classify,
    item::{CLAIM, Item, attribute, binary, item_from_record, item_size, number, part_sk, record_from_item, string},
    observer::{StoreObserver, Watch},
    put_condition::PutCondition,
    row_item::{item_from_row, row_from_item},
    transaction,
};

/// How many parts of one result are on their way at a time. A result of Lambda's limit (6 MB) has 18.
const PARTS_IN_FLIGHT: usize = 8;

const PUT_ITEM: &str = "PutItem";
const GET_ITEM: &str = "GetItem";

/// How many requests of one call for many records are on their way at a time. One vCPU is busy with fewer.
pub(crate) const IN_FLIGHT: usize = 32;

/// Records in a DynamoDB table with the partition key `pk` (S), the sort key `sk` (S) and time to live on `expires_at`.
///
/// Every write is one `PutItem` of the whole record under a condition, so a record is never half written. The claim needs
/// no read: `ReturnValuesOnConditionCheckFailure` brings the stored record with the failed condition, free of charge
/// (DynamoDB Developer Guide, "Condition expressions").
///
/// Many writes at once ([`Store::write_many`]) are PartiQL statements that leave the same items, 25 in a `BatchExecuteStatement`, and
/// many reads ([`Store::get_many`]) are 100 in a `BatchGetItem`. Records that refused an insert are not told by such a batch and are
/// read together, so ten inserts are one request if all keys are new and two if not. What a batch leaves open (a throttled member, a
/// lost answer) is asked for again by single requests. Where batches are refused and single requests are not, because a permission
/// is missing or the engine knows no PartiQL, the store says so once in the log and stops sending them.
///
/// Cloning is cheap; clones share the client, and what was learnt about batches.
#[derive(Clone)]
pub struct DynamoDbStore {
    client: Client,
    table: String,
    pub(crate) batches: Arc<BatchSupport>,
    pub(crate) watch: Watch,
}

/// How a conditional put ended.
enum Put {
    Written,
    /// The condition failed; the stored item, if the condition allows for none.
    Refused(Option<Item>),
}

impl DynamoDbStore {
    /// A store on `table`. Makes no request.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into(), batches: Arc::default(), watch: Watch::default() }
    }

    /// The same store, which tells of its requests.
    #[must_use]
    pub fn observed_by(self, observer: impl StoreObserver) -> Self {
        Self { watch: Watch::by(observer), ..self }
    }

    /// The table's name.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The client.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// The item of a record that is about to be written.
    fn item(&self, record: &Record) -> Item {
        let item = item_from_record(record);
        self.watch.wrote(record, || item_size(&item));
        item
    }

    /// Waits for an answer no longer than `within`.
    pub(crate) fn ask<T>(
        &self,
        request: &'static str,
        within: Duration,
        answer: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.watch.limit(request, Deadline::after(within), answer)
    }

    fn put(&self, item: Item) -> PutItemFluentBuilder {
        self.client.put_item().table_name(&self.table).set_item(Some(item))
    }

    async fn put_if(&self, item: Item, condition: PutCondition, within: Duration) -> Result<Put, StoreError> {
        let send = self
            .put(item)
            .condition_expression(condition.expression)
            .set_expression_attribute_names(Some(condition.names))
            .set_expression_attribute_values(condition.values)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send();
        let error = match self.ask(PUT_ITEM, within, send).await? {
            Ok(_) => return Ok(Put::Written),
            Err(error) => error,
        };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => Ok(Put::Refused(failed.item().cloned())),
            _ => Err(classify(error)),
        }
    }

    async fn get_item(&self, key: &RecordKey, sk: String, deadline: Deadline) -> Result<Option<Item>, StoreError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.table)
            .key(attribute::PK, string(key.as_str()))
            .key(attribute::SK, AttributeValue::S(sk))
            .consistent_read(true)
            .send();
        Ok(self.watch.limit(GET_ITEM, deadline, get).await?.map_err(classify)?.item)
    }

    async fn get_part(&self, key: &RecordKey, sk: String, deadline: Deadline) -> Result<Option<Bytes>, StoreError> {
        let item = self.get_item(key, sk, deadline).await?;
        match item.and_then(|mut item| item.remove(attribute::PART)) {
            Some(AttributeValue::B(part)) => Ok(Some(part.into_inner().into())),
            _ => Ok(None),
        }
    }
}

impl Store for DynamoDbStore {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        match self.put_if(self.item(record), PutCondition::absent(), within).await? {
            Put::Written => Ok(Inserted::Inserted),
            Put::Refused(Some(old)) => Ok(Inserted::Exists(record_from_item(&old)?)),
            Put::Refused(None) => Err(no_old_item()),
        }
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        let write = Write::Replace { expected, record: record.clone() };
        match self.put_if(self.item(record), PutCondition::of(&write), within).await? {
            Put::Written => Ok(Replaced::Replaced),
            Put::Refused(old) => Ok(Replaced::Differs(old.as_ref().map(record_from_item).transpose()?)),
        }
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        let actions = transaction::actions(&self.table, write, effects);
        let actions = actions.map_err(|error| StoreError::Refused(error.into()))?;
        if let Some(write) = write {
            self.watch.wrote(write.record(), || item_size(&item_from_record(write.record())));
        }
        // The SDK gives the call a `ClientRequestToken`, the same for all its transmissions.
        let send = self.client.transact_write_items().set_transact_items(Some(actions)).send();
        match self.ask("TransactWriteItems", within, send).await? {
            Ok(_) => Ok(Committed::Committed),
            Err(error) => transaction::explain(error, write.is_some(), effects),
        }
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        match self.put_if(item_from_row(row), PutCondition::absent(), within).await? {
            Put::Written => Ok(RowInserted::Inserted),
            Put::Refused(Some(old)) => Ok(RowInserted::Exists(row_from_item(&old)?)),
            Put::Refused(None) => Err(no_old_item()),
        }
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        let put = self.put(item_from_row(row)).send();
        self.ask(PUT_ITEM, within, put).await?.map(drop).map_err(classify)
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        let pages = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("#pk = :pk AND begins_with(#sk, :prefix)")
            .expression_attribute_names("#pk", attribute::PK)
            .expression_attribute_names("#sk", attribute::SK)
            .expression_attribute_values(":pk", string(key.as_str()))
            .expression_attribute_values(":prefix", string(&Row::sort_key_prefix(execution)))
            .into_paginator()
            .items()
            .send();
        let items = pages.collect::<Result<Vec<Item>, _>>();
        let items = self.ask("Query", within, items).await?.map_err(classify)?;
        Ok(items.iter().map(row_from_item).collect::<Result<_, _>>()?)
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        let item = self.get_item(key, CLAIM.to_owned(), Deadline::after(within)).await?;
        Ok(item.as_ref().map(record_from_item).transpose()?)
    }

    async fn write_many(&self, writes: &[Write], within: Duration) -> Vec<Result<Written, StoreError>> {
        self.write_together(writes, Deadline::after(within)).await
    }

    async fn get_many(&self, keys: &[RecordKey], within: Duration) -> Vec<Result<Option<Record>, StoreError>> {
        self.get_together(keys, Deadline::after(within)).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        let deadline = Deadline::after(within);
        let mut puts = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let put = self.put(Item::from([
                (attribute::PK.into(), string(key.as_str())),
                (attribute::SK.into(), string(&part_sk(owner, index))),
                (attribute::PART.into(), binary(part)),
                (attribute::EXPIRES_AT.into(), number(expires_at.get())),
            ]));
            let put = self.watch.limit(PUT_ITEM, deadline, put.send());
            puts.push(async move { put.await?.map(drop).map_err(classify) });
        }
        stream::iter(puts).buffer_unordered(PARTS_IN_FLIGHT).try_collect().await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        let deadline = Deadline::after(within);
        let gets = (0..count as usize).map(|index| self.get_part(key, part_sk(owner, index), deadline));
        let parts: Vec<Option<Bytes>> = stream::iter(gets).buffered(PARTS_IN_FLIGHT).try_collect().await?;
        Ok(parts.into_iter().collect())
    }
}

/// Every DynamoDB returns the item; an engine that does not would make each replay a takeover in the dark.
fn no_old_item() -> StoreError {
    StoreError::Refused(
        "the engine did not return the stored item; it must support ReturnValuesOnConditionCheckFailure".into(),
    )
}

impl fmt::Debug for DynamoDbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoDbStore").field("table", &self.table).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use idempotency_core::{
        AttemptNumber, Epoch, EpochMillis, ExecutionId, Fingerprint, OwnerToken, Record, RecordKey, Status, Store,
    };

    use super::*;

    /// Bytes. They are part of each future up to the handler's, and moved with it.
    const SMALL: usize = 2_000;

    #[test]
    fn waiting_for_dynamodb_takes_little_room_in_who_waits() {
        let client = Client::from_conf(aws_sdk_dynamodb::Config::builder().behavior_version_latest().build());
        let (store, within) = (DynamoDbStore::new(client, "t"), Duration::from_secs(1));
        let key = RecordKey::from_stored("dev#charge#v1#1");
        let (owner, execution) = (OwnerToken::from_bytes([1; 16]), ExecutionId::from_bytes([2; 16]));
        let record = Record {
            key: key.clone(),
            status: Status::InFlight,
            owner,
            execution,
            epoch: Epoch::new(1),
            attempt: AttemptNumber::FIRST,
            lease_until: EpochMillis::new(1),
            expires_at: EpochSeconds::new(1),
            fingerprint: Fingerprint::from_bytes([3; 32]),
            result: None,
            renewed: false,
            resolved_at: None,
        };
        let write = Write::Insert(record.clone());
        let sizes = [
            ("insert_if_absent", size_of_val(&store.insert_if_absent(&record, within))),
            ("replace", size_of_val(&store.replace(record.version(), &record, within))),
            ("get", size_of_val(&store.get(&key, within))),
            ("commit", size_of_val(&store.commit(Some(&write), &[], within))),
            ("rows", size_of_val(&store.rows(&key, execution, within))),
            ("write_many", size_of_val(&store.write_many(&[], within))),
            ("get_many", size_of_val(&store.get_many(&[], within))),
            ("put_parts", size_of_val(&store.put_parts(&key, owner, &[], EpochSeconds::new(1), within))),
            ("get_parts", size_of_val(&store.get_parts(&key, owner, 1, within))),
        ];
        let large: Vec<_> = sizes.iter().filter(|(_, size)| *size > SMALL).collect();
        assert!(large.is_empty(), "{large:?} of {sizes:?}");
    }
}
