//! Insurance claims from an SQS queue: the document of each is split into chunks, and each chunk is stored once, however often
//! its message is delivered and wherever an attempt dies.
//!
//! A message says `{"tenant": "tenant-7", "claim_id": "CLM-2026-000123", "document": "…"}`. Its key is the claim's id, within its
//! tenant, unless the sender gave it one (the message attribute `Idempotency-Key`). The same claim with another document is
//! refused and goes to the dead-letter queue; what is stored stays as it is.
//!
//! A chunk's id is a hash of claim, place and model, so an attempt that follows a lost one writes over what that one wrote.
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name |
//! | `CHUNKS_TABLE` | table of the chunks |
//! | `CHUNK_MODEL` | what the chunks are made for, such as a model and its version: 1 to 64 letters, digits, `.`, `_` and `-`. Another model has chunks of its own |

mod chunk;
mod chunk_table;
mod claim;
mod config;
mod intake;
mod split;

use lambda_runtime::{Error, run, service_fn, tracing};

use crate::config::App;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let app = App::from_env().await?;
    run(service_fn(|event| intake::take_in(&app.idempotency, &app.chunks, &app.model, event))).await
}
