use idempotency_core::{Attempt, Claim, Record};

fn claim(attempt: Attempt, record: Record) -> Claim {
    Claim { attempt, expected: Some(record.version()), record, asks: None, took_over: false }
}

fn main() {}
