//! What was found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many of a kind are shown. All are counted.
const EXAMPLES: usize = 100;

/// What a run has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// How many records of each operation have which status.
    pub(crate) records: BTreeMap<String, BTreeMap<String, u64>>,
    /// In flight, and the lease is over.
    pub(crate) overdue: Found,
    /// Left to an operator.
    pub(crate) stuck: Found,
    /// Being undone, and nobody is at it.
    pub(crate) compensating: Found,
    /// Items in the place of records that this version cannot read.
    pub(crate) unreadable: Found,
    /// Effects whose records are another deployment's, which this one does not read.
    #[serde(default)]
    pub(crate) effects_of_other_namespaces: u64,
    /// Effects beyond the first with one business key.
    pub(crate) duplicates: Found,
    pub(crate) effects_without_record: Found,
    pub(crate) records_without_effect: Found,
}

/// What was found of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) count: u64,
    /// The first hundred.
    pub(crate) examples: Vec<Value>,
}

impl Found {
    pub(crate) fn add(&mut self, count: u64, example: impl FnOnce() -> Value) {
        self.count += count;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }
}
