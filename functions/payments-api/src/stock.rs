//! The table of each tenant's stock, partition key `sku` (S), in which reservations stand as `reservation#{key}`.

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{AttributeValue, Delete, Put, TransactWriteItem, Update},
};
use lambda_http::Error;
use lambda_idempotency::IdempotencyKey;
use serde::{Deserialize, Serialize};

use crate::tenant_key::tenant_key;

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
            .item("of", AttributeValue::S(stock.clone()))
            .item("quantity", number(quantity))
            .condition_expression("attribute_not_exists(sku)");
        let take = self.change(&stock).update_expression("SET available = available - :quantity");
        let take = take
            .condition_expression("available >= :quantity")
            .expression_attribute_values(":quantity", number(quantity));
        match self.transact(row.build().map(|put| TransactWriteItem::builder().put(put).build()), take).await? {
            // Set aside now, or at an attempt before this one.
            Transacted::Done | Transacted::RowRefused => Ok(reservation),
            Transacted::StockRefused => Err(StockError::NotEnough(sku.to_owned())),
        }
    }

    /// Gives back what was set aside under a key, once. Nothing may have been.
    pub(crate) async fn release(&self, key: &IdempotencyKey) -> Result<(), StockError> {
        let id = AttributeValue::S(reservation_id(key));
        let read = self.client.get_item().table_name(&self.table).key("sku", id.clone()).consistent_read(true);
        let found = read.send().await.map_err(|error| StockError::NoAnswer(error.into()))?;
        let Some(mut row) = found.item else { return Ok(()) };
        let (Some(AttributeValue::S(of)), Some(quantity)) = (row.remove("of"), row.remove("quantity")) else {
            return Err(StockError::NoAnswer("a reservation without item or quantity".into()));
        };
        let row =
            Delete::builder().table_name(&self.table).key("sku", id).condition_expression("attribute_exists(sku)");
        let give = self.change(&of).update_expression("SET available = available + :quantity");
        let give = give.expression_attribute_values(":quantity", quantity);
        self.transact(row.build().map(|delete| TransactWriteItem::builder().delete(delete).build()), give).await?;
        Ok(())
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
        match refused(&error) {
            [true, _] => Ok(Transacted::RowRefused),
            [_, true] => Ok(Transacted::StockRefused),
            _ if is_cancelled(&error) => Err(StockError::Busy),
            _ => Err(no_answer(error.into())),
        }
    }
}

/// How a change of the stock ended.
enum Transacted {
    Done,
    RowRefused,
    StockRefused,
}

type Refusal = SdkError<TransactWriteItemsError, aws_sdk_dynamodb::config::http::HttpResponse>;

/// Which of the two actions was refused by its condition.
fn refused(error: &Refusal) -> [bool; 2] {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
        return [false; 2];
    };
    let reasons = cancelled.cancellation_reasons();
    [0, 1].map(|index| reasons.get(index).is_some_and(|reason| reason.code() == Some("ConditionalCheckFailed")))
}

fn is_cancelled(error: &Refusal) -> bool {
    matches!(error.as_service_error(), Some(TransactWriteItemsError::TransactionCanceledException(_)))
}

/// Where a reservation stands.
fn reservation_id(key: &IdempotencyKey) -> String {
    format!("reservation#{}", key.as_str())
}

fn number(value: u32) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
