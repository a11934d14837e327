use idempotency_core::{Operation, key};
use std::time::Instant;
const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let started: fn() -> Instant = Instant::now;
    let _ = key!(CHARGE; order_id = 7, started = started());
}
