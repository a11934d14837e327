//! What must become of each record of a delivery, by the contract.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    deliver::{Ending, Read, Setup},
    known::{Identity, Known, key},
};

/// What must become of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Undecodable,
    Keyless,
    NotReached,
    /// Its handler runs and ends so.
    Runs(Ending),
    Replay,
    Failed,
    Mismatch,
    Conflict,
}

impl Fate {
    pub(super) const fn is_done(self, setup: Setup) -> bool {
        matches!(self, Self::Runs(Ending::Done) | Self::Replay) || (setup.skips_poison && self.is_poison())
    }

    /// Whether it would end the same way each time.
    const fn is_poison(self) -> bool {
        matches!(
            self,
            Self::Undecodable | Self::Keyless | Self::Mismatch | Self::Failed | Self::Runs(Ending::Permanent)
        )
    }
}

/// What is known of each key that has been claimed.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(BTreeMap<Identity, Claimed>);

#[derive(Clone, Debug)]
struct Claimed {
    compared: Vec<u8>,
    ending: Ending,
}

/// A record, as far as its fate depends on it.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) identity: Option<Identity>,
    group: Option<String>,
    compared: Vec<u8>,
    ending: Option<Ending>,
}

/// The facts about each record.
pub(super) fn facts<Src: Known>(records: &[Src::Record], read: &[Read]) -> Vec<Facts> {
    let facts = records.iter().zip(read).map(|(record, read)| {
        let declared = read.task.as_ref().and_then(|task| task.key.as_deref()).map(key);
        let identity = Src::travelling(record).or(declared).or_else(|| Src::platform(record));
        Facts {
            identity: identity.and_then(Result::ok),
            group: Src::group(record),
            compared: Src::compared(record, &read.payload),
            ending: read.task.as_ref().map(super::deliver::Task::ending),
        }
    });
    facts.collect()
}

impl Facts {
    /// What must be in order with it.
    fn chain(&self, place: usize) -> (Option<&str>, Option<&Identity>, usize) {
        match (&self.group, &self.identity) {
            (Some(group), _) => (Some(group), None, 0),
            (None, Some(identity)) => (None, Some(identity), 0),
            (None, None) => (None, None, place),
        }
    }
}

/// What must become of the records of a delivery; `None` if that depends on which of two chains is quicker, or on which of two
/// spellings is the same.
pub(super) fn predict(facts: &[Facts], setup: Setup, keys: &mut Keys) -> Option<Vec<Fate>> {
    let mut chains: BTreeMap<&Identity, BTreeSet<_>> = BTreeMap::new();
    for (place, record) in facts.iter().enumerate() {
        if let (Some(identity), Some(_)) = (&record.identity, record.ending) {
            chains.entry(identity).or_default().insert(record.chain(place));
        }
    }
    if chains.values().any(|chains| chains.len() > 1) {
        return None;
    }
    let mut stopped = BTreeSet::new();
    let mut fates = Vec::new();
    for record in facts {
        let fate = match (&record.group, record.ending, &record.identity) {
            (_, None, _) => Fate::Undecodable,
            (Some(group), ..) if stopped.contains(group) => Fate::NotReached,
            (_, _, None) => Fate::Keyless,
            (_, Some(ending), Some(identity)) => keys.fate(identity, &record.compared, ending)?,
        };
        if let Some(group) = record.group.as_ref().filter(|_| !fate.is_done(setup)) {
            stopped.insert(group);
        }
        fates.push(fate);
    }
    Some(fates)
}

impl Keys {
    fn fate(&mut self, identity: &Identity, compared: &[u8], ending: Ending) -> Option<Fate> {
        if let Some(claimed) = self.0.get(identity) {
            if !is_same(&claimed.compared, compared)? {
                return Some(Fate::Mismatch);
            }
            match claimed.ending {
                Ending::Done => return Some(Fate::Replay),
                Ending::Permanent => return Some(Fate::Failed),
                Ending::Abandoned | Ending::Panic => return Some(Fate::Conflict),
                Ending::Retryable => {}
            }
        }
        self.0.insert(identity.clone(), Claimed { compared: compared.to_vec(), ending });
        Some(Fate::Runs(ending))
    }
}

/// Whether two payloads are the same; `None` for two spellings of one JSON value, of which not all have a canonical form.
fn is_same(one: &[u8], other: &[u8]) -> Option<bool> {
    if one == other {
        return Some(true);
    }
    let canonical = |text: &[u8]| {
        let value: serde_json::Value = serde_json::from_slice(text).ok()?;
        serde_json_canonicalizer::to_vec(&value).ok()
    };
    match (canonical(one), canonical(other)) {
        (Some(one), Some(other)) if one == other => None,
        _ => Some(false),
    }
}
