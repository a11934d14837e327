#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "transfer", version = 1, scope = none, atomic, on_abandoned = reject, undo = take_back, in_flight = accepted)]
async fn transfer(attempt: Attempt) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
