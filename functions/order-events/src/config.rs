//! What the function needs, from its environment.

use std::env;

use lambda_idempotency::Idempotency;
use lambda_runtime::Error;

use crate::orders::Orders;

/// What the invocations share.
pub(crate) struct App {
    pub(crate) idempotency: Idempotency,
    pub(crate) orders: Orders,
}

impl App {
    /// # Errors
    ///
    /// When a variable is missing or has a value that means nothing: the function does not start then.
    pub(crate) async fn from_env() -> Result<Self, Error> {
        let idempotency = Idempotency::from_env().await?;
        // One client for both tables: its connections are shared.
        let client = idempotency.engine().store().client().clone();
        Ok(Self { orders: Orders::new(client, variable("ORDERS_TABLE")?), idempotency })
    }
}

fn variable(name: &str) -> Result<String, Error> {
    let value = env::var(name).unwrap_or_default();
    if value.trim().is_empty() { Err(format!("environment variable {name} is not set").into()) } else { Ok(value) }
}
