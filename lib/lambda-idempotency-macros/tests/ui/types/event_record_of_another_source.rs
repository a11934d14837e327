#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[derive(serde::Deserialize)]
struct Claim;

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = none)]
async fn take_in(claim: events::Delivered<Claim, aws_lambda_events::sns::SnsRecord>) -> Result<(), function::BoxError> {
    Ok(())
}

fn main() {}
