//! Events out of the bus.

use lambda_idempotency::{
    function::{Classify, Failure},
    idempotent,
};

use crate::{
    order_event::OrderEvent,
    orders::{Orders, StoreError},
};

/// Brings the view up to date with one event. The bus is the company's own, so nobody else's events have its ids.
#[idempotent(eventbridge, operation = "follow-order", version = 1, scope = none)]
pub(crate) async fn follow(event: OrderEvent, orders: &Orders) -> Result<(), StoreError> {
    orders.follow(&event).await
}

impl Classify for StoreError {
    /// If it was stored after all, the next attempt changes nothing. It need not wait for this one's lease to end.
    fn classify(&self) -> Failure {
        Failure::Retryable { retry_after: None }
    }
}
