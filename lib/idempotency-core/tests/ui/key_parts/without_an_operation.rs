use idempotency_core::key;

fn main() {
    let order_id = 7;
    let _ = key!(order_id);
}
