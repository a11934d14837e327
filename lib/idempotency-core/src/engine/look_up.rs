//! What has become of a request that somebody else carries out.

use std::time::Duration;

use super::{ClaimError, Engine, Replay};
use crate::{ClaimRequest, Decision, EpochMillis, ExecutionId, OwnerToken, Policy, RecordKey, Store, decide};

/// What has become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookedUp {
    /// The operation ended, with this result.
    Ended(Replay),
    /// An attempt may be running.
    InFlight {
        /// When to ask again.
        retry_after: Duration,
    },
    /// An attempt was lost and nobody knows whether its effect happened.
    Uncertain,
    /// The operation failed for good, and something that it did before could not be undone.
    Stuck,
    /// There is no result, and no attempt that may still bring one: the request was never seen, its record has expired, or its
    /// last attempt ended without one. Repeating the request claims the key.
    Nothing,
}

impl<S: Store> Engine<S> {
    /// Looks up what has become of the request with this record. Makes one strongly consistent read and writes nothing.
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the store gave no answer, or the stored record or result cannot be read.
    pub async fn look_up(
        &self,
        key: &RecordKey,
        deadline: EpochMillis,
        policy: &Policy,
    ) -> Result<LookedUp, ClaimError> {
        let within = self.timeouts.for_call(deadline, self.now());
        let Some(record) = self.store.get(key, within).await? else { return Ok(LookedUp::Nothing) };
        // The same policy as for the same request, sent again now.
        let request = ClaimRequest {
            key: key.clone(),
            fingerprint: record.fingerprint,
            token: OwnerToken::from_bytes(self.tokens.draw()?),
            execution: ExecutionId::from_bytes(self.tokens.draw()?),
            deadline,
        };
        Ok(match decide(Some(&record), &request, self.now(), policy) {
            Decision::Replay => LookedUp::Ended(self.replay(record, within).await?),
            Decision::Conflict { retry_after, .. } => LookedUp::InFlight { retry_after },
            Decision::Uncertain => LookedUp::Uncertain,
            Decision::Stuck => LookedUp::Stuck,
            _ => LookedUp::Nothing,
        })
    }
}
