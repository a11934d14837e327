#![allow(dead_code, unused_variables)]
include!("../crate.rs");

use lambda_idempotency_macros::idempotent;

struct Mailer;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [invoice])]
async fn send(mailer: Mailer, invoice: u64) -> Result<String, function::BoxError> {
    Ok(String::new())
}

fn main() {}
