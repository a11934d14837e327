//! Results on their way into the store and out of it.

use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{ClaimError, Engine};
use crate::{CodecError, OwnerToken, Parts, Record, Status, Store, StoredResult, codec};

/// The result of an operation, to be stored and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    body: Bytes,
    reduced: Option<Bytes>,
}

impl Outcome {
    /// A result with these bytes.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), reduced: None }
    }

    /// Bytes to store instead if the whole cannot be stored: a small result that says what is missing.
    #[must_use]
    pub fn or_reduced(self, reduced: impl Into<Bytes>) -> Self {
        Self { reduced: Some(reduced.into()), ..self }
    }
}

/// A stored result, answered instead of running the operation again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    body: Option<Bytes>,
    failed: bool,
}

impl Replay {
    /// The bytes of the result; `None` when they could not be stored.
    pub fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// The bytes of the result; `None` when they could not be stored.
    pub fn into_body(self) -> Option<Bytes> {
        self.body
    }

    /// Whether the result is a permanent failure.
    pub const fn is_failure(&self) -> bool {
        self.failed
    }
}

impl<S: Store> Engine<S> {
    /// Stores what does not fit into the record, and says what goes into the record. Losing a large body must not lose
    /// the record, so an error here only reduces the result.
    pub(super) async fn prepare(&self, record: &Record, outcome: &Outcome, within: Duration) -> Option<StoredResult> {
        let encoded = codec::encode(&outcome.body);
        if encoded.len() <= StoredResult::MAX_INLINE {
            return Some(StoredResult::Inline(encoded));
        }
        let parts: Vec<Bytes> = (0..encoded.len())
            .step_by(Parts::MAX_SIZE)
            .map(|start| encoded.slice(start..encoded.len().min(start + Parts::MAX_SIZE)))
            .collect();
        let pointer = Parts {
            count: u32::try_from(parts.len()).ok()?,
            length: encoded.len() as u64,
            sha256: Sha256::digest(&encoded).into(),
        };
        match self.store.put_parts(&record.key, record.owner, &parts, record.expires_at, within).await {
            Ok(()) => Some(StoredResult::Parts(pointer)),
            Err(error) => {
                tracing::warn!(
                    record = %record.key,
                    error = &error as &dyn std::error::Error,
                    "the result's parts could not be stored, replays will lack the body"
                );
                let reduced = codec::encode(outcome.reduced.as_ref()?);
                (reduced.len() <= StoredResult::MAX_INLINE).then_some(StoredResult::Inline(reduced))
            }
        }
    }

    /// Reads a stored result. Writes nothing.
    pub(super) async fn replay(&self, record: Record, within: Duration) -> Result<Replay, ClaimError> {
        let failed = record.status == Status::Failed;
        let encoded = match record.result {
            None => return Ok(Replay { body: None, failed }),
            Some(StoredResult::Inline(encoded)) => encoded,
            Some(StoredResult::Parts(parts)) => self.gather(&record.key, record.owner, parts, within).await?,
        };
        Ok(Replay { body: Some(codec::decode(&encoded)?), failed })
    }

    async fn gather(
        &self,
        key: &crate::RecordKey,
        owner: OwnerToken,
        parts: Parts,
        within: Duration,
    ) -> Result<Bytes, ClaimError> {
        let stored = self.store.get_parts(key, owner, parts.count, within).await?.ok_or(CodecError::Parts)?;
        let encoded = stored.concat();
        if encoded.len() as u64 == parts.length && <[u8; 32]>::from(Sha256::digest(&encoded)) == parts.sha256 {
            Ok(encoded.into())
        } else {
            Err(CodecError::Parts.into())
        }
    }
}
