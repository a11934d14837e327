//! The table of records as somebody outside sees and changes it: time passes, rows vanish.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    Client,
    error::{DisplayErrorContext, SdkError},
    types::AttributeValue,
};
use idempotency_core::{Clock, Record, SystemClock};
use idempotency_dynamodb::{attribute, record_from_item};

use crate::{CliError, Stack};

type Item = HashMap<String, AttributeValue>;

/// The table of records, reached without the fault proxy. For tables of a handful of records, as tests have.
#[derive(Clone, Debug)]
pub struct Records(Client);

impl Records {
    /// The table of records that this client reaches.
    pub const fn new(client: Client) -> Self {
        Self(client)
    }

    /// The records.
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// When the table cannot be read, or a record in it cannot.
    pub async fn all(&self) -> Result<Vec<Record>, CliError> {
        let items = self.items().await?;
        let records = items.iter().filter(|item| is_record(item));
        records.map(|item| record_from_item(item).map_err(CliError::records)).collect()
    }

    /// What stands beside the records: rows of steps and memos, staged events, parts of large results.
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// When the table cannot be read.
    pub async fn beside(&self) -> Result<Vec<HashMap<String, AttributeValue>>, CliError> {
        Ok(self.items().await?.into_iter().filter(|item| !is_record(item)).collect())
    }

    /// Sets an attribute of every record.
    ///
    /// Dropping the future may leave some records as they were.
    ///
    /// # Errors
    ///
    /// When the table cannot be read or written.
    pub async fn set(&self, name: &str, value: AttributeValue) -> Result<(), CliError> {
        for item in self.items().await?.into_iter().filter(is_record) {
            let update = self.0.update_item().table_name(Stack::TABLE).set_key(Some(key_of(&item)));
            let update = update.update_expression("SET #name = :value").expression_attribute_names("#name", name);
            update.expression_attribute_values(":value", value.clone()).send().await.map_err(store_error)?;
        }
        Ok(())
    }

    /// Does to every record what the end of its lease does.
    ///
    /// Dropping the future may leave some records as they were.
    ///
    /// # Errors
    ///
    /// When the table cannot be read or written.
    pub async fn end_leases(&self) -> Result<(), CliError> {
        let over = SystemClock.now().get() - 1;
        self.set(attribute::LEASE_UNTIL, AttributeValue::N(over.to_string())).await
    }

    /// Does to every record what the end of its storage TTL does, before DynamoDB deletes it.
    ///
    /// Dropping the future may leave some records as they were.
    ///
    /// # Errors
    ///
    /// When the table cannot be read or written.
    pub async fn end_storage_ttls(&self) -> Result<(), CliError> {
        self.set(attribute::EXPIRES_AT, AttributeValue::N("1".to_owned())).await
    }

    /// Deletes every record with what stands beside it, as an operator or DynamoDB's TTL would.
    ///
    /// Dropping the future may leave some records.
    ///
    /// # Errors
    ///
    /// When the table cannot be read or written.
    pub async fn delete_all(&self) -> Result<(), CliError> {
        for item in self.items().await? {
            let delete = self.0.delete_item().table_name(Stack::TABLE).set_key(Some(key_of(&item)));
            delete.send().await.map_err(store_error)?;
        }
        Ok(())
    }

    async fn items(&self) -> Result<Vec<Item>, CliError> {
        let scan = self.0.scan().table_name(Stack::TABLE).consistent_read(true).into_paginator().items().send();
        scan.try_collect().await.map_err(store_error)
    }
}

fn is_record(item: &Item) -> bool {
    item.get(attribute::SK).is_some_and(|sk| sk.as_s().is_ok_and(|sk| sk == "claim"))
}

fn key_of(item: &Item) -> Item {
    let keys = [attribute::PK, attribute::SK].into_iter();
    keys.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

fn store_error<E: std::error::Error + Send + Sync + 'static>(error: SdkError<E>) -> CliError {
    CliError::records(DisplayErrorContext(error).to_string())
}
