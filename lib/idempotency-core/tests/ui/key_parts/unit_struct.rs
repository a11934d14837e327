use idempotency_core::{Operation, key};

struct Order;
const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let order = Order;
    let _ = key!(CHARGE; order_id = 7, order);
}
