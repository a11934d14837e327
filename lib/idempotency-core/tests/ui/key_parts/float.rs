use idempotency_core::{Operation, key};

const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let amount = 12.5;
    let _ = key!(CHARGE; order_id = 7, amount);
}
