//! Events of orders from EventBridge: a view of each customer's orders, right however often and in whatever order the events come.
//!
//! The events have the source `com.example.orders` and the detail type `OrderPlaced`, `OrderPaid` or `OrderCancelled`. Their detail
//! says `order_id`, `customer_id`, `amount` in the currency's minor unit, `currency`, `occurred_at`, and `sequence`: the number of
//! this event among those of its order, which grows. An event's key is its id, unless its sender gave it one (the member
//! `idempotencyKey` of the detail).
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name |
//! | `ORDERS_TABLE` | table of the orders: partition key `customer_id`, sort key `order_id` |

mod config;
mod follow;
mod order_event;
mod orders;

use lambda_runtime::{Error, run, service_fn};

use crate::config::App;

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let app = App::from_env().await?;
    run(service_fn(|event| follow::follow(&app.idempotency, &app.orders, event))).await
}
