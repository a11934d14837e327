#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

struct Claim;

#[idempotent(operation = "take-in-claim", version = 1, scope = none, key = [id], concurrency = 4)]
async fn take_in(claim: Claim) -> Result<(), String> {
    Ok(())
}

fn main() {}
