#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id], on_abandoned = probe(|_| async { Ok(Probed::Happened(7)) }))]
async fn send(id: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
