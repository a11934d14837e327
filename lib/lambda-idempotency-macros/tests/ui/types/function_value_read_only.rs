#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Serialize)]
struct Sent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id])]
async fn send(id: u64) -> Result<Sent, function::BoxError> {
    Ok(Sent)
}

fn main() {}
