use std::sync::Arc;

use idempotency_core::Store;

use super::config::Config;
use super::failure::Nonconformance;
use super::machine::{Machine, Step};
use super::report::Report;
use super::{commits, races, repetition, rows, search, sequence};

/// Checks a store against the contract of [`Store`]. The [module's documentation](super) says how.
///
/// All keys are new, so the store need not be empty; what was written stays in it, expiring in 2096 at the earliest. The
/// future runs in any Tokio runtime; it is not `Send`, so it is awaited in the test itself. Dropping it ends the check, and
/// calls that are on their way may still be applied.
///
/// # Errors
///
/// [`Nonconformance`], with the shortest sequence of calls that was found, or the race or call.
pub async fn check<S: Store>(store: S, config: &Config) -> Result<Report, Nonconformance> {
    let store = Arc::new(store);
    let mut report = Report::default();
    for calls in repetition::sequences() {
        let steps = calls.into_iter().map(Step::Call).collect();
        let run = sequence::run(&*store, steps, Default::default(), config.within, &mut report);
        run.await.map_err(Nonconformance::Sequence)?;
    }
    search::search::<Machine>(config, async |steps, progress| {
        sequence::run(&*store, steps, progress, config.within, &mut report).await
    })
    .await?;
    races::run(&store, config, &mut report).await?;
    rows::run(&store, config, &mut report).await?;
    commits::run(&store, config, &mut report).await?;
    Ok(report)
}
