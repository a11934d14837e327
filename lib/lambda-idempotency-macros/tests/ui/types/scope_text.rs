#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = "tenant-7", key = [id])]
async fn send(id: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
