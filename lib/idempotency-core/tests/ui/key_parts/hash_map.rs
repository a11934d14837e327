use idempotency_core::{Operation, key};
use std::collections::HashMap;
const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let items: HashMap<&str, u32> = HashMap::new();
    let _ = key!(CHARGE; order_id = 7, items);
}
