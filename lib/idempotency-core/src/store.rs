//! What a store must do. It compares and swaps and knows no policy.

use std::{error::Error, future::Future, time::Duration};

use bytes::Bytes;

use crate::{Epoch, EpochSeconds, OwnerToken, Record, RecordError, RecordKey, Status};

/// What a compare-and-swap expects to find: this claim's record in this state.
///
/// The epoch makes a version unique. Owner and status alone are not: a claim that was superseded and then resumes the key
/// in a later round is in flight under its token a second time, and a write that was meant for the first time and comes
/// late would match the second (found by the exhaustive model).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Whose record it is.
    pub owner: OwnerToken,
    /// Where the key stands.
    pub status: Status,
    /// The claim's fencing number.
    pub epoch: Epoch,
}

impl Record {
    /// What a compare-and-swap on this record expects to find.
    pub const fn version(&self) -> Version {
        Version { owner: self.owner, status: self.status, epoch: self.epoch }
    }
}

/// The answer to [`Store::insert_if_absent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The record was absent and is stored now.
    Inserted,
    /// This record is stored; nothing was written.
    Exists(Record),
}

/// The answer to [`Store::replace`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The expected record was there and the new one is stored now.
    Replaced,
    /// Another record is stored, or none; nothing was written.
    Differs(Option<Record>),
}

/// Why a store gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No reply, or one that proves nothing. The write may have been applied, may still be, or may never be.
    #[error("the store gave no answer")]
    Unknown(#[source] Box<dyn Error + Send + Sync>),
    /// The store refused for now (throttled). Nothing was written by the last transmission; an earlier one of the same
    /// call may have been applied.
    #[error("the store is throttled")]
    Throttled(#[source] Box<dyn Error + Send + Sync>),
    /// The store refuses for good: a missing permission or table, an invalid request. Nothing was written.
    #[error("the store refused the request; check the table's name, its keys and the function's permissions")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
    /// The stored record cannot be read. Nothing was written; the record is never treated as absent.
    #[error("the stored record cannot be read")]
    Undecodable(#[from] RecordError),
}

impl StoreError {
    /// Whether the same call may succeed a moment later.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Throttled(_))
    }
}

/// A store of records: compare-and-swap by key.
///
/// Every method is linearizable per key and gets `within`, the time after which the caller does not wait any more; the
/// store answers [`StoreError::Unknown`] by then. Repeating a call, which a store may do by itself, is safe: the caller
/// recognises its own token in the answer.
///
/// A store carries every value of every field: all 64 bits of an epoch or a time, before 1970 too, an inline result of 0 to
/// [`StoredResult::MAX_INLINE`](crate::StoredResult::MAX_INLINE) bytes, parts of 0 to [`Parts::MAX_SIZE`](crate::Parts::MAX_SIZE).
/// A record that has expired may vanish at any time; until then it is shown as it is, for expiry is not the store's question.
/// The testkit's `store_conformance` checks a store against all this.
///
/// Dropping a future returned by a method is like a lost reply: the write may or may not happen.
pub trait Store: Send + Sync + 'static {
    /// Writes `record` if no record has its key.
    ///
    /// Ok(`Inserted`): the record is stored. Ok(`Exists(old)`): `old` was stored when the store looked, and nothing was
    /// written. `old` is the caller's own record when an earlier transmission of this call was applied.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then.
    fn insert_if_absent(
        &self,
        record: &Record,
        within: Duration,
    ) -> impl Future<Output = Result<Inserted, StoreError>> + Send;

    /// Writes `record` over the record with its key, if that one is `expected`.
    ///
    /// Ok(`Replaced`): the record is stored. Ok(`Differs(old)`): `old` (or nothing) was stored when the store looked, and
    /// nothing was written. `old` is `record` itself when an earlier transmission of this call was applied.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then.
    fn replace(
        &self,
        expected: Version,
        record: &Record,
        within: Duration,
    ) -> impl Future<Output = Result<Replaced, StoreError>> + Send;

    /// Reads the record with this key; `None` when there is none. The answer is as fresh as a write's would be (a strongly
    /// consistent read). Writes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store gave no answer.
    fn get(&self, key: &RecordKey, within: Duration)
    -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;

    /// Stores the parts of a result beside the record `key`, under `owner`, so that two owners never mix. No record has to be
    /// there. An owner has one result, so a second call with the same key and owner has the same parts.
    ///
    /// Ok: all parts are stored, until `expires_at`.
    ///
    /// # Errors
    ///
    /// After an error some parts may be stored; nobody refers to them and they expire.
    fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the first `count` parts in their order; `None` when one is missing. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store gave no answer.
    fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> impl Future<Output = Result<Option<Vec<Bytes>>, StoreError>> + Send;
}
