use idempotency_core::{Operation, key};
use std::time::SystemTime;
const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let created_at = SystemTime::UNIX_EPOCH;
    let _ = key!(CHARGE; order_id = 7, created_at);
}
