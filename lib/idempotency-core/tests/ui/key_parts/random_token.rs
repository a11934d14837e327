use idempotency_core::{Epoch, ExecutionId, Operation, OwnerToken, key};

const CHARGE: Operation = Operation::declare("create-charge", 1);

fn main() {
    let (token, execution) = (OwnerToken::from_bytes([1; 16]), ExecutionId::from_bytes([1; 16]));
    let _ = key!(CHARGE; order_id = 7, token);
    let _ = key!(CHARGE; order_id = 7, execution);
    let _ = key!(CHARGE; order_id = 7, epoch = Epoch::new(7));
}
