//! What must be true at the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
    time::Duration,
};

use idempotency_core::Status;

use super::{books::Books, disturbance::Disturbance, load::Load};
use crate::{CliError, Relay, Stack, table};

/// How many claims may be lost with one crash: a batch.
const BATCH: u64 = 10;

/// What was found, and what is wrong about it.
pub(super) struct Findings {
    chunks: usize,
    /// How often the summariser was asked.
    summaries: u64,
    notifications: usize,
    events: usize,
    records: usize,
    in_flight: usize,
    dead_letters: usize,
    violations: Vec<String>,
}

impl Findings {
    pub(super) async fn of(
        stack: &Stack,
        relay: &Relay,
        load: &Load,
        disturbance: &Disturbance,
        is_through: bool,
    ) -> Result<Self, CliError> {
        let (records, books) = (stack.records().all().await?, Books::of(stack, relay).await?);
        let in_flight = records.iter().filter(|record| record.status != Status::Completed).count();
        let dead_letters = stack.dead_letters().map_or(0, |queue| queue.counts().total());
        let mut violations = Vec::new();
        let mut check = |holds: bool, what: String| {
            if !holds {
                violations.push(what);
            }
        };
        check(is_through, "the queue did not become empty".to_owned());
        check(dead_letters == 0, format!("{dead_letters} messages went to the dead-letter queue"));
        check(in_flight == 0, format!("{in_flight} records are not completed"));
        // The marker of a claim's notification is a record too.
        check(records.len() == 2 * load.claims().len(), format!("{} records and markers", records.len()));
        for (claim, count) in load.claims() {
            let stored = books.chunks.get(claim);
            let expected: BTreeMap<_, _> = (0..*count).map(|index| (index, Load::text(claim, index))).collect();
            check(stored == Some(&expected), format!("{claim} has other chunks than its {count}"));
            let [wordings, rows, told, events] = books.counts(claim);
            check(
                [wordings, rows, told, events] == [1; 4],
                format!("{claim} has {wordings} wordings, {rows} rows, {told} notifications, {events} events"),
            );
        }
        let stray = books.claims().into_iter().filter(|claim| !load.claims().contains_key(*claim)).count();
        check(stray == 0, format!("{stray} claims have effects that nobody sent"));
        let (runs, crashes) = (disturbance.runs(), disturbance.crashes());
        let again: usize = runs.values().map(|runs| runs.saturating_sub(1)).sum();
        let lost = crashes * BATCH;
        check(again as u64 <= lost, format!("{again} claims ran again, with {lost} attempts lost at the most"));
        let never = load.claims().keys().filter(|claim| !runs.contains_key(*claim)).count();
        check(never == 0, format!("{never} claims never ran"));
        Ok(Self {
            chunks: books.chunks.values().map(BTreeMap::len).sum(),
            summaries: stack.summariser().calls(),
            notifications: books.notifications.values().sum(),
            events: books.events.values().map(BTreeSet::len).sum(),
            records: records.len(),
            in_flight,
            dead_letters,
            violations,
        })
    }

    /// Prints what was found. The exit status is 0 only if nothing is wrong.
    pub(super) fn print(self, load: &Load, disturbance: &Disturbance, took: Duration) -> ExitCode {
        let runs: usize = disturbance.runs().values().sum();
        let rows = [
            ("messages", load.messages().len()),
            ("claims", load.claims().len()),
            ("sandboxes killed", usize::try_from(disturbance.crashes()).unwrap_or(usize::MAX)),
            ("replies of the store lost", usize::try_from(disturbance.lost_replies()).unwrap_or(usize::MAX)),
            ("runs of the handler", runs),
            ("chunks", self.chunks),
            ("calls of the summariser", usize::try_from(self.summaries).unwrap_or(usize::MAX)),
            ("notifications", self.notifications),
            ("events", self.events),
            ("records and markers", self.records),
            ("records in flight", self.in_flight),
            ("dead letters", self.dead_letters),
        ];
        let mut table = table::new(["".to_owned(), "count".to_owned()]);
        for (what, count) in rows {
            table.add_row([what.to_owned(), count.to_string()]);
        }
        table::align_right(&mut table, 1);
        println!("{table}\n");
        for violation in self.violations.iter().take(20) {
            println!("FAILED {violation}");
        }
        match self.violations.len() {
            0 => {
                println!(
                    "Every claim has exactly its chunks, one wording, one notification and one event, after {:.1} s.",
                    took.as_secs_f64()
                );
                ExitCode::SUCCESS
            }
            violations => {
                println!("{violations} things are not as promised.");
                ExitCode::FAILURE
            }
        }
    }
}
