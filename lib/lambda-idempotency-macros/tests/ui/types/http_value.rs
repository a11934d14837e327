#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

struct Charge;

#[idempotent(operation = "create-charge", version = 1, scope = none)]
async fn create(attempt: Attempt) -> Result<Charge, lambda_http::Error> {
    Ok(Charge)
}

fn main() {}
