use idempotency_core::{Claim, IdempotencyKey};

fn change(claim: &mut Claim, key: IdempotencyKey) {
    claim.attempt().key() = &key;
    claim.attempt.key = key;
}

fn main() {}
