use idempotency_core::{IdempotencyKey, Operation, RecordKey};

fn record_key(operation: &Operation, key: &IdempotencyKey) -> RecordKey {
    RecordKey::new(operation, key)
}

fn main() {}
