//! Insurance claims from an SQS queue, each taken in once, however often its message is delivered and wherever an attempt dies: the chunks
//! of its document, one summary, one notification "claim received", one event that tells the rest of the house.
//!
//! | effect | how it is done once |
//! |---|---|
//! | a summary of the document, by a service that words it differently each time | a memo: the first wording is stored before anything sees it, and later attempts get it |
//! | the chunks of the document, each beside the summary | written under an id that is a hash of claim, place and model: an attempt that follows a lost one writes the same over it |
//! | a notification | a marker per claim, and its key goes to the notifier |
//! | the claim's row, with the summary, and the event `ClaimTakenIn` | they commit with the record, in one transaction; the outbox's relay sends the event |
//!
//! A message says `{"tenant": "tenant-7", "claim_id": "CLM-2026-000123", "document": "…"}`. Its key is the claim's id, within its
//! tenant, unless the sender gave it one (the message attribute `Idempotency-Key`). The same claim with another document is
//! refused and goes to the dead-letter queue; what is stored stays as it is.
//!
//! A claim that comes again under another key, because its sender made two, is known by its row: nothing is told twice, and another
//! document is refused.
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name |
//! | `CHUNKS_TABLE` | table of the chunks |
//! | `CLAIMS_TABLE` | table of the claims that were taken in |
//! | `CHUNK_MODEL` | what the chunks are made for, such as a model and its version: 1 to 64 letters, digits, `.`, `_` and `-`. Another model has chunks of its own |
//! | `SUMMARISER_URL` | where the summariser is: `POST {url}/v1/summaries` with `{"text": "…"}` answers `{"summary": "…"}`, 1 to 2,000 characters |
//! | `NOTIFIER_URL` | where the notifier is: `POST {url}/v1/notifications` with `{"notification": "claim-received", "tenant": "…", "claim_id": "…"}`. It must honour the header `Idempotency-Key` |
//!
//! Both URLs may end with a path and a slash. A request that one of them refuses with 400, 413 or 422 fails for good; other refusals
//! (4xx and 503) free the claim's key, so that its message is tried again.

mod callee;
mod chunk;
mod chunk_table;
mod claim;
mod claim_table;
mod config;
mod intake;
mod notifier;
mod split;
mod summariser;

use lambda_runtime::{Error, run, service_fn};

use crate::config::App;

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let app = App::from_env().await?;
    run(service_fn(|event| intake::take_in(&app.idempotency, &app.intake, event))).await
}
