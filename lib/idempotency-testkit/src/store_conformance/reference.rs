//! The contract as a map: what every call must answer.

use std::collections::BTreeMap;

use bytes::Bytes;
use idempotency_core::{OwnerToken, Record, RecordKey};

use super::batch::Batch;
use super::call::{Answer, Call};

/// What is stored after the calls so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    pub(super) records: BTreeMap<RecordKey, Record>,
    pub(super) parts: BTreeMap<(RecordKey, OwnerToken), Vec<Bytes>>,
    /// The last call, to repeat it.
    pub(super) last: Option<Call>,
    /// The last call for many.
    pub(super) last_batch: Option<Batch>,
}

impl Reference {
    /// Does what `call` says.
    pub(super) fn answer(&mut self, call: &Call) -> Answer {
        self.last = Some(call.clone());
        match call {
            Call::Insert(_) | Call::Replace { .. } | Call::Get(_) => {
                let (answer, stored) = write(self.records.get(call.key()), call);
                if let Some(stored) = stored {
                    self.records.insert(stored.key.clone(), stored);
                }
                answer
            }
            Call::PutParts { key, owner, parts, .. } => {
                self.parts.insert((key.clone(), *owner), parts.clone());
                Answer::PartsStored
            }
            Call::GetParts { key, owner, count } => {
                let parts = self.parts.get(&(key.clone(), *owner)).map_or(&[][..], Vec::as_slice);
                Answer::Parts(parts.get(..*count as usize).map(<[Bytes]>::to_vec))
            }
        }
    }

    /// Does what the members say, in their order.
    pub(super) fn answer_each(&mut self, batch: &Batch) {
        let last = self.last.take();
        batch.members.iter().for_each(|call| drop(self.answer(call)));
        self.last = last;
        self.last_batch = Some(batch.clone());
    }

    /// Whether an owner's parts are the same as before: an owner has one result.
    pub(super) fn allows(&self, call: &Call) -> bool {
        match call {
            Call::PutParts { key, owner, parts, .. } => {
                self.parts.get(&(key.clone(), *owner)).is_none_or(|before| before == parts)
            }
            _ => true,
        }
    }
}

/// The answer of a call on a record when `old` is stored, and what is stored instead then, if anything.
pub(super) fn write(old: Option<&Record>, call: &Call) -> (Answer, Option<Record>) {
    match (call, old) {
        (Call::Insert(record), None) => (Answer::Inserted, Some(record.clone())),
        (Call::Insert(_), Some(old)) => (Answer::Exists(old.clone()), None),
        (Call::Replace { expected, record }, Some(old)) if same_version(old, expected) => {
            (Answer::Replaced, Some(record.clone()))
        }
        (Call::Get(_), old) => (Answer::Record(old.cloned()), None),
        (_, old) => (Answer::Differs(old.cloned()), None),
    }
}

/// Compared here again, so that a field that `Version` loses is missed here.
fn same_version(old: &Record, expected: &idempotency_core::Version) -> bool {
    old.owner == expected.owner && old.status == expected.status && old.epoch == expected.epoch
}
