#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "create-charge", version = 1, scope = none)]
async fn send(id: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
