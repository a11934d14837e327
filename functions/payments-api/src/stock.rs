//! The table of each tenant's stock, partition key `sku` (S), in which reservations stand as `reservation#{key}`.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        AttributeValue, CancellationReason, Put, ReturnValuesOnConditionCheckFailure::AllOld, TransactWriteItem, Update,
    },
};
use lambda_http::Error;
use lambda_idempotency::IdempotencyKey;
use serde::{Deserialize, Serialize};

use crate::tenant_key::tenant_key;

/// What a reservation is of. One that was given back has none.
const OF: &str = "of";
const QUANTITY: &str = "quantity";

/// The stock of what is sold.
pub(crate) struct Stock {
    client: Client,
    table: String,
}

/// Some of an item, set aside for an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reservation {
    id: String,
    sku: String,
    quantity: u32,
}

/// Why nothing was set aside.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StockError {
    #[error("there is not enough of {0} in stock")]
    NotEnough(String),
    #[error("the stock is being changed by many others")]
    Busy,
    #[error("what was set aside under this key was given back; a new order needs a new key")]
    GivenBack,
    #[error("the table of stock does not have what a reservation says")]
    Unreadable,
    #[error("the stock gave no answer")]
    NoAnswer(#[source] Error),
}

impl Stock {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Says how much of an item there is.
    pub(crate) async fn set(&self, tenant: &str, sku: &str, available: u32) -> Result<(), Error> {
        let sku = AttributeValue::S(tenant_key(tenant, sku));
        let put = self.client.put_item().table_name(&self.table).item("sku", sku);
        put.item("available", number(available)).send().await?;
        Ok(())
    }

    /// Sets some of an item aside under a key. The same key sets the same aside, once.
    pub(crate) async fn reserve(
        &self,
        tenant: &str,
        sku: &str,
        quantity: u32,
        key: &IdempotencyKey,
    ) -> Result<Reservation, StockError> {
        let stock = tenant_key(tenant, sku);
        let reservation = Reservation { id: reservation_id(key), sku: stock.clone(), quantity };
        let row = Put::builder()
            .table_name(&self.table)
            .item("sku", AttributeValue::S(reservation.id.clone()))
            .item(OF, AttributeValue::S(stock.clone()))
            .item(QUANTITY, number(quantity))
            .condition_expression("attribute_not_exists(sku)")
            .return_values_on_condition_check_failure(AllOld);
        let take = self.change(&stock).update_expression("SET available = available - :quantity");
        let take = take
            .condition_expression("available >= :quantity")
            .expression_attribute_values(":quantity", number(quantity));
        match self.transact(row.build().map(|put| TransactWriteItem::builder().put(put).build()), take).await? {
            Transacted::Done => Ok(reservation),
            // At an attempt before this one.
            Transacted::RowRefused(row) if row.contains_key(OF) => Ok(reservation),
            Transacted::RowRefused(_) => Err(StockError::GivenBack),
            Transacted::StockRefused => Err(StockError::NotEnough(sku.to_owned())),
        }
    }

    /// Gives back what was set aside under a key, once, and keeps anything from being set aside under it again: a call of a lost attempt
    /// may arrive after this.
    pub(crate) async fn release(&self, key: &IdempotencyKey) -> Result<(), StockError> {
        let id = AttributeValue::S(reservation_id(key));
        let read = self.client.get_item().table_name(&self.table).key("sku", id.clone()).consistent_read(true);
        let found = read.send().await.map_err(|error| StockError::NoAnswer(error.into()))?;
        let Some(mut row) = found.item else { return self.close(id).await };
        let (of, quantity) = match (row.remove(OF), row.remove(QUANTITY)) {
            (Some(AttributeValue::S(of)), Some(quantity)) => (of, quantity),
            // It was given back before.
            (None, _) => return Ok(()),
            _ => return Err(StockError::Unreadable),
        };
        let row = Update::builder()
            .table_name(&self.table)
            .key("sku", id)
            .update_expression("REMOVE #of")
            .condition_expression("attribute_exists(#of)")
            .expression_attribute_names("#of", OF);
        let give = self.change(&of).update_expression("SET available = available + :quantity");
        let give = give.expression_attribute_values(":quantity", quantity);
        self.transact(row.build().map(|update| TransactWriteItem::builder().update(update).build()), give).await?;
        Ok(())
    }

    /// Takes the place of a reservation that nobody has made.
    async fn close(&self, id: AttributeValue) -> Result<(), StockError> {
        let put = self.client.put_item().table_name(&self.table).item("sku", id);
        let put = put.condition_expression("attribute_not_exists(sku)").send().await;
        match put {
            Ok(_) => Ok(()),
            // It has been made meanwhile; it is given back at the next try.
            Err(error)
                if error.as_service_error().is_some_and(|error| error.is_conditional_check_failed_exception()) =>
            {
                Err(StockError::Busy)
            }
            Err(error) => Err(StockError::NoAnswer(error.into())),
        }
    }

    fn change(&self, sku: &str) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        Update::builder().table_name(&self.table).key("sku", AttributeValue::S(sku.to_owned()))
    }

    async fn transact(
        &self,
        row: Result<TransactWriteItem, aws_sdk_dynamodb::error::BuildError>,
        stock: aws_sdk_dynamodb::types::builders::UpdateBuilder,
    ) -> Result<Transacted, StockError> {
        let no_answer = |error: Error| StockError::NoAnswer(error);
        let row = row.map_err(|error| no_answer(error.into()))?;
        let stock = stock.build().map_err(|error| no_answer(error.into()))?;
        let stock = TransactWriteItem::builder().update(stock).build();
        let sent = self.client.transact_write_items().transact_items(row).transact_items(stock).send().await;
        let error = match sent {
            Ok(_) => return Ok(Transacted::Done),
            Err(error) => error,
        };
        let Some(reasons) = reasons(&error) else { return Err(no_answer(error.into())) };
        match [0, 1].map(|index| refused(reasons.get(index)?)) {
            [Some(row), _] => Ok(Transacted::RowRefused(row)),
            [_, Some(_)] => Ok(Transacted::StockRefused),
            _ if reasons.iter().all(is_over_soon) => Err(StockError::Busy),
            _ => Err(StockError::Unreadable),
        }
    }
}

/// How a change of the stock ended.
enum Transacted {
    Done,
    /// By this row.
    RowRefused(Item),
    StockRefused,
}

type Refusal = SdkError<TransactWriteItemsError, aws_sdk_dynamodb::config::http::HttpResponse>;

type Item = HashMap<String, AttributeValue>;

/// Why a transaction was cancelled, for each of its actions; `None` if it was not.
fn reasons(error: &Refusal) -> Option<&[CancellationReason]> {
    match error.as_service_error()? {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => Some(cancelled.cancellation_reasons()),
        _ => None,
    }
}

/// The row that did not meet an action's condition, as far as DynamoDB gives it.
fn refused(reason: &CancellationReason) -> Option<Item> {
    (reason.code() == Some("ConditionalCheckFailed")).then(|| reason.item().cloned().unwrap_or_default())
}

/// Whether nothing, others, or too many requests stood against an action.
fn is_over_soon(reason: &CancellationReason) -> bool {
    matches!(
        reason.code(),
        None | Some("None" | "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded")
    )
}

/// Where a reservation stands.
fn reservation_id(key: &IdempotencyKey) -> String {
    format!("reservation#{}", key.as_str())
}

fn number(value: u32) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
