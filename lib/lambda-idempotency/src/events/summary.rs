//! One line in the log about each event.

use std::collections::BTreeMap;

use super::{EventOperation, Settled};
use crate::metrics::{Metric, measure};

/// Counts the records of an event, and says how many have which outcome.
pub(super) fn log<R>(source: &'static str, operation: &EventOperation, settled: &[Settled<R>]) {
    #[expect(clippy::cast_precision_loss, reason = "an event has at most ten thousand records")]
    measure(Some(operation.operation().name()), Metric::BatchSize, settled.len() as f64);
    let mut counts = BTreeMap::<_, usize>::new();
    for settled in settled {
        *counts.entry(settled.outcome.name()).or_default() += 1;
    }
    let outcomes: Vec<_> = counts.into_iter().map(|(name, count)| format!("{name}={count}")).collect();
    tracing::info!(
        operation = %operation.operation(),
        source,
        records = settled.len(),
        not_done = settled.iter().filter(|settled| !settled.is_done).count(),
        outcomes = outcomes.join(" "),
        "batch"
    );
}
