//! `idempotency watch`: how many records are in which state, again and again.

use std::{collections::BTreeMap, time::Duration};

use clap::Args;
use futures::StreamExt;
use idempotency_core::{Clock, SystemClock};
use idempotency_dynamodb::{DynamoDbStore, StoredItem, TableScan};
use serde_json::json;

use super::{
    connection::Connection,
    error::{Exit, OperateError},
    explain::{State, operation},
    list::{Progress, Reading},
    output,
    time::utc,
};

/// Count records by state and operation, again and again.
///
/// Each round reads the whole table and says what that cost in read units (one for 8 KB). It stops when --max-read-units are used up. For
/// alarms use the metrics and the log; this is for watching a deployment, or a queue's redrive, for some minutes. With --once it
/// exits with 1 if something waits for somebody; else it goes on until Ctrl-C or SIGTERM, and exits with 0.
#[derive(Clone, Debug, Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    reading: Reading,

    /// How long to wait between rounds.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::cli::duration)]
    interval: Duration,

    /// Count once and end.
    #[arg(long)]
    once: bool,

    /// Stop when so many read units are used up: 10,000 are 80 MB.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_read_units: u32,
}

/// What one round has counted.
#[derive(Default)]
struct Counts {
    by: BTreeMap<(State, String), usize>,
    unreadable: usize,
    scanned: usize,
    read_units: f64,
    /// Whether it was cut short.
    is_cut: bool,
}

impl Watch {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let scan = self.reading.scan(&self.connection)?;
        let store = self.connection.store().await?;
        self.connection.check_table(&store).await?;
        let progress = Progress::new(self.connection.json);
        let mut left = f64::from(self.max_read_units);
        loop {
            let counts = self.count(&scan, &store, &progress, left).await?;
            progress.end();
            self.show(&counts)?;
            left -= counts.read_units;
            if counts.is_cut || (left <= 0.0 && !self.once) {
                return Err(OperateError::NotMet(format!(
                    "stopped: {} read units are used up; say --max-read-units for more",
                    self.max_read_units
                )));
            }
            if self.once {
                return Ok(if counts.needs_attention() > 0 { Exit::Found } else { Exit::Fine });
            }
            tokio::time::sleep(self.interval).await;
        }
    }

    async fn count(
        &self,
        scan: &TableScan,
        store: &DynamoDbStore,
        progress: &Progress,
        left: f64,
    ) -> Result<Counts, OperateError> {
        let mut counts = Counts::default();
        let mut pages = Box::pin(scan.pages(store));
        while let Some(page) = pages.next().await {
            let page = page.map_err(OperateError::table("the table cannot be read"))?;
            counts.scanned += page.scanned;
            counts.read_units += page.read_units.unwrap_or_default();
            let now = self.connection.now();
            for item in &page.items {
                match item {
                    StoredItem::Record(record) if self.reading.names(&record.key) => {
                        *counts.by.entry((State::of(record, now), operation(&record.key))).or_default() += 1;
                    }
                    StoredItem::Unreadable { key, .. } if self.reading.names(key) => counts.unreadable += 1,
                    _ => {}
                }
            }
            progress.tell(&format!("{} items read, {} read units", counts.scanned, counts.read_units));
            // Another page costs half a unit at least.
            if counts.read_units >= left && page.next.is_some() {
                counts.is_cut = true;
                break;
            }
        }
        Ok(counts)
    }

    fn show(&self, counts: &Counts) -> Result<(), OperateError> {
        let at = utc(SystemClock.now());
        if self.connection.json {
            let of = |state: State| counts.by.iter().filter(move |((of, _), _)| *of == state);
            let states: serde_json::Map<_, _> = State::ALL
                .iter()
                .map(|state| (state.name().to_owned(), of(*state).map(|(_, count)| count).sum::<usize>().into()))
                .collect();
            let by = counts.by.iter().map(
                |((state, operation), count)| json!({ "state": state.name(), "operation": operation, "count": count }),
            );
            return output::json(&json!({
                "at": at, "states": states, "by_operation": by.collect::<Vec<_>>(), "unreadable": counts.unreadable,
                "waiting_for_somebody": counts.needs_attention(), "items_read": counts.scanned, "read_units": counts.read_units,
                "complete": !counts.is_cut,
            }));
        }
        output::line(format!(
            "{at}: {} records, {} wait for somebody; {} items read for {} read units",
            counts.by.values().sum::<usize>(),
            counts.needs_attention(),
            counts.scanned,
            counts.read_units
        ))?;
        for ((state, operation), count) in &counts.by {
            output::line(format!("  {count:>8} {:<20} {operation}", state.name()))?;
        }
        match counts.unreadable {
            0 => Ok(()),
            unreadable => output::line(format!("  {unreadable:>8} cannot be read: another version wrote them")),
        }
    }
}

impl Counts {
    fn needs_attention(&self) -> usize {
        let waiting = self.by.iter().filter(|((state, _), _)| state.needs_attention());
        waiting.map(|(_, count)| count).sum::<usize>() + self.unreadable
    }
}
