//! Events out of the bus.

use aws_lambda_events::eventbridge::EventBridgeEvent;
use lambda_idempotency::{
    Operation, Scope,
    events::{DeliveryError, EventBridge, EventOperation, Identity, run},
    function::{Classify, Failure},
};
use lambda_runtime::LambdaEvent;
use serde_json::Value;

use crate::{config::App, order_event::OrderEvent, orders::StoreError};

const FOLLOW_ORDER: Operation = Operation::declare("follow-order", 1);

/// Brings the view up to date with one event.
pub(crate) async fn follow(app: &App, event: LambdaEvent<EventBridgeEvent<Value>>) -> Result<(), DeliveryError> {
    // The bus is the company's own: nobody else's events have its ids.
    let identify = |_: &OrderEvent| Identity::new(Scope::none());
    let operation = EventOperation::new(FOLLOW_ORDER);
    let follow = async |event: OrderEvent, _| app.orders.follow(&event).await;
    run(EventBridge, &app.idempotency, &operation, event, identify, follow).await
}

impl Classify for StoreError {
    /// If it was stored after all, the next attempt changes nothing. It need not wait for this one's lease to end.
    fn classify(&self) -> Failure {
        Failure::Retryable { retry_after: None }
    }
}
