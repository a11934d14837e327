//! Names of keys, and the keys that they stand for in one case.

use idempotency_core::RecordKey;
use uuid::Uuid;

use super::batch::Batch;
use super::call::{Answer, Call};

/// The names. So few that calls meet.
pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];

/// The real keys of one case. They are new for each, so that cases share a table and a table can be used again.
#[derive(Debug)]
pub(super) struct Keys {
    case: Uuid,
}

impl Keys {
    pub(super) fn fresh() -> Self {
        Self { case: Uuid::new_v4() }
    }

    /// The key in the form that real ones have.
    pub(super) fn real(&self, name: &RecordKey) -> RecordKey {
        RecordKey::from_stored(format!("conformance#store#v1#{}-{name}", self.case))
    }

    /// The call with the real key.
    pub(super) fn real_call(&self, call: &Call) -> Call {
        let mut call = call.clone();
        let key = call.key_mut();
        *key = self.real(key);
        call
    }

    /// The batch with the real keys.
    pub(super) fn real_batch(&self, batch: &Batch) -> Batch {
        Batch { kind: batch.kind, members: batch.members.iter().map(|call| self.real_call(call)).collect() }
    }

    /// The answer to a call on `name` with that name. A record of any other key keeps it, and so is seen to be wrong.
    pub(super) fn named_answer(&self, name: &RecordKey, mut answer: Answer) -> Answer {
        if let Answer::Exists(record) | Answer::Differs(Some(record)) | Answer::Record(Some(record)) = &mut answer
            && record.key == self.real(name)
        {
            record.key = name.clone();
        }
        answer
    }
}
