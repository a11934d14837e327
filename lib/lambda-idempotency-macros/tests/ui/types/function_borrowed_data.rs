#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Serialize)]
struct Invoice {
    id: u64,
}

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [invoice.id])]
async fn send(invoice: &Invoice) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
