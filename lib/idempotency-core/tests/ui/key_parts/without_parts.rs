use idempotency_core::{Operation, key};

const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let _ = key!(CHARGE;);
}
