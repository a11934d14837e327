#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

async fn take_back(undo: Undo) -> Result<(), function::BoxError> {
    Ok(())
}

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id], undo = take_back)]
async fn send(id: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
