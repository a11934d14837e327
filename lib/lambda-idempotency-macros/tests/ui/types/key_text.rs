#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = id.as_str())]
async fn send(id: String) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
