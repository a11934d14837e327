//! What people read.

use serde::Serialize;

use crate::{
    findings::Findings,
    run::App,
    state::{HeldError, State},
};

/// The report of a run.
#[derive(Serialize)]
struct Report<'a> {
    namespace: &'a str,
    run: &'a str,
    started_at: i64,
    finished_at: i64,
    invocations: u32,
    tables: Vec<Table<'a>>,
    #[serde(flatten)]
    findings: &'a Findings,
}

#[derive(Serialize)]
struct Table<'a> {
    name: &'a str,
    items: u64,
    read_units: f64,
}

/// Writes the report of a run, and says where it is.
pub(crate) async fn write(app: &App, state: &State, finished_at: i64) -> Result<String, HeldError> {
    let tables = state.tables.iter();
    let report = Report {
        namespace: app.settings.namespace.as_str(),
        run: &state.run,
        started_at: state.started_at,
        finished_at,
        invocations: state.invocations,
        tables: tables
            .map(|table| Table { name: &table.name, items: table.items, read_units: table.read_units })
            .collect(),
        findings: &state.findings,
    };
    let name = format!("{}/report.json", app.folder(&state.run));
    app.storage.write(&name, serde_json::to_vec_pretty(&report)?).await?;
    Ok(app.storage.url_of(&name))
}
