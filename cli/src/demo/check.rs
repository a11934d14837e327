//! What must be true at the end of the demo.

use std::process::ExitCode;

/// Expectations, told as they are checked.
#[derive(Default)]
pub(super) struct Checks {
    failed: usize,
}

impl Checks {
    pub(super) fn expect(&mut self, what: &str, holds: bool) {
        println!("  {} {what}", if holds { "ok    " } else { "FAILED" });
        self.failed += usize::from(!holds);
    }

    pub(super) fn conclude(self) -> ExitCode {
        match self.failed {
            0 => {
                println!("\nEvery charge was made once.");
                ExitCode::SUCCESS
            }
            failed => {
                println!("\n{failed} expectations failed.");
                ExitCode::FAILURE
            }
        }
    }
}
