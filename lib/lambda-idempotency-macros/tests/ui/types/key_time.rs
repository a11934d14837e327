#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id, at])]
async fn send(id: u64, at: std::time::SystemTime) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
