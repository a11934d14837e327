//! What is told to whoever counts, through the facade of the crate `metrics`. Wrappers count the rest, which they see.

use crate::Operation;

/// Counts an operation whose effects stay done although it failed for good, and of which nothing in the store says so.
pub(crate) fn compensation_lost(operation: &Operation) {
    metrics::counter!("CompensationLost").increment(1);
    metrics::counter!("CompensationLost", "Operation" => operation.name().to_owned()).increment(1);
}
