//! Claims out of the queue.

use lambda_idempotency::{
    Attempt, KeyPartError, Operation, Scope,
    events::{DeliveryError, EventOperation, Identity, Sqs, run},
    function::{Classify, Failed, Failure},
    key,
};
use lambda_runtime::LambdaEvent;
use serde::{Deserialize, Serialize};

use crate::{chunk::chunks, chunk_table::PutError, claim::Claim, config::App};

const TAKE_IN_CLAIM: Operation = Operation::declare("take-in-claim", 1);

/// Takes in the claims of one event, and answers which of its messages are to be delivered again.
pub(crate) async fn take_in_all(
    app: &App,
    event: LambdaEvent<<Sqs as lambda_idempotency::events::Source>::Event>,
) -> Result<<Sqs as lambda_idempotency::events::Source>::Response, DeliveryError> {
    let identify = |claim: &Claim| {
        let claim_id = claim.claim_id.as_str();
        Identity::new(Scope::tenant(claim.tenant.as_str())).key(key!(TAKE_IN_CLAIM; claim_id))
    };
    let operation = EventOperation::new(TAKE_IN_CLAIM);
    run(Sqs, &app.idempotency, &operation, event, identify, |claim, attempt| take_in(claim, attempt, app)).await
}

/// What became of a claim.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TakenIn {
    /// How many chunks its document has.
    chunks: usize,
}

/// Stores the chunks of a claim's document.
async fn take_in(claim: Claim, attempt: Attempt, app: &App) -> Result<TakenIn, IntakeError> {
    if claim.document.trim().is_empty() {
        return Err(IntakeError::EmptyDocument);
    }
    let chunks = chunks(&claim, app.model.as_str())?;
    app.chunks.put(&chunks, &attempt).await?;
    Ok(TakenIn { chunks: chunks.len() })
}

/// Why a claim was not taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IntakeError {
    #[error("the document is empty")]
    EmptyDocument,
    #[error("a chunk has no id")]
    ChunkId(#[from] KeyPartError),
    #[error(transparent)]
    Put(#[from] PutError),
}

impl Classify for IntakeError {
    fn classify(&self) -> Failure {
        match self {
            // The same in every attempt.
            Self::EmptyDocument | Self::ChunkId(_) => Failure::Permanent(Failed::new(self.to_string())),
            // Some chunks may be stored. The next attempt stores the same under the same ids, so that it need not wait for this one's
            // lease to end.
            Self::Put(_) => Failure::Retryable { retry_after: None },
        }
    }
}
