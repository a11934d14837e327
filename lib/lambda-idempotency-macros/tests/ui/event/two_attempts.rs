#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

struct Claim;

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = none)]
async fn take_in(claim: Claim, attempt: &Attempt, same: Attempt) -> Result<(), String> {
    Ok(())
}

fn main() {}
