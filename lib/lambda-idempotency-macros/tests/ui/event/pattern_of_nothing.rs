#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

struct Claim;

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = none)]
async fn take_in(_: Claim) -> Result<(), String> {
    Ok(())
}

fn main() {}
