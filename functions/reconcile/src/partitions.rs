//! Entries on their way into partitions and out of them.

use serde::{Deserialize, Serialize};

use crate::{entry::Entry, run::App, state::State, storage::StorageError};

/// How hard zstd tries: entries are much alike, so the fastest is enough.
const LEVEL: i32 = 1;

/// A set of entries that were written together, an object for each partition that has some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flush {
    /// Names its objects. Another invocation's have other names, so a late one spoils nothing.
    id: String,
    /// Bytes of the entries of each partition, as they were in memory.
    bytes: Vec<usize>,
}

/// Entries that are in memory.
#[derive(Debug)]
pub(crate) struct Gathered {
    places: Vec<Vec<Entry>>,
    bytes: Vec<usize>,
}

/// Why entries could not be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartitionError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("entries cannot be encoded or decoded")]
    Json(#[from] serde_json::Error),
    #[error("entries cannot be compressed or decompressed")]
    Zstd(#[source] std::io::Error),
    #[error("what this run has written down is gone: {0}; delete the run's state, and it begins anew")]
    Gone(String),
}

impl Gathered {
    pub(crate) fn new(places: usize) -> Self {
        Self { places: (0..places).map(|_| Vec::new()).collect(), bytes: vec![0; places] }
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        let place = entry.place(self.places.len());
        if let (Some(entries), Some(bytes)) = (self.places.get_mut(place), self.bytes.get_mut(place)) {
            *bytes += entry.size();
            entries.push(entry);
        }
    }

    /// About how much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.iter().sum()
    }

    /// Writes all of them, and says so in the state, which is not stored by this.
    pub(crate) async fn flush(&mut self, app: &App, state: &mut State, id: String) -> Result<(), PartitionError> {
        if self.bytes() == 0 {
            return Ok(());
        }
        for (place, entries) in self.places.iter().enumerate().filter(|(_, entries)| !entries.is_empty()) {
            let bytes = encode(entries)?;
            app.storage.write(&name(app, state, place, &id), bytes).await?;
        }
        state.flushes.push(Flush { id, bytes: self.bytes.clone() });
        *self = Self::new(self.places.len());
        Ok(())
    }
}

/// In how many passes a partition is looked at, so that its entries fit into memory.
pub(crate) fn passes(state: &State, place: usize, memory: usize) -> usize {
    let bytes: usize = state.flushes.iter().filter_map(|flush| flush.bytes.get(place)).sum();
    bytes.div_ceil(memory.max(1)).max(1)
}

/// Gives each entry of one pass over a partition to `take`.
pub(crate) async fn entries(
    app: &App,
    state: &State,
    place: usize,
    (pass, passes): (usize, usize),
    mut take: impl FnMut(Entry),
) -> Result<(), PartitionError> {
    // What is at a place out of `n` is at that place, or `n` further and so on, out of `n * passes`.
    let (finer, only) = (state.places * passes, place + pass * state.places);
    for name in names(app, state, place) {
        let stored = app.storage.read(&name).await?.ok_or(PartitionError::Gone(name))?;
        decode(&stored.bytes)?.into_iter().filter(|entry| entry.place(finer) == only).for_each(&mut take);
    }
    Ok(())
}

/// Deletes what was written of a partition.
pub(crate) async fn forget(app: &App, state: &State, place: usize) -> Result<(), PartitionError> {
    for name in names(app, state, place) {
        app.storage.delete(&name).await?;
    }
    Ok(())
}

fn names(app: &App, state: &State, place: usize) -> Vec<String> {
    let has_some = |flush: &&Flush| flush.bytes.get(place).is_some_and(|bytes| *bytes > 0);
    state.flushes.iter().filter(has_some).map(|flush| name(app, state, place, &flush.id)).collect()
}

fn name(app: &App, state: &State, place: usize, id: &str) -> String {
    format!("{}/work/{place:04}/{id}", app.folder(&state.run))
}

/// A line of JSON for each, compressed.
fn encode(entries: &[Entry]) -> Result<Vec<u8>, PartitionError> {
    let mut lines = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut lines, entry)?;
        lines.push(b'\n');
    }
    zstd::stream::encode_all(lines.as_slice(), LEVEL).map_err(PartitionError::Zstd)
}

fn decode(bytes: &[u8]) -> Result<Vec<Entry>, PartitionError> {
    let lines = zstd::stream::decode_all(bytes).map_err(PartitionError::Zstd)?;
    let entries = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(entries.map(serde_json::from_slice).collect::<Result<_, _>>()?)
}
