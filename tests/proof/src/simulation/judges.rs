//! A judge for each key.

use std::{collections::BTreeMap, sync::Arc};

use idempotency_core::RecordKey;

use super::judge::{Counts, Judge};

/// A judge for each key of a run.
#[derive(Debug)]
pub(super) struct Judges {
    first: Arc<Judge>,
    first_key: Option<RecordKey>,
    others: BTreeMap<RecordKey, Arc<Judge>>,
}

impl Judges {
    /// A judge for each of these keys. The first one also judges what has no key.
    pub(super) fn new(keys: impl IntoIterator<Item = RecordKey>, judge: impl Fn() -> Judge) -> Self {
        let mut keys = keys.into_iter();
        let first_key = keys.next();
        let others = keys.map(|key| (key, Arc::new(judge()))).collect();
        Self { first: Arc::new(judge()), first_key, others }
    }

    /// Who judges this key.
    pub(super) fn of(&self, key: &RecordKey) -> &Arc<Judge> {
        self.others.get(key).unwrap_or(&self.first)
    }

    /// Whether this is the key of a request, and not of a marker.
    pub(super) fn knows(&self, key: &RecordKey) -> bool {
        self.others.contains_key(key) || self.first_key.as_ref() == Some(key)
    }

    /// Who judges what has no key.
    pub(super) const fn of_all(&self) -> &Arc<Judge> {
        &self.first
    }

    /// What must never happen and did, and how often what happened, in all.
    pub(super) fn finish(&self) -> (Vec<String>, Counts) {
        let (mut violations, mut counts) = self.first.finish();
        for judge in self.others.values() {
            let (more, others) = judge.finish();
            violations.extend(more);
            counts.add(&others);
        }
        (violations, counts)
    }

    /// Adds up what has happened so far.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.first.counts();
        self.others.values().for_each(|judge| counts.add(&judge.counts()));
        counts
    }
}
