#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Deserialize)]
struct Claim;

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = none, on_abandoned = probe(|_| async { Ok(Probed::Happened(1)) }))]
async fn take_in(claim: Claim) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
