use idempotency_core::{Operation, key};

const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let attempt = idempotency_core::AttemptNumber::FIRST;
    let _ = key!(CHARGE; order_id = 7, attempt);
}
