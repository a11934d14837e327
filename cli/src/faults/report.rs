//! The sweep's table.

use std::process::ExitCode;

use super::case::{Blow, Case, Path, Policy};
use crate::table;

/// How the cases ended.
#[derive(Default)]
pub(super) struct Report {
    ended: Vec<(Case, Option<String>)>,
}

impl Report {
    pub(super) fn add(&mut self, case: Case, violation: Option<String>) {
        self.ended.push((case, violation));
    }

    /// Prints how many cases of each kind ended as promised, and every one that did not.
    pub(super) fn print(self) -> ExitCode {
        // Two short lines for each fault, so that the table fits a screen.
        let faults = Blow::ALL.map(|blow| blow.name().replace('-', "\n"));
        let mut table = table::new(["policy", "path"].map(str::to_owned).into_iter().chain(faults));
        for policy in Policy::ALL {
            for path in Path::ALL {
                let cells = Blow::ALL.map(|blow| self.cell(policy, path, blow));
                if cells.iter().any(|cell| !cell.is_empty()) {
                    table.add_row([policy.name(), path.name()].map(str::to_owned).into_iter().chain(cells));
                }
            }
        }
        (2..2 + Blow::ALL.len()).for_each(|column| table::align_right(&mut table, column));
        println!("{table}\n");
        let failed: Vec<_> = self.ended.iter().filter_map(|(case, why)| Some((case, why.as_ref()?))).collect();
        for (case, violation) in &failed {
            println!("FAILED {case}: {violation}\n       again: idempotency faults --only {case}");
        }
        match failed.len() {
            0 => {
                println!("{} faults, each ended as promised.", self.ended.len());
                ExitCode::SUCCESS
            }
            failed => {
                println!("\n{failed} of {} faults broke a promise.", self.ended.len());
                ExitCode::FAILURE
            }
        }
    }

    /// How many cases there were, and how many of them broke a promise.
    fn cell(&self, policy: Policy, path: Path, blow: Blow) -> String {
        let of_kind = |case: &Case| (case.policy, case.path, case.blow) == (policy, path, blow);
        let ended: Vec<_> = self.ended.iter().filter(|(case, _)| of_kind(case)).collect();
        match (ended.len(), ended.iter().filter(|(_, violation)| violation.is_some()).count()) {
            (0, _) => String::new(),
            (cases, 0) => cases.to_string(),
            (cases, failed) => format!("{failed} of {cases} FAILED"),
        }
    }
}
