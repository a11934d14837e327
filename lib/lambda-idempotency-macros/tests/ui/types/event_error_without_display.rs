#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Deserialize)]
struct Claim;

#[derive(Debug)]
struct IntakeError;

impl function::Classify for IntakeError {}

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = none)]
async fn take_in(claim: Claim) -> Result<(), IntakeError> {
    Ok(())
}

fn main() {}
