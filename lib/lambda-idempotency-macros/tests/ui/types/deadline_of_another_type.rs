#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id], deadline = std::time::Duration::from_secs(5))]
async fn send(id: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
