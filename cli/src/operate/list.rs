//! `idempotency list`: records by the state that they are in.

use std::{collections::BTreeSet, io::IsTerminal, time::Duration};

use clap::Args;
use futures::StreamExt;
use idempotency_core::{EpochMillis, Operation, Record, RecordKey, Status};
use idempotency_dynamodb::{DynamoDbStore, StoredItem, TableScan};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{
    connection::Connection,
    error::{Exit, OperateError},
    explain::{State, facts, operation},
    output,
    time::relative,
};

/// After this time whoever left an operation half undone is not coming back by itself: queues and callers have long tried again.
const LONG_OVER: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    wanted: Wanted,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Stop after so many.
    #[arg(long, value_name = "N", value_parser = crate::cli::positive)]
    limit: Option<usize>,
}

/// Which records; several are taken together. [default: all that wait for somebody]
#[derive(Clone, Copy, Debug, Args)]
struct Wanted {
    /// What could not be undone, and what is half undone for more than an hour although nobody is at it.
    #[arg(long, help_heading = "Which records")]
    stuck: bool,

    /// Lost attempts: in flight, and their lease is over. Nobody knows whether their effect happened. Under `on_abandoned = reject` they
    /// answer `outcome-unknown` until resolved; under `rerun` and `probe` the next request goes on. (A record does not know which.)
    #[arg(long, help_heading = "Which records")]
    uncertain: bool,

    /// Attempts that may be running.
    #[arg(long, help_heading = "Which records")]
    in_flight: bool,

    /// Whatever has a lease that is over: lost attempts, and undoing that was left.
    #[arg(long, help_heading = "Which records")]
    overdue: bool,

    /// What is being undone, or was left half undone.
    #[arg(long, help_heading = "Which records")]
    compensating: bool,

    /// All records, whatever their state.
    #[arg(long, help_heading = "Which records")]
    all: bool,
}

/// How the table is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Reading {
    /// Only records of this operation.
    #[arg(long, value_name = "NAME", help_heading = "How to read")]
    operation: Option<String>,

    /// How many parts of the table are read side by side.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "How to read")]
    segments: u32,
}

impl Reading {
    /// The scan of what is named.
    pub(crate) fn scan(&self, connection: &Connection) -> Result<TableScan, OperateError> {
        if let Some(name) = &self.operation {
            Operation::new(name, 1).map_err(OperateError::usage)?;
        }
        let scan = TableScan::new(self.segments).records_only();
        Ok(match (connection.namespace_if_named()?, &self.operation) {
            (Some(namespace), Some(operation)) => scan.key_prefix(format!("{}#{operation}#v", namespace.as_str())),
            (Some(namespace), None) => scan.key_prefix(format!("{}#", namespace.as_str())),
            (None, _) => scan,
        })
    }

    /// Whether a record is one of those, where no namespace narrows the scan.
    pub(crate) fn names(&self, record: &RecordKey) -> bool {
        self.operation.as_ref().is_none_or(|name| operation(record).rsplit_once('#').is_some_and(|(of, _)| of == name))
    }
}

impl Wanted {
    const fn is_default(self) -> bool {
        !(self.stuck || self.uncertain || self.in_flight || self.overdue || self.compensating || self.all)
    }

    fn statuses(self) -> BTreeSet<&'static str> {
        let none: &[Status] = &[];
        let (undoing, in_flight) = (&[Status::Compensating][..], &[Status::InFlight][..]);
        let groups = [
            (self.stuck || self.is_default(), &[Status::Stuck, Status::Compensating][..]),
            (self.uncertain || self.in_flight || self.overdue || self.is_default(), in_flight),
            (self.overdue || self.compensating, undoing),
        ];
        groups
            .iter()
            .flat_map(|(is_on, group)| if *is_on { group } else { none })
            .map(|status| status.as_str())
            .collect()
    }

    fn takes(self, record: &Record, now: EpochMillis) -> bool {
        let state = State::of(record, now);
        let is_left = now.saturating_since(record.lease_until) >= LONG_OVER;
        match state {
            _ if self.all => true,
            State::Stuck => self.stuck || self.is_default(),
            State::Uncertain => self.uncertain || self.overdue || self.is_default(),
            State::InFlight => self.in_flight,
            State::Compensating => self.compensating,
            State::CompensatingOverdue => {
                self.compensating || self.overdue || self.is_default() || (self.stuck && is_left)
            }
            _ => false,
        }
    }
}

impl List {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let scan = self.reading.scan(&self.connection)?;
        let scan = match self.wanted.all {
            true => scan,
            // An expired record is in none of the other states, whatever its status.
            false => {
                scan.statuses(self.wanted.statuses().into_iter().filter_map(|name| Status::from_stored(name).ok()))
            }
        };
        let store = self.connection.store().await?;
        self.connection.check_table(&store).await?;
        let progress = Progress::new(self.connection.json);
        let mut pages = Box::pin(scan.pages(&store));
        let (mut shown, mut alarming) = (0_usize, 0_usize);
        let (mut scanned, mut read_units) = (0_usize, 0.0_f64);
        'pages: while let Some(page) = pages.next().await {
            let page = page.map_err(OperateError::table("the table cannot be read"))?;
            (scanned, read_units) = (scanned + page.scanned, read_units + page.read_units.unwrap_or_default());
            progress.tell(&format!("{scanned} items read, {shown} found, {read_units} read units"));
            for item in &page.items {
                let now = self.connection.now();
                let is_alarming = match item {
                    StoredItem::Record(record) if self.reading.names(&record.key) && self.wanted.takes(record, now) => {
                        progress.aside(|| self.show(record, now))?;
                        State::of(record, now).needs_attention()
                    }
                    StoredItem::Unreadable { key, error, .. } if self.reading.names(key) => {
                        progress.aside(|| self.show_unreadable(key.as_str(), &error.to_string()))?;
                        true
                    }
                    _ => continue,
                };
                (shown, alarming) = (shown + 1, alarming + usize::from(is_alarming));
                if self.limit.is_some_and(|limit| shown >= limit) {
                    break 'pages;
                }
            }
        }
        progress.end();
        drop(pages);
        if shown == 0 && scanned > 0 {
            self.doubt_the_namespace(&store).await?;
        }
        if !self.connection.json {
            eprintln!(
                "{shown} shown, {alarming} of them wait for somebody; {scanned} items read for {read_units} read units."
            );
        }
        Ok(if alarming > 0 { Exit::Found } else { Exit::Fine })
    }

    /// Nothing was found. Says so if that may be because the records are another namespace's.
    async fn doubt_the_namespace(&self, store: &DynamoDbStore) -> Result<(), OperateError> {
        let Some(namespace) = self.connection.namespace_if_named()? else { return Ok(()) };
        let scan = TableScan::new(1).records_only();
        // A page is enough for a doubt.
        let page = scan.page(store, &scan.start(0)).await.map_err(OperateError::table("the table cannot be read"))?;
        let of = |item: &StoredItem| item.key().as_str().split('#').next().unwrap_or_default().to_owned();
        let namespaces: BTreeSet<_> = page.items.iter().map(of).collect();
        if !namespaces.is_empty() && !namespaces.contains(namespace.as_str()) {
            let others: Vec<_> = namespaces.into_iter().take(5).collect();
            eprintln!(
                "warning: of {} records that were looked at none is of the namespace {}; they are of {}",
                page.items.len(),
                namespace.as_str(),
                others.join(", ")
            );
        }
        Ok(())
    }

    fn show(&self, record: &Record, now: EpochMillis) -> Result<(), OperateError> {
        if self.connection.json {
            return output::json(&facts(record, now));
        }
        let state = State::of(record, now);
        let when = match record.status.is_leased() {
            true => format!("lease {}", relative(record.lease_until, now)),
            false => format!("expires {}", relative(record.expires_at.to_millis(), now)),
        };
        output::line(format!(
            "{:<20} {:<28} attempt {:<3} {when:<24} {}",
            state.name(),
            operation(&record.key),
            record.attempt.get(),
            record.key
        ))
    }

    fn show_unreadable(&self, key: &str, why: &str) -> Result<(), OperateError> {
        match self.connection.json {
            true => output::json(&json!({ "record": key, "state": "unreadable", "why": why })),
            false => output::line(format!("{:<20} {key}: {why}", "unreadable")),
        }
    }
}

/// A line on standard error that says how far it is, where somebody sees it.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn new(json: bool) -> Self {
        let is_seen = !json && std::io::stderr().is_terminal();
        Self(is_seen.then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            // The template is a constant; if it were wrong, the default would do.
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        }))
    }

    pub(crate) fn tell(&self, message: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(message.to_owned());
            bar.tick();
        }
    }

    /// Prints something without the line in its way.
    fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use idempotency_core::{AttemptNumber, Epoch, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, RecordKey};

    use super::*;

    const NOW: EpochMillis = EpochMillis::new(10_000_000_000);

    fn record(status: Status, lease_over_for: Duration) -> Record {
        Record {
            key: RecordKey::from_stored("prod#create-charge#v2#abc"),
            status,
            owner: OwnerToken::from_bytes([1; 16]),
            execution: ExecutionId::from_bytes([2; 16]),
            epoch: Epoch::new(7),
            attempt: AttemptNumber::FIRST,
            lease_until: NOW - lease_over_for,
            expires_at: EpochSeconds::new(20_000_000),
            fingerprint: Fingerprint::from_bytes([3; 32]),
            result: None,
            renewed: false,
            resolved_at: None,
        }
    }

    const NONE: Wanted =
        Wanted { stuck: false, uncertain: false, in_flight: false, overdue: false, compensating: false, all: false };

    #[test]
    fn what_is_half_undone_and_left_for_an_hour_is_among_what_is_stuck() {
        let stuck = Wanted { stuck: true, ..NONE };
        assert!(stuck.takes(&record(Status::Stuck, Duration::ZERO), NOW));
        assert!(stuck.takes(&record(Status::Compensating, LONG_OVER), NOW));
        assert!(!stuck.takes(&record(Status::Compensating, LONG_OVER - Duration::from_millis(1)), NOW));
        assert!(NONE.takes(&record(Status::Compensating, Duration::ZERO), NOW), "it waits for somebody");
    }

    #[test]
    fn the_scan_asks_for_every_status_that_is_taken() {
        let each = [
            NONE,
            Wanted { stuck: true, ..NONE },
            Wanted { uncertain: true, ..NONE },
            Wanted { in_flight: true, ..NONE },
            Wanted { overdue: true, ..NONE },
            Wanted { compensating: true, ..NONE },
        ];
        for wanted in each {
            for status in Status::ALL {
                let mut running = record(status, Duration::ZERO);
                running.lease_until = NOW + LONG_OVER;
                let takes = [record(status, LONG_OVER), running].iter().any(|record| wanted.takes(record, NOW));
                assert_eq!(wanted.statuses().contains(status.as_str()), takes, "{wanted:?} {status}");
            }
        }
    }
}
