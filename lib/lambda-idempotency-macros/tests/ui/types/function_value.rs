#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

struct Sent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [invoice])]
async fn send(invoice: u64) -> Result<Sent, function::BoxError> {
    Ok(Sent)
}

fn main() {}
