//! Calls that are made by one call for many, as values.

use std::time::Duration;

use idempotency_core::{RecordKey, Store, StoreError, Write, Written};

use super::call::{Answer, Call};

/// Writes for `write_many`, or reads for `get_many`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) kind: Kind,
    /// Inserts and replaces, or gets.
    pub(super) members: Vec<Call>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Writes,
    Reads,
}

impl Batch {
    /// The batches with one member less.
    pub(super) fn shorter(&self) -> impl Iterator<Item = Self> {
        (0..self.members.len()).map(|index| {
            let mut shorter = self.clone();
            shorter.members.remove(index);
            shorter
        })
    }

    /// Makes the call: an answer for each member, if the store gives as many.
    pub(super) async fn on<S: Store>(&self, store: &S, within: Duration) -> Vec<Result<Answer, StoreError>> {
        match self.kind {
            Kind::Writes => {
                let writes: Vec<Write> = self.members.iter().filter_map(write).collect();
                let answers = store.write_many(&writes, within).await.into_iter();
                // An answer too many is nobody's, and no member's answer.
                let calls = self.members.iter().map(Some).chain(std::iter::repeat(None));
                answers.zip(calls).map(|(answer, call)| answer.map(|written| written_answer(call, written))).collect()
            }
            Kind::Reads => {
                let keys: Vec<RecordKey> = self.members.iter().map(|call| call.key().clone()).collect();
                let answers = store.get_many(&keys, within).await.into_iter();
                answers.map(|answer| answer.map(Answer::Record)).collect()
            }
        }
    }
}

fn write(call: &Call) -> Option<Write> {
    match call {
        Call::Insert(record) => Some(Write::Insert(record.clone())),
        Call::Replace { expected, record } => Some(Write::Replace { expected: *expected, record: record.clone() }),
        Call::Get(_) | Call::PutParts { .. } | Call::GetParts { .. } => None,
    }
}

/// The same answer in the words of a single call. An insert cannot be refused by nothing, and so is given a replace's words then.
fn written_answer(call: Option<&Call>, written: Written) -> Answer {
    match (call, written) {
        (Some(Call::Insert(_)), Written::Written) => Answer::Inserted,
        (Some(Call::Insert(_)), Written::Refused(Some(old))) => Answer::Exists(old),
        (_, Written::Written) => Answer::Replaced,
        (_, Written::Refused(old)) => Answer::Differs(old),
    }
}
