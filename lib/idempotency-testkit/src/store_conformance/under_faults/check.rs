use idempotency_core::Store;

use super::machine::FaultyMachine;
use super::run::run;
use crate::fault_proxy::FaultProxy;
use crate::store_conformance::config::Config;
use crate::store_conformance::failure::Nonconformance;
use crate::store_conformance::report::Report;
use crate::store_conformance::search::search;

/// Checks what a store on DynamoDB tells its caller when requests go wrong, and what is stored then.
///
/// Each call's first three transmissions may be lost before or after they are applied (closed, reset, error 500) or be
/// refused for now; writes may be held up and arrive after their caller gave up. Of batches, any requests and any one member may. What the caller is told must be what the
/// last transmission says, and what is stored must come from the transmissions that were applied. Every read must be strongly
/// consistent.
///
/// `make_store` makes a store behind `proxy` for each sequence, so that an SDK client's allowance of retries is whole. Give
/// its client short pauses between retries. The check takes over the proxy: rules and recorded requests are cleared. It has
/// no races; [`check`](super::super::check) has.
///
/// The future is not `Send`. Dropping it ends the check, and calls that are on their way may still be applied.
///
/// # Errors
///
/// [`Nonconformance`], with the shortest sequence of calls and faults that was found.
pub async fn check_under_faults<S: Store>(
    proxy: &FaultProxy,
    make_store: impl Fn() -> S,
    config: &Config,
) -> Result<Report, Nonconformance> {
    let mut report = Report::default();
    search::<FaultyMachine>(config, async |steps, progress| {
        run(make_store(), proxy, steps, progress, config.within, &mut report).await
    })
    .await?;
    Ok(report)
}
