#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "create-charge", version = 1, scope = none)]
async fn create(attempt: &Option<Attempt>) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
