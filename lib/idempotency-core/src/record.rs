//! The stored record of a key.

use std::fmt;

use crate::{EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, RecordKey, StoredResult};

/// The version of the stored layout and of the canonical form behind the fingerprint.
///
/// A record with another version is never taken for absent: a newer deployment may have written it.
pub const SCHEMA: u32 = 1;

/// A fencing number: it strictly grows with every claim and takeover of a key, so a callee that remembers the highest
/// one it saw can refuse a zombie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(i64);

/// Which attempt at a key's current generation this is, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptNumber(u32);

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// An attempt owns the key and may still be running.
    InFlight,
    /// The last attempt said that its effect did not happen. The next one claims at once.
    Released,
    /// The effect happened and its result is stored. Does not change any more.
    Completed,
    /// The operation failed for good and the failure is stored. Does not change any more.
    Failed,
    /// The operation failed for good, the failure is stored, and what it did before is being undone. Then it is failed.
    Compensating,
    /// The operation failed for good, and something that it did before could not be undone. It stays so until an operator acts.
    Stuck,
}

/// One key's record: who owns it, until when, and what came out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Where it stands in the table.
    pub key: RecordKey,
    /// Where the key stands.
    pub status: Status,
    /// The claim that wrote it last. Kept after completion.
    pub owner: OwnerToken,
    /// The generation.
    pub execution: ExecutionId,
    /// Whether this generation began where an expired one stood: then its steps have keys of their own, for those of that one name what
    /// that one did.
    pub renewed: bool,
    /// When an operator last said of this generation that it is to be tried again: what was lost before, here or in another system, does not
    /// stand in the way any more.
    pub resolved_at: Option<EpochMillis>,
    /// The fencing number.
    pub epoch: Epoch,
    /// The attempt counter.
    pub attempt: AttemptNumber,
    /// Until when the owner may be running.
    pub lease_until: EpochMillis,
    /// From when on the key is new again.
    pub expires_at: EpochSeconds,
    /// The request's fingerprint.
    pub fingerprint: Fingerprint,
    /// What came out; `None` before the end, and when the result could not be stored.
    pub result: Option<StoredResult>,
}

/// A stored record that cannot be read. It is never treated as absent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// An attribute is missing.
    #[error("the record has no attribute {attribute:?}")]
    Missing {
        /// The attribute's name.
        attribute: &'static str,
    },
    /// An attribute has another type or a value out of range.
    #[error("the record's attribute {attribute:?} has a type or value that this version cannot read")]
    Invalid {
        /// The attribute's name.
        attribute: &'static str,
    },
    /// The layout is another version's.
    #[error("the record has schema version {found}, this version reads {SCHEMA}; deploy the newer version everywhere")]
    UnknownSchema {
        /// The version found.
        found: i64,
    },
}

impl Record {
    /// The same record, left by its owner, who has done nothing: the next claim goes on from there at once.
    pub(crate) fn left(&self, now: EpochMillis) -> Self {
        match self.status {
            // What was undone so far stays so.
            Status::Compensating => Self { lease_until: now.min(self.lease_until), ..self.clone() },
            _ => Self { status: Status::Released, ..self.clone() },
        }
    }
}

impl Epoch {
    /// The fencing number with this value.
    pub const fn new(epoch: i64) -> Self {
        Self(epoch)
    }

    /// The value.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The first epoch of a key, or the one after `previous`: the time in milliseconds, and always more than before
    /// whatever the clock says.
    pub(crate) fn next(previous: Option<Self>, now: EpochMillis) -> Self {
        Self(previous.map_or(now.get(), |previous| now.get().max(previous.0.saturating_add(1))))
    }
}

impl AttemptNumber {
    /// The first attempt.
    pub const FIRST: Self = Self(1);

    /// The attempt with this number, from 1.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number, from 1.
    pub const fn get(self) -> u32 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::InFlight, Self::Released, Self::Completed, Self::Failed, Self::Compensating, Self::Stuck];

    /// The status as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight => "in_flight",
            Self::Released => "released",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Compensating => "compensating",
            Self::Stuck => "stuck",
        }
    }

    /// The status with this stored name.
    ///
    /// # Errors
    ///
    /// When this version does not know the name.
    pub fn from_stored(name: &str) -> Result<Self, RecordError> {
        let named = Self::ALL.into_iter().find(|status| status.as_str() == name);
        named.ok_or(RecordError::Invalid { attribute: "status" })
    }

    /// Whether the record does not change any more before it expires.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// Whether an attempt is at work as long as its lease runs.
    pub const fn is_leased(self) -> bool {
        matches!(self, Self::InFlight | Self::Compensating)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
