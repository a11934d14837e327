#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(Debug)]
struct SendError;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [invoice])]
async fn send(invoice: u64) -> Result<String, SendError> {
    Ok(String::new())
}

fn main() {}
