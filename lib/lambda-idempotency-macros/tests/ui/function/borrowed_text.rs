#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id])]
async fn send(id: u64, text: &str) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
