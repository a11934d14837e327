//! Claims out of the queue.

use lambda_idempotency::{
    Attempt, KeyPartError,
    function::{Classify, Failed, Failure},
    idempotent,
};
use serde::{Deserialize, Serialize};

use crate::{
    chunk::chunks,
    chunk_table::{ChunkTable, PutError},
    claim::{Claim, Name},
};

/// What became of a claim.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TakenIn {
    /// How many chunks its document has.
    chunks: usize,
}

/// Stores the chunks of a claim's document.
#[idempotent(
    sqs,
    operation = "take-in-claim",
    version = 1,
    scope = tenant(claim.tenant.as_str()),
    key = [claim_id = claim.claim_id.as_str()],
)]
pub(crate) async fn take_in(
    claim: Claim,
    attempt: &Attempt,
    table: &ChunkTable,
    model: &Name,
) -> Result<TakenIn, IntakeError> {
    if claim.document.trim().is_empty() {
        return Err(IntakeError::EmptyDocument);
    }
    let chunks = chunks(&claim, model.as_str())?;
    table.put(&chunks, attempt).await?;
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
