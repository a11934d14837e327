use idempotency_core::EpochSeconds;

fn main() {
    let _ = EpochSeconds::new(1_700_000_000.5);
}
