use idempotency_core::{Claim, Engine, MemoryStore, Outcome};

async fn handle(engine: Engine<MemoryStore>, claim: Claim) {
    let _ = engine.complete(claim, Outcome::new("done")).await;
    let _ = engine.release(claim).await;
}

fn main() {}
