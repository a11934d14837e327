use idempotency_core::Record;

fn is_over(record: &Record) -> bool {
    record.lease_until > record.expires_at
}

fn main() {}
