#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id])]
async fn send(id: u64) -> std::io::Result<String> {
    Ok(String::new())
}

fn main() {}
