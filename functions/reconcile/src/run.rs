//! One invocation: goes on with the night's run until it is done or its time is over.

use std::time::Duration;

use aws_sdk_dynamodb::{error::DisplayErrorContext, types::TableDescription};
use chrono::DateTime;
use idempotency_core::{Clock, EpochMillis, OwnerToken, RandomTokens, SystemClock, TokenSource};
use idempotency_dynamodb::DynamoDbStore;
use lambda_idempotency::metrics;
use lambda_runtime::Error;
use serde::{Deserialize, Serialize};

use crate::{
    config::Settings,
    judge::Comparison,
    metric,
    partitions::{Gathered, entries, forget, passes},
    report,
    scan::{Items, Page, Scan},
    sift,
    state::{Held, Segment, State, TableState, basis},
    storage::Storage,
};

/// What the function works with.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: DynamoDbStore,
    pub(crate) storage: Storage,
    pub(crate) settings: Settings,
}

/// What an invocation is told: the event of a schedule, or anything else.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Invocation {
    /// The time for which it was scheduled (RFC 3339): its day names the run. Without it, the current day.
    #[serde(default)]
    time: Option<String>,
}

/// What an invocation answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Answer {
    run: String,
    state: Progress,
    /// Where the report is.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

/// Where the run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    /// It is done, and its report is written.
    Finished,
    /// It was done before, and nothing was done now.
    FinishedBefore,
    /// The time is over: the next invocation goes on.
    Continues,
}

/// About how much memory the entries of an item take, for the number of partitions.
const ITEM_BYTES: u64 = 300;

/// More objects for each flush would cost more than they are worth.
const MOST_PLACES: u64 = 1024;

/// An invocation's own time.
struct Time {
    ends_at: EpochMillis,
}

impl Time {
    /// A quarter of the time is left for storing how far the run has come.
    fn new(now: EpochMillis, deadline: EpochMillis) -> Self {
        // Local hosts have deadlines in 1970.
        let left = match deadline.saturating_since(now) {
            Duration::ZERO => Duration::from_secs(60),
            left => left,
        };
        Self { ends_at: now + left * 3 / 4 }
    }

    fn is_over(&self) -> bool {
        SystemClock.now() >= self.ends_at
    }

    fn left(&self) -> Duration {
        self.ends_at.saturating_since(SystemClock.now())
    }
}

impl App {
    /// The folder of a run.
    pub(crate) fn folder(&self, run: &str) -> String {
        format!("{}/{run}", self.settings.namespace.as_str())
    }
}

/// Goes on with a run until it is done or the time is over.
pub(crate) async fn run(app: &App, invocation: Invocation, deadline: EpochMillis) -> Result<Answer, Error> {
    let now = SystemClock.now();
    let time = Time::new(now, deadline);
    let run = invocation.day(now)?;
    let answer = |state, report| Ok(Answer { run: run.clone(), state, report });
    let mut held = match Held::load(app, &run).await? {
        None => Held::new(begin(app, run.clone(), now).await?),
        Some(held) if held.state.finished_at.is_some() => return answer(Progress::FinishedBefore, None),
        Some(held) if held.state.basis == basis(app) => held,
        Some(held) => {
            tracing::warn!(run, "this run was begun with another configuration or version, so it begins afresh");
            held.afresh(begin(app, run.clone(), now).await?)
        }
    };
    held.state.invocations += 1;
    if !scan(app, &mut held, &time).await? || !compare(app, &mut held, &time).await? {
        tracing::info!(run, "the time is over; the next invocation goes on");
        return answer(Progress::Continues, None);
    }
    let finished_at = SystemClock.now();
    let report = report::write(app, &held.state, finished_at.get()).await?;
    held.state.finished_at = Some(finished_at.get());
    // Told before the end is stored, for nobody tells it afterwards. Who dies in between is followed by one that tells it again, and as
    // these are values and not counters, twice is no more than once.
    metric::tell(&held.state);
    metrics::flush();
    held.save(app).await?;
    tracing::info!(run, report, "reconciled");
    answer(Progress::Finished, Some(report))
}

/// Looks at the tables, and cuts the work.
async fn begin(app: &App, run: String, now: EpochMillis) -> Result<State, Error> {
    let names = std::iter::once(app.store.table()).chain(app.settings.effects.iter().map(|table| table.table.as_str()));
    let (mut tables, mut items, mut table_bytes) = (Vec::new(), 0, None);
    for name in names {
        let described = app.store.client().describe_table().table_name(name).send().await;
        let described = described
            .map_err(|error| format!("the table {name:?} cannot be described: {}", DisplayErrorContext(error)))?;
        let table = described.table.ok_or_else(|| format!("the table {name:?} is not described"))?;
        let positive = |number: Option<i64>| number.unwrap_or(0).max(0).unsigned_abs();
        items += positive(table.item_count());
        table_bytes.get_or_insert(positive(table.table_size_bytes()));
        let segments = vec![Segment::Start; app.settings.segments as usize];
        tables.push(TableState {
            name: name.to_owned(),
            key: key_attributes(&table),
            segments,
            items: 0,
            read_units: 0.0,
        });
    }
    let memory = app.settings.memory.max(1) as u64;
    let places = (items * ITEM_BYTES).div_ceil(memory).clamp(1, MOST_PLACES);
    Ok(State {
        run,
        basis: basis(app),
        stored_as: String::new(),
        started_at: now.get(),
        finished_at: None,
        invocations: 0,
        table_bytes: table_bytes.unwrap_or(0),
        places: usize::try_from(places).unwrap_or(1),
        judged: 0,
        tables,
        flushes: Vec::new(),
        findings: Default::default(),
    })
}

fn key_attributes(table: &TableDescription) -> Vec<String> {
    table.key_schema().iter().map(|element| element.attribute_name().to_owned()).collect()
}

/// Reads the tables. Says whether all is read.
async fn scan(app: &App, held: &mut Held, time: &Time) -> Result<bool, Error> {
    if held.state.is_scanned() {
        return Ok(true);
    }
    let mut gathered = Gathered::new(held.state.places);
    let mut scan = Scan::new(app, &held.state);
    loop {
        let page = match tokio::time::timeout(time.left(), scan.page()).await {
            Ok(Some(page)) => page?,
            Ok(None) => break,
            // Pages that are on their way are read again.
            Err(_) => break,
        };
        sift_page(app, &mut held.state, &page, &mut gathered).await;
        scan.taken(&mut held.state, page);
        if gathered.bytes() >= app.settings.memory {
            save(app, held, &mut gathered).await?;
        }
        if time.is_over() {
            break;
        }
    }
    save(app, held, &mut gathered).await?;
    Ok(held.state.is_scanned())
}

async fn sift_page(app: &App, state: &mut State, page: &Page, gathered: &mut Gathered) {
    let now = state.started_at();
    match &page.items {
        Items::Records(items) => {
            for item in items {
                let entry = sift::record(app, &mut state.findings, item, now).await;
                entry.into_iter().for_each(|entry| gathered.add(entry));
            }
        }
        Items::Effects(items) => {
            let index = page.table.saturating_sub(1);
            let (Some(described), Some(table)) = (app.settings.effects.get(index), state.tables.get(page.table)) else {
                return;
            };
            for item in items {
                let entries =
                    sift::effect(&mut state.findings, &app.settings.namespace, index, described, &table.key, item);
                entries.into_iter().for_each(|entry| gathered.add(entry));
            }
        }
    }
}

/// Stores how far the run has come: what was gathered first, then that it was.
async fn save(app: &App, held: &mut Held, gathered: &mut Gathered) -> Result<(), Error> {
    let id = format!("{:04}-{}", held.state.flushes.len(), OwnerToken::from_bytes(RandomTokens.draw()?));
    gathered.flush(app, &mut held.state, id).await?;
    Ok(held.save(app).await?)
}

/// Compares what was gathered, partition by partition. Says whether all is compared.
async fn compare(app: &App, held: &mut Held, time: &Time) -> Result<bool, Error> {
    while held.state.judged < held.state.places {
        if time.is_over() {
            return Ok(false);
        }
        let (place, mut findings) = (held.state.judged, held.state.findings.clone());
        let (settings, started_at) = (&app.settings, held.state.started_at);
        let passes = passes(&held.state, place, settings.memory);
        for pass in 0..passes {
            let mut comparison = Comparison::default();
            entries(app, &held.state, place, (pass, passes), |entry| comparison.take(settings, started_at, entry))
                .await?;
            comparison.end(settings, started_at, &mut findings);
        }
        held.state.findings = findings;
        held.state.judged += 1;
        held.save(app).await?;
        forget(app, &held.state, place).await?;
    }
    Ok(true)
}

impl Invocation {
    /// The day of the run.
    fn day(&self, now: EpochMillis) -> Result<String, Error> {
        let time = match &self.time {
            Some(time) => DateTime::parse_from_rfc3339(time).map(|time| time.to_utc()).map_err(|error| {
                format!("the event's time {time:?} is none ({error}); leave it out, or say 2026-11-30T02:00:00Z")
            })?,
            None => DateTime::from_timestamp_millis(now.get()).unwrap_or_default(),
        };
        Ok(time.format("%Y-%m-%d").to_string())
    }
}

#[cfg(test)]
mod tests;
