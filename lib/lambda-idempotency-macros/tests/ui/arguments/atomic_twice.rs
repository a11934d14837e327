#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "transfer", version = 1, scope = none, atomic, atomic)]
async fn transfer(attempt: Attempt) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
