use idempotency_core::{Operation, key};

const CHARGE: Operation = Operation::declare("create-charge", 1);

struct Order {
    id: u64,
}

fn main() {
    let order = Order { id: 7 };
    let _ = key!(CHARGE; order.id);
}
