//! `idempotency faults`: every single fault, at every request, on the real binaries.

mod bench;
mod case;
mod judge;
mod report;

use std::{process::ExitCode, sync::Mutex};

use futures::future::try_join_all;
use indicatif::{ProgressBar, ProgressStyle};

use self::{
    bench::{Bench, Undisturbed},
    case::{Blow, Case, Path, Policy},
    judge::violation,
    report::Report,
};
use crate::{CliError, cli::Faults};

/// The cases of one policy, and what each path looks like without a fault.
struct Plan {
    policy: Policy,
    undisturbed: Vec<(Path, Undisturbed)>,
    cases: Vec<Case>,
}

/// Runs the sweep. Succeeds only if every case ended as promised.
pub(crate) async fn run(arguments: Faults) -> Result<ExitCode, CliError> {
    let mut plans = Vec::new();
    for policy in Policy::ALL {
        plans.push(Plan::make(policy).await?);
    }
    for plan in &mut plans {
        plan.cases.retain(|case| arguments.only.as_ref().is_none_or(|only| case.to_string().contains(only)));
    }
    let cases: usize = plans.iter().map(|plan| plan.cases.len()).sum();
    if cases == 0 {
        return Err(CliError::NoCase { only: arguments.only.unwrap_or_default() });
    }
    for plan in &mut plans {
        plan.cases = std::mem::take(&mut plan.cases).into_iter().step_by(arguments.every).collect();
    }
    let progress = progress_bar(plans.iter().map(|plan| plan.cases.len()).sum());
    let report = Mutex::new(Report::default());
    for plan in &plans {
        let queue = Mutex::new(plan.cases.iter().rev().copied().collect());
        try_join_all((0..arguments.jobs.min(plan.cases.len())).map(|_| work(plan, &queue, &report, &progress))).await?;
    }
    progress.finish_and_clear();
    let report = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(report.print())
}

impl Plan {
    /// Finds out which requests each path makes, by taking it without a fault.
    async fn make(policy: Policy) -> Result<Self, CliError> {
        let mut bench = Bench::start(policy).await?;
        let (mut undisturbed, mut cases) = (Vec::new(), Vec::new());
        for path in Path::ALL {
            let way = bench.undisturbed(path).await?;
            for &step in &way.steps {
                let blows = Blow::ALL.into_iter().filter(|blow| blow.hits(step.callee));
                cases.extend(blows.map(|blow| Case { policy, path, step, blow }));
            }
            undisturbed.push((path, way));
        }
        bench.stop().await;
        Ok(Self { policy, undisturbed, cases })
    }

    fn violation(&self, case: &Case, seen: &judge::Observed) -> Option<String> {
        let way = self.undisturbed.iter().find(|(path, _)| *path == case.path);
        way.and_then(|(_, way)| violation(case, &way.seen, seen))
    }
}

/// One worker: a stack of its own, on which it carries out cases until none is left.
async fn work(
    plan: &Plan,
    queue: &Mutex<Vec<Case>>,
    report: &Mutex<Report>,
    progress: &ProgressBar,
) -> Result<(), CliError> {
    let mut bench = Bench::start(plan.policy).await?;
    while let Some(case) = next(queue) {
        progress.set_message(case.to_string());
        let seen = bench.carry_out(&case).await?;
        let violation = plan.violation(&case, &seen);
        if let Some(violation) = &violation {
            progress.suspend(|| eprintln!("FAILED {case}: {violation}"));
        }
        locked(report).add(case, violation);
        progress.inc(1);
    }
    bench.stop().await;
    Ok(())
}

fn next(queue: &Mutex<Vec<Case>>) -> Option<Case> {
    locked(queue).pop()
}

fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} faults, {elapsed} of about {duration}  {msg}");
    // The template is a constant; if it were wrong, the default would do.
    ProgressBar::new(cases as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
