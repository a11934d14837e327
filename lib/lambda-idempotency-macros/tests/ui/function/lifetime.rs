#![allow(dead_code)]
include!("../names.rs");

use lambda_idempotency_macros::idempotent;

struct Mailer;

#[idempotent(operation = "send-invoice", version = 1, scope = none, key = [id])]
async fn send<'a>(id: u64, name: &'a Mailer) -> Result<String, String> {
    Ok(String::new())
}

fn main() {}
