//! What a store must do. It compares and swaps and knows no policy.

use std::{error::Error, future::Future, time::Duration};

use bytes::Bytes;
use futures::future::join_all;

use crate::{
    Effect, Epoch, EpochSeconds, ExecutionId, Item, OwnerToken, Record, RecordError, RecordKey, Row, RowInserted,
    Status,
};

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

impl From<Inserted> for Written {
    fn from(inserted: Inserted) -> Self {
        match inserted {
            Inserted::Inserted => Self::Written,
            Inserted::Exists(old) => Self::Refused(Some(old)),
        }
    }
}

impl From<Replaced> for Written {
    fn from(replaced: Replaced) -> Self {
        match replaced {
            Replaced::Replaced => Self::Written,
            Replaced::Differs(old) => Self::Refused(old),
        }
    }
}

/// One write of [`Store::write_many`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// What [`Store::insert_if_absent`] writes.
    Insert(Record),
    /// What [`Store::replace`] writes.
    Replace {
        /// The record expected.
        expected: Version,
        /// The record to write over it.
        record: Record,
    },
}

impl Write {
    /// The record to write.
    pub const fn record(&self) -> &Record {
        match self {
            Self::Insert(record) | Self::Replace { record, .. } => record,
        }
    }
}

/// The answer to one write of [`Store::write_many`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The record is stored now.
    Written,
    /// Another record is stored than the write expects, or (where it expects one) none; nothing was written.
    Refused(Option<Record>),
}

/// The answer to [`Store::commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// The record and all effects are stored now.
    Committed,
    /// Another record is stored than the write expects, or (where it expects one) none; nothing was written. This is said whatever
    /// else was in the way.
    Refused(Option<Record>),
    /// The condition of an effect did not hold; nothing was written.
    EffectRefused {
        /// Which of the effects, from 0.
        index: usize,
        /// The item that did not meet it; `None` when there is none.
        item: Option<Item>,
    },
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
    #[error("the store refused the request; check the table's name, its keys and the permissions on it")]
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

    /// Carries out one write: [`insert_if_absent`](Self::insert_if_absent) or [`replace`](Self::replace).
    ///
    /// # Errors
    ///
    /// Those of the two.
    fn write(&self, write: &Write, within: Duration) -> impl Future<Output = Result<Written, StoreError>> + Send {
        async move {
            match write {
                Write::Insert(record) => self.insert_if_absent(record, within).await.map(Written::from),
                Write::Replace { expected, record } => self.replace(*expected, record, within).await.map(Written::from),
            }
        }
    }

    /// Carries out many writes of different records at once, each for itself: one may be refused or get no answer where the others
    /// are written. Gives an answer per write, in their order.
    ///
    /// This is for fewer requests, and promises no more than the same calls of [`insert_if_absent`](Self::insert_if_absent) and
    /// [`replace`](Self::replace) one beside the other, which is what it is if a store does not say otherwise. Writes of the same
    /// key in one call have no order.
    ///
    /// # Errors
    ///
    /// Each write's own [`StoreError`]. Repeating that write alone is safe.
    fn write_many(
        &self,
        writes: &[Write],
        within: Duration,
    ) -> impl Future<Output = Vec<Result<Written, StoreError>>> + Send {
        join_all(writes.iter().map(move |write| self.write(write, within)))
    }

    /// Reads many records at once, each as [`get`](Self::get) does. Gives an answer per key, in their order.
    ///
    /// # Errors
    ///
    /// Each key's own [`StoreError`].
    fn get_many(
        &self,
        keys: &[RecordKey],
        within: Duration,
    ) -> impl Future<Output = Vec<Result<Option<Record>, StoreError>>> + Send {
        join_all(keys.iter().map(move |key| self.get(key, within)))
    }

    /// Writes a record, as [`write`](Self::write) does, and all of `effects`, or nothing of it. Without a record, the effects alone.
    ///
    /// Ok(`Committed`): all of it is stored. Ok(anything else): nothing of it was written. `Refused(old)` shows the caller's own
    /// record when an earlier transmission of this call was applied.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then; half of it never is. What is in the way of another transaction on
    /// the same items is [`StoreError::Throttled`].
    fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> impl Future<Output = Result<Committed, StoreError>> + Send;

    /// Writes `row` beside its record, if no row has its place ([`Row::sort_key`]). No record has to be there.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then.
    fn insert_row(&self, row: &Row, within: Duration) -> impl Future<Output = Result<RowInserted, StoreError>> + Send;

    /// Writes `row` whatever stands at its place: a row that was read before, to be kept for longer.
    ///
    /// # Errors
    ///
    /// [`StoreError`] says for each kind what may be stored then.
    fn put_row(&self, row: &Row, within: Duration) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads all rows of a key's generation, as fresh as [`get`](Self::get) reads a record. Their order means nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store gave no answer.
    fn rows(
        &self,
        key: &RecordKey,
        execution: ExecutionId,
        within: Duration,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

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
