//! A function of records: it takes in insurance claims from a queue, each one once, however often SQS delivers it.
//!
//! Around it, the compiler meets the whole of the toolkit's future, and that must stay below its limit of depth.

use std::collections::BTreeMap;

use lambda_idempotency::{Attempt, Idempotency, function::BoxError, idempotent};
use lambda_runtime::service_fn;
use tokio::sync::Mutex;

/// What a message says.
#[derive(serde::Deserialize)]
struct ClaimReceived {
    tenant: String,
    id: String,
    cents: u64,
}

/// Where claims end up.
type Table = Mutex<BTreeMap<String, u64>>;

#[idempotent(sqs, operation = "take-in-claim", version = 1, scope = tenant(&claim.tenant), key = [claim.id])]
async fn take_in(claim: ClaimReceived, attempt: &Attempt, table: &Table) -> Result<(), BoxError> {
    // The effect. The key goes on unchanged.
    table.lock().await.insert(attempt.key().as_str().to_owned(), claim.cents);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda_idempotency::init_logs();
    let (idempotency, table) = (Idempotency::from_env().await?, Table::default());
    lambda_runtime::run(service_fn(|event| take_in(&idempotency, &table, event))).await
}
