#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

struct Claim;

#[idempotent(operation = "take-in-claim", version = 1, scope = none, on_poison = skip)]
async fn take_in() -> Result<(), String> {
    Ok(())
}

fn main() {}
