//! The engine, as its attempts see it.

use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt, StreamExt, TryStreamExt, future::BoxFuture, stream};
use tokio::time::Instant;

use super::{ClaimError, Claimed, Completion, Engine, Outcome, pauses::Pauses};
use crate::{
    Claim, CodecError, EpochMillis, EpochSeconds, ExecutionId, OwnerToken, Record, RecordKey, Row, RowInserted, Store,
    StoreError, StoredResult, TokenError,
    attempt::{Desk, Kept, Marker, NewRow},
};

/// How many rows' large values are read at a time.
const ROWS_IN_FLIGHT: usize = 8;

impl<S: Store> Desk for Engine<S> {
    fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    fn draw(&self) -> Result<OwnerToken, TokenError> {
        Ok(OwnerToken::from_bytes(self.tokens.draw()?))
    }

    fn record<'a>(&'a self, key: &'a RecordKey, deadline: EpochMillis) -> BoxFuture<'a, Option<Record>> {
        let within = self.timeouts.for_call(deadline, self.now());
        async move { self.store.get(key, within).await.ok().flatten() }.boxed()
    }

    fn keep<'a>(
        &'a self,
        row: NewRow,
        value: Option<&'a [u8]>,
        deadline: EpochMillis,
    ) -> BoxFuture<'a, Result<Kept, ClaimError>> {
        self.keep_row(row, value, deadline).boxed()
    }

    fn rows<'a>(
        &'a self,
        key: &'a RecordKey,
        execution: ExecutionId,
        expires_at: EpochSeconds,
        deadline: EpochMillis,
    ) -> BoxFuture<'a, Result<Vec<(Row, Bytes)>, ClaimError>> {
        self.rows_with_values(key, execution, expires_at, Row::expires_beside(expires_at), deadline).boxed()
    }

    fn claim_marker(&self, marker: Marker) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        async move {
            // As a row is kept: an attempt that has come so far is not lost because one call has no answer. One that was stored all the
            // same has been released, or is found by the next.
            let mut pauses = self.pauses_until_completion(marker.request.deadline);
            loop {
                match self.claim(&marker.request, &marker.policy).await {
                    Err(ClaimError::Store(error))
                        if error.is_transient() && pauses.pause(self.tokens.as_ref()).await => {}
                    claimed => return claimed,
                }
            }
        }
        .boxed()
    }

    fn complete_marker(&self, claim: Claim) -> BoxFuture<'_, Completion> {
        // An empty result: a handler's never is, and by that the nightly comparison tells markers from operations.
        self.complete(claim, Outcome::new(Bytes::new())).boxed()
    }

    fn release_marker(&self, claim: Claim) -> BoxFuture<'_, Completion> {
        self.release(claim).boxed()
    }
}

impl<S: Store> Engine<S> {
    async fn keep_row(&self, new: NewRow, value: Option<&[u8]>, deadline: EpochMillis) -> Result<Kept, ClaimError> {
        let until = Instant::now() + self.timeouts.for_completion(deadline, self.now());
        let mut row = Row {
            key: new.key,
            execution: new.execution,
            kind: new.kind,
            name: new.name,
            owner: self.draw()?,
            type_name: new.type_name,
            value: None,
            expires_at: new.expires_at,
        };
        let mut pauses = Pauses::until(until);
        loop {
            let within = self.timeouts.for_call(deadline, self.now()).min(pauses.left());
            let error = match self.insert_row(&mut row, value, within).await {
                Ok(RowInserted::Inserted) => return Ok(Kept::Own),
                Ok(RowInserted::Exists(other)) if other.owner == row.owner => return Ok(Kept::Own),
                Ok(RowInserted::Exists(other)) => {
                    let value = self.row_value(&other, within).await?;
                    return Ok(Kept::Other(other, value));
                }
                Err(error) => error,
            };
            if !error.is_transient() || !pauses.pause(self.tokens.as_ref()).await {
                return Err(error.into());
            }
        }
    }

    /// Inserts a row once its value is where the row says it is.
    async fn insert_row(
        &self,
        row: &mut Row,
        value: Option<&[u8]>,
        within: Duration,
    ) -> Result<RowInserted, StoreError> {
        if let (None, Some(value)) = (&row.value, value) {
            row.value = Some(self.stored(&row.key, row.owner, row.expires_at, value, within).await?);
        }
        self.store.insert_row(row, within).await
    }

    /// All rows with their values. One that would be gone before `least` is kept `until` then.
    pub(super) async fn rows_with_values(
        &self,
        key: &RecordKey,
        execution: ExecutionId,
        least: EpochSeconds,
        until: EpochSeconds,
        deadline: EpochMillis,
    ) -> Result<Vec<(Row, Bytes)>, ClaimError> {
        let mut pauses = self.pauses_until_completion(deadline);
        loop {
            let within = self.timeouts.for_call(deadline, self.now()).min(pauses.left());
            let read = self.read_rows(key, execution, least, until, within).await;
            match read {
                Err(ClaimError::Store(error)) if error.is_transient() && pauses.pause(self.tokens.as_ref()).await => {}
                read => return read,
            }
        }
    }

    async fn read_rows(
        &self,
        key: &RecordKey,
        execution: ExecutionId,
        least: EpochSeconds,
        until: EpochSeconds,
        within: Duration,
    ) -> Result<Vec<(Row, Bytes)>, ClaimError> {
        let rows = self.store.rows(key, execution, within).await?;
        let with_values = rows.into_iter().map(|row| async move {
            let value = self.row_value(&row, within).await?;
            // A generation that is taken over again and again outlives what its first attempts have left.
            if row.expires_at < least {
                self.keep_longer(&row, &value, until, within).await?;
            }
            Ok((row, value))
        });
        stream::iter(with_values).buffer_unordered(ROWS_IN_FLIGHT).try_collect().await
    }

    async fn keep_longer(
        &self,
        row: &Row,
        value: &[u8],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), ClaimError> {
        let row = Row { expires_at, ..row.clone() };
        if let Some(StoredResult::Parts(_)) = &row.value {
            self.stored(&row.key, row.owner, expires_at, value, within).await?;
        }
        Ok(self.store.put_row(&row, within).await?)
    }

    async fn row_value(&self, row: &Row, within: Duration) -> Result<Bytes, ClaimError> {
        match &row.value {
            None => Ok(Bytes::new()),
            Some(value) => self.decoded(&row.key, row.owner, value, within).await,
        }
    }
}

impl From<CodecError> for StoreError {
    fn from(error: CodecError) -> Self {
        Self::Refused(error.into())
    }
}
