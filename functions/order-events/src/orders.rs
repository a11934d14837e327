//! The table of orders: partition key `customer_id` (S), sort key `order_id` (S).

use aws_sdk_dynamodb::{
    Client,
    error::{DisplayErrorContext, SdkError},
    operation::put_item::PutItemError,
    types::AttributeValue,
};

use crate::order_event::OrderEvent;

/// Each customer's orders, as of the newest event of each.
pub(crate) struct Orders {
    client: Client,
    table: String,
}

/// The order could not be stored, as far as is known. It can be stored again.
#[derive(Debug, thiserror::Error)]
#[error("the table of orders cannot be written: {0}")]
pub(crate) struct StoreError(String);

impl Orders {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Makes an order what an event says, unless an event that is as new or newer has made it so.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when DynamoDB gave no answer or an error.
    pub(crate) async fn follow(&self, event: &OrderEvent) -> Result<(), StoreError> {
        let (order, text) = (&event.order, |text: &str| AttributeValue::S(text.to_owned()));
        let version = AttributeValue::N(order.sequence.to_string());
        let stored = self
            .client
            .put_item()
            .table_name(&self.table)
            .item("customer_id", text(order.customer_id.as_str()))
            .item("order_id", text(order.order_id.as_str()))
            .item("status", text(event.status.as_str()))
            .item("amount", AttributeValue::N(order.amount.to_string()))
            .item("currency", text(&order.currency))
            .item("occurred_at", text(&order.occurred_at))
            .item("version", version.clone())
            .condition_expression("attribute_not_exists(order_id) OR #version < :version")
            .expression_attribute_names("#version", "version")
            .expression_attribute_values(":version", version)
            .send()
            .await;
        match stored {
            Ok(_) => Ok(()),
            // Something newer is there; or this very event, which an attempt before this one has stored.
            Err(SdkError::ServiceError(error))
                if matches!(error.err(), PutItemError::ConditionalCheckFailedException(_)) =>
            {
                Ok(())
            }
            Err(error) => Err(StoreError(DisplayErrorContext(error).to_string())),
        }
    }
}
