#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(Debug)]
struct ChargeError;

#[idempotent(operation = "create-charge", version = 1, scope = none)]
async fn create(attempt: Attempt) -> Result<String, ChargeError> {
    Ok(String::new())
}

fn main() {}
