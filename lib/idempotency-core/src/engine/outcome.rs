//! Results on their way into the store and out of it.

use std::{fmt, time::Duration};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{ClaimError, Engine};
use crate::{
    CodecError, EpochSeconds, OwnerToken, Parts, Record, RecordKey, Status, Store, StoreError, StoredResult, codec,
};

/// The result of an operation, to be stored and replayed.
#[derive(Clone, PartialEq, Eq)]
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

    pub(super) const fn body(&self) -> &Bytes {
        &self.body
    }
}

/// A stored result, answered instead of running the operation again.
#[derive(Clone, PartialEq, Eq)]
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

/// With lengths in place of the bytes, which are the user's.
impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reduced = self.reduced.as_ref().map(Bytes::len);
        f.debug_struct("Outcome").field("bytes", &self.body.len()).field("reduced_bytes", &reduced).finish()
    }
}

/// With the length in place of the bytes, which are the user's.
impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.body.as_ref().map(Bytes::len);
        f.debug_struct("Replay").field("bytes", &bytes).field("failed", &self.failed).finish()
    }
}

impl<S: Store> Engine<S> {
    /// Stores what does not fit into the record, and says what goes into the record. Losing a large body must not lose
    /// the record, so an error here only reduces the result.
    pub(super) async fn prepare(&self, record: &Record, outcome: &Outcome, within: Duration) -> Option<StoredResult> {
        match self.stored(&record.key, record.owner, record.expires_at, &outcome.body, within).await {
            Ok(stored) => Some(stored),
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

    /// Encodes a value, and stores the parts of one that is too large to stand where it is referred to.
    pub(super) async fn stored(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        expires_at: EpochSeconds,
        value: &[u8],
        within: Duration,
    ) -> Result<StoredResult, StoreError> {
        let encoded = codec::encode(value);
        if encoded.len() <= StoredResult::MAX_INLINE {
            return Ok(StoredResult::Inline(encoded));
        }
        let parts: Vec<Bytes> = (0..encoded.len())
            .step_by(Parts::MAX_SIZE)
            .map(|start| encoded.slice(start..encoded.len().min(start + Parts::MAX_SIZE)))
            .collect();
        let pointer = Parts {
            count: u32::try_from(parts.len()).map_err(|error| StoreError::Refused(error.into()))?,
            length: encoded.len() as u64,
            sha256: Sha256::digest(&encoded).into(),
        };
        self.store.put_parts(key, owner, &parts, expires_at, within).await?;
        Ok(StoredResult::Parts(pointer))
    }

    /// Reads a stored result. Writes nothing.
    pub(super) async fn replay(&self, record: Record, within: Duration) -> Result<Replay, ClaimError> {
        let failed = record.status != Status::Completed;
        let body = match &record.result {
            None => None,
            Some(result) => match self.decoded(&record.key, record.owner, result, within).await {
                Ok(body) => Some(body),
                // Where its text is lost, a failure stays one.
                Err(ClaimError::Result(_)) if failed => None,
                Err(error) => return Err(error),
            },
        };
        Ok(Replay { body, failed })
    }

    /// Reads a stored value. Writes nothing.
    pub(super) async fn decoded(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        value: &StoredResult,
        within: Duration,
    ) -> Result<Bytes, ClaimError> {
        let encoded = match value {
            StoredResult::Inline(encoded) => encoded.clone(),
            StoredResult::Parts(parts) => self.gather(key, owner, *parts, within).await?,
        };
        Ok(codec::decode(&encoded)?)
    }

    async fn gather(
        &self,
        key: &RecordKey,
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
