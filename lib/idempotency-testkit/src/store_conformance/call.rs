//! One call of a store's method, and what it answers, as values.

use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{EpochSeconds, Inserted, OwnerToken, Record, RecordKey, Replaced, Store, StoreError, Version};

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Call {
    Insert(Record),
    Replace { expected: Version, record: Record },
    Get(RecordKey),
    PutParts { key: RecordKey, owner: OwnerToken, parts: Vec<Bytes>, expires_at: EpochSeconds },
    GetParts { key: RecordKey, owner: OwnerToken, count: u32 },
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Inserted,
    Exists(Record),
    Replaced,
    Differs(Option<Record>),
    Record(Option<Record>),
    PartsStored,
    Parts(Option<Vec<Bytes>>),
}

impl Call {
    pub(super) fn key(&self) -> &RecordKey {
        match self {
            Self::Insert(record) | Self::Replace { record, .. } => &record.key,
            Self::Get(key) | Self::PutParts { key, .. } | Self::GetParts { key, .. } => key,
        }
    }

    pub(super) fn key_mut(&mut self) -> &mut RecordKey {
        match self {
            Self::Insert(record) | Self::Replace { record, .. } => &mut record.key,
            Self::Get(key) | Self::PutParts { key, .. } | Self::GetParts { key, .. } => key,
        }
    }

    /// Makes the call.
    pub(super) async fn on<S: Store>(&self, store: &S, within: Duration) -> Result<Answer, StoreError> {
        match self {
            Self::Insert(record) => store.insert_if_absent(record, within).await.map(|inserted| match inserted {
                Inserted::Inserted => Answer::Inserted,
                Inserted::Exists(old) => Answer::Exists(old),
            }),
            Self::Replace { expected, record } => {
                store.replace(*expected, record, within).await.map(|replaced| match replaced {
                    Replaced::Replaced => Answer::Replaced,
                    Replaced::Differs(old) => Answer::Differs(old),
                })
            }
            Self::Get(key) => store.get(key, within).await.map(Answer::Record),
            Self::PutParts { key, owner, parts, expires_at } => {
                store.put_parts(key, *owner, parts, *expires_at, within).await.map(|()| Answer::PartsStored)
            }
            Self::GetParts { key, owner, count } => {
                store.get_parts(key, *owner, *count, within).await.map(Answer::Parts)
            }
        }
    }
}

impl Answer {
    /// What kind of answer it is, for a report.
    pub(super) fn kind(&self, call: &Call) -> &'static str {
        let own = |old: &Record| match call {
            Call::Insert(record) | Call::Replace { record, .. } => old == record,
            Call::Get(_) | Call::PutParts { .. } | Call::GetParts { .. } => false,
        };
        match self {
            Self::Inserted => "inserted",
            Self::Exists(old) if own(old) => "own record exists",
            Self::Exists(_) => "another record exists",
            Self::Replaced => "replaced",
            Self::Differs(None) => "nothing to replace",
            Self::Differs(Some(old)) if own(old) => "own record differs",
            Self::Differs(Some(_)) => "another record differs",
            Self::Record(Some(_)) => "record read",
            Self::Record(None) => "no record",
            Self::PartsStored => "parts stored",
            Self::Parts(Some(_)) => "parts read",
            Self::Parts(None) => "parts missing",
        }
    }
}
