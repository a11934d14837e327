//! What an operator needs besides a claim: results in and out of a record without an attempt.

use std::time::Duration;

use super::{ClaimError, Engine, Outcome, Replay};
use crate::{Record, Store, StoreError, StoredResult};

impl<S: Store> Engine<S> {
    /// Makes an outcome ready to stand in `record`, whose [`result`](Record::result) it is to be: parts of a large one are stored beside
    /// the record, under its owner. Nobody refers to them before the record does.
    ///
    /// Dropping the future may leave parts, which expire.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when parts could not be stored.
    pub async fn store_result(
        &self,
        record: &Record,
        outcome: &Outcome,
        within: Duration,
    ) -> Result<StoredResult, StoreError> {
        Box::pin(self.stored(&record.key, record.owner, record.expires_at, outcome.body(), within)).await
    }

    /// Reads the result that a record has, whatever its status. Writes nothing.
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the store gave no answer, or the result cannot be read.
    pub async fn read_result(&self, record: &Record, within: Duration) -> Result<Replay, ClaimError> {
        Box::pin(self.replay(record.clone(), within)).await
    }
}
