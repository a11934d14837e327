#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

struct Order {
    key: IdempotencyKey,
}

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = order.key)]
async fn send(#[shared] order: Order) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
