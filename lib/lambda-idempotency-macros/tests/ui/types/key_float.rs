#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id, amount])]
async fn send(id: u64, amount: f64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
