//! Claims out of the queue.

use lambda_idempotency::{
    Attempt, AttemptNumber, Event, EventError, KeyPartError, Refused, StageError, StepError,
    function::{Classify, Failed, Failure},
    idempotent,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    callee::CallError,
    chunk::chunks,
    chunk_table::{ChunkTable, PutError},
    claim::{Claim, Name},
    claim_table::{CLAIM, ClaimTable, FindError, KnownBy},
    notifier::{Notifier, NotifyError},
    summariser::{Summariser, SummaryError},
};

/// What claims are taken in with.
pub(crate) struct Intake {
    pub(crate) chunks: ChunkTable,
    pub(crate) claims: ClaimTable,
    /// What the chunks are made for.
    pub(crate) model: Name,
    pub(crate) summariser: Box<dyn Summariser>,
    pub(crate) notifier: Notifier,
}

/// What became of a claim.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TakenIn {
    /// How many chunks its document has.
    chunks: usize,
}

/// Takes a claim in: its document's summary and chunks, the notification of its sender, and the event that tells of it.
#[idempotent(
    sqs,
    operation = "take-in-claim",
    version = 1,
    scope = tenant(claim.tenant.as_str()),
    key = [claim_id = claim.claim_id.as_str()],
)]
pub(crate) async fn take_in(claim: Claim, attempt: &Attempt, intake: &Intake) -> Result<TakenIn, IntakeError> {
    if claim.document.trim().is_empty() {
        return Err(IntakeError::EmptyDocument);
    }
    let Intake { claims, summariser, notifier, .. } = intake;
    let (model, claim_id) = (intake.model.as_str(), claim.claim_id.as_str());
    let chunks = chunks(&claim, model)?;
    let taken_in = TakenIn { chunks: chunks.len() };
    let known_by = KnownBy::of(&claim, model)?;
    if let Some(known) = claims.find(&known_by).await? {
        if !known.is(&known_by) {
            // An earlier attempt of this key may have stored chunks before the other document was taken in. They have ids of their own.
            if attempt.number() != AttemptNumber::FIRST {
                intake.chunks.remove(&chunks, attempt).await?;
            }
            return Err(IntakeError::OtherDocument);
        }
        // Under another key. If that was at the same time as this one's earlier attempt, chunks may stand beside this one's summary.
        intake.chunks.put(&chunks, &known.summary, attempt).await?;
        return Ok(taken_in);
    }
    let summary: String = attempt
        .memo("summary", &(model, &claim.document), async || {
            Ok::<_, IntakeError>(summariser.summarise(&claim.document, attempt).await?)
        })
        .await?;
    intake.chunks.put(&chunks, &summary, attempt).await?;
    attempt
        .once("claim-received", claim_id, async |key| {
            Ok::<_, IntakeError>(notifier.claim_received(&claim, &key, attempt).await?)
        })
        .await?;
    attempt.stage(claims.insert(&known_by, chunks.len(), &summary)?)?;
    let (tenant, chunks) = (claim.tenant.as_str(), chunks.len());
    let told = json!({ "tenant": tenant, "claim_id": claim_id, "chunks": chunks, "model": model, "summary": summary });
    attempt.publish(Event::eventbridge("com.example.claims", "ClaimTakenIn", &told)?)?;
    Ok(taken_in)
}

/// Why a claim was not taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IntakeError {
    #[error("the document is empty")]
    EmptyDocument,
    #[error("the claim was taken in with another document")]
    OtherDocument,
    #[error("a chunk or claim has no id")]
    Id(#[from] KeyPartError),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    Put(#[from] PutError),
    #[error(transparent)]
    Notify(#[from] NotifyError),
    #[error("the claim is being taken in under another key")]
    Overtaken,
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("the claim cannot be staged: {0}")]
    Stage(#[from] StageError),
    #[error("the event cannot be published: {0}")]
    Event(#[from] EventError),
}

impl Classify for IntakeError {
    fn classify(&self) -> Failure {
        let retryable = Failure::Retryable { retry_after: None };
        match self {
            // The same in every attempt.
            Self::EmptyDocument
            | Self::OtherDocument
            | Self::Id(_)
            | Self::Notify(NotifyError(CallError::Refused(_))) => Failure::Permanent(Failed::new(self.to_string())),
            Self::Summary(error) if error.is_final() => Failure::Permanent(Failed::new(self.to_string())),
            // A summary has no effect. Some chunks may be stored: the next attempt stores the same under the same ids, so that it need
            // not wait for this one's lease to end.
            Self::Find(_) | Self::Summary(_) | Self::Put(_) | Self::Overtaken => retryable,
            Self::Notify(NotifyError(CallError::Unreachable(_) | CallError::NoTime | CallError::NotNow(_))) => {
                retryable
            }
            Self::Step(error) if error.is_retryable() => retryable,
            // It may have been told. The next attempt tells again under the same key, when this one cannot be at it any more.
            Self::Notify(_) | Self::Step(_) | Self::Stage(_) | Self::Event(_) => Failure::Abandoned,
        }
    }

    fn refused(refused: Refused) -> Option<Self> {
        (refused.name() == CLAIM).then_some(Self::Overtaken)
    }
}
