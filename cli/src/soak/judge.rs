//! What must be true at the end.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use aws_sdk_dynamodb::{error::DisplayErrorContext, types::AttributeValue};
use idempotency_core::Status;

use super::{disturbance::Disturbance, load::Load};
use crate::{CliError, Stack, table};

/// How many claims may be lost with one crash: a batch.
const BATCH: u64 = 10;

/// What was found, and what is wrong about it.
pub(super) struct Findings {
    chunks: usize,
    records: usize,
    in_flight: usize,
    dead_letters: usize,
    violations: Vec<String>,
}

impl Findings {
    pub(super) async fn of(
        stack: &Stack,
        load: &Load,
        disturbance: &Disturbance,
        is_through: bool,
    ) -> Result<Self, CliError> {
        let (records, chunks) = (stack.records().all().await?, chunks(stack).await?);
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
        check(records.len() == load.claims().len(), format!("{} records", records.len()));
        for (claim, count) in load.claims() {
            let stored = chunks.get(claim);
            let expected: BTreeMap<_, _> = (0..*count).map(|index| (index, Load::text(claim, index))).collect();
            check(stored == Some(&expected), format!("{claim} has other chunks than its {count}"));
        }
        let stray = chunks.keys().filter(|claim| !load.claims().contains_key(*claim)).count();
        check(stray == 0, format!("{stray} claims have chunks that nobody sent"));
        let (runs, crashes) = (disturbance.runs(), disturbance.crashes());
        let again: usize = runs.values().map(|runs| runs.saturating_sub(1)).sum();
        let lost = crashes * BATCH;
        check(again as u64 <= lost, format!("{again} claims ran again, with {lost} attempts lost at the most"));
        let never = load.claims().keys().filter(|claim| !runs.contains_key(*claim)).count();
        check(never == 0, format!("{never} claims never ran"));
        Ok(Self {
            chunks: chunks.values().map(BTreeMap::len).sum(),
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
            ("records", self.records),
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
                println!("Every claim has exactly its chunks, after {:.1} s.", took.as_secs_f64());
                ExitCode::SUCCESS
            }
            violations => {
                println!("{violations} things are not as promised.");
                ExitCode::FAILURE
            }
        }
    }
}

/// The texts of the chunks that are stored, by claim and place.
async fn chunks(stack: &Stack) -> Result<BTreeMap<String, BTreeMap<usize, String>>, CliError> {
    let client = stack.dynamodb();
    let mut pages = client.scan().table_name(Stack::CHUNKS_TABLE).consistent_read(true).into_paginator().items().send();
    let mut chunks = BTreeMap::<_, BTreeMap<_, _>>::new();
    while let Some(item) = pages.next().await {
        let item = item.map_err(|error| CliError::records(DisplayErrorContext(error).to_string()))?;
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
        let index = item.get("index").and_then(|value| AttributeValue::as_n(value).ok());
        let index = index.and_then(|index| index.parse().ok()).unwrap_or(usize::MAX);
        chunks.entry(text("claim_id")).or_default().insert(index, text("text"));
    }
    Ok(chunks)
}
