//! How far a run has come.

use idempotency_core::{EpochMillis, OwnerToken, RandomTokens, TokenError, TokenSource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    findings::Findings,
    partitions::Flush,
    run::App,
    storage::{StorageError, Version},
};

/// How far a run has come: all that the next invocation needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The day of the run, such as `2026-11-30`.
    pub(crate) run: String,
    /// What the tables are read and judged by, as [`basis`] has it. What another basis has gathered cannot be gone on with: a table would
    /// not be read, or be taken for another one.
    #[serde(default)]
    pub(crate) basis: Value,
    /// Drawn for each time that it is stored, so that no two stored states are alike: an invocation knows its own by it.
    #[serde(default)]
    pub(crate) stored_as: String,
    /// In milliseconds since 1970.
    pub(crate) started_at: i64,
    pub(crate) finished_at: Option<i64>,
    pub(crate) invocations: u32,
    /// The size of the table of records.
    pub(crate) table_bytes: u64,
    /// How many partitions there are.
    pub(crate) places: usize,
    /// How many of them have been looked at.
    pub(crate) judged: usize,
    /// The table of records, and those of effects in the order of the configuration.
    pub(crate) tables: Vec<TableState>,
    pub(crate) flushes: Vec<Flush>,
    pub(crate) findings: Findings,
}

/// How far a table was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableState {
    pub(crate) name: String,
    /// Its key attributes.
    pub(crate) key: Vec<String>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) items: u64,
    pub(crate) read_units: f64,
}

/// How far a segment was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Segment {
    Start,
    After(String),
    End,
}

impl State {
    pub(crate) fn started_at(&self) -> EpochMillis {
        EpochMillis::new(self.started_at)
    }

    /// How many effects were read.
    pub(crate) fn effects_scanned(&self) -> u64 {
        self.tables.iter().skip(1).map(|table| table.items).sum()
    }

    pub(crate) fn is_scanned(&self) -> bool {
        self.tables.iter().flat_map(|table| &table.segments).all(|segment| *segment == Segment::End)
    }
}

/// What this configuration reads and judges tables by. How many segments and how much memory there are is not part of it: what a run was
/// cut into stands in its state, and goes on whatever there is.
pub(crate) fn basis(app: &App) -> Value {
    let settings = &app.settings;
    json!({
        // Entries may have another form.
        "version": env!("CARGO_PKG_VERSION"),
        "records": app.store.table(),
        "effects": settings.effects,
        "remembered_for_seconds": settings.remembered_for.as_secs(),
    })
}

/// A state, and what is stored of it. Whoever else stores one ends this one's work.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) state: State,
    version: Version,
}

impl Held {
    /// The state of a run; `None` if it has not begun.
    pub(crate) async fn load(app: &App, run: &str) -> Result<Option<Self>, HeldError> {
        let Some(stored) = app.storage.read(&name(app, run)).await? else { return Ok(None) };
        Ok(Some(Self { state: serde_json::from_slice(&stored.bytes)?, version: stored.version }))
    }

    /// The state of a run that begins, which is not stored yet.
    pub(crate) const fn new(state: State) -> Self {
        Self { state, version: Version::Nothing }
    }

    /// A state in the place of this one, which is given up. It is not stored yet.
    pub(crate) fn afresh(self, state: State) -> Self {
        Self { state, ..self }
    }

    /// Stores it.
    pub(crate) async fn save(&mut self, app: &App) -> Result<(), HeldError> {
        self.state.stored_as = OwnerToken::from_bytes(RandomTokens.draw()?).to_string();
        let bytes = serde_json::to_vec(&self.state)?;
        self.version = app.storage.replace(&name(app, &self.state.run), bytes, &self.version).await?;
        Ok(())
    }
}

/// Why a state could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeldError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the state of this run is none that this version knows; delete it, and the run begins anew")]
    Json(#[from] serde_json::Error),
    #[error("no random bytes can be drawn")]
    Token(#[from] TokenError),
}

fn name(app: &App, run: &str) -> String {
    format!("{}/state.json", app.folder(run))
}
