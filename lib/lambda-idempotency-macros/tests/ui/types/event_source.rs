#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Deserialize)]
struct Claim;

struct Pigeons;

#[idempotent(source = Pigeons, operation = "take-in-claim", version = 1, scope = none)]
async fn take_in(claim: Claim) -> Result<(), function::BoxError> {
    Ok(())
}

fn main() {}
