#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

struct Charge;

#[idempotent(operation = "create-charge", version = 1, scope = none)]
async fn create(charge: Charge) -> Result<String, lambda_http::Error> {
    Ok(String::new())
}

fn main() {}
