use idempotency_core::{Attempt, Claim, Record};

fn claim(attempt: Attempt, record: Record) -> Claim {
    Claim { attempt, expected: record.version(), record }
}

fn main() {}
