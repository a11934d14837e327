use idempotency_core::{EpochMillis, Record};

fn is_over(record: &Record, now: EpochMillis) -> bool {
    record.expires_at < 1_700_000_000 || now + 13_000 > record.lease_until
}

fn main() {}
