//! What an attempt asks of its engine, whatever the engine's store.

use bytes::Bytes;
use futures::future::BoxFuture;

use crate::{
    Claim, ClaimError, Claimed, Completion, EpochMillis, EpochSeconds, ExecutionId, OwnerToken, Record, RecordKey, Row,
    RowKind, StoreError, TokenError,
};

/// A row to be kept, without its value.
pub(crate) struct NewRow {
    pub(crate) key: RecordKey,
    pub(crate) execution: ExecutionId,
    pub(crate) kind: RowKind,
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) expires_at: EpochSeconds,
}

/// What stands in a row's place now.
#[expect(clippy::large_enum_variant, reason = "it lives for one match")]
pub(crate) enum Kept {
    /// The row that was to be kept.
    Own,
    /// Another attempt was quicker: this row, with this value.
    Other(Row, Bytes),
}

/// An engine, as its attempts see it.
pub(crate) trait Desk: Send + Sync {
    fn now(&self) -> EpochMillis;

    fn draw(&self) -> Result<OwnerToken, TokenError>;

    /// The record as it is stored now; `None` where there is none, or no answer.
    fn record<'a>(&'a self, key: &'a RecordKey, deadline: EpochMillis) -> BoxFuture<'a, Option<Record>>;

    /// Keeps a row with its value. Tries again while the store gives no answer and time is left.
    fn keep<'a>(
        &'a self,
        row: NewRow,
        value: Option<&'a [u8]>,
        deadline: EpochMillis,
    ) -> BoxFuture<'a, Result<Kept, ClaimError>>;

    /// All rows of a generation, each with its value. They are kept until `expires_at` at least.
    fn rows<'a>(
        &'a self,
        key: &'a RecordKey,
        execution: ExecutionId,
        expires_at: EpochSeconds,
        deadline: EpochMillis,
    ) -> BoxFuture<'a, Result<Vec<(Row, Bytes)>, ClaimError>>;

    /// Claims a marker.
    fn claim_marker(&self, marker: super::Marker) -> BoxFuture<'_, Result<Claimed, ClaimError>>;

    fn complete_marker(&self, claim: Claim) -> BoxFuture<'_, Completion>;

    fn release_marker(&self, claim: Claim) -> BoxFuture<'_, Completion>;
}

/// A store that did not answer, as all that is between a step and its row.
impl From<ClaimError> for super::StepError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Store(error) => Self::Store(error),
            ClaimError::Result(error) => Self::Store(StoreError::Refused(error.into())),
            ClaimError::NotHome(error) => Self::Store(StoreError::Refused(error.into())),
            ClaimError::Token(error) => Self::Store(StoreError::Refused(error.into())),
        }
    }
}
