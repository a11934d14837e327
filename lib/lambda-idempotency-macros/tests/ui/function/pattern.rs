#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [a])]
async fn send((a, b): (u64, u64)) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
