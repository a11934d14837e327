//! The long runs: `cargo run --release -p proof -- model`.

use std::{io, num::NonZero, process::ExitCode, thread};

use clap::Parser;
use proof::model::Model;
use stateright::{Checker, Expectation, Model as _, report::WriteReporter};

/// The evidence for the protocol, at length.
#[derive(Debug, Parser)]
#[command(name = "proof", version, about)]
enum Command {
    /// Search every order of steps and faults of the large models. Takes minutes and some gigabytes of memory.
    Model {
        /// How many threads search; all processors if not said.
        #[arg(long)]
        threads: Option<usize>,
    },
}

fn main() -> ExitCode {
    let Command::Model { threads } = Command::parse();
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(NonZero::get)).unwrap_or(1);
    let (mut states, mut broken) = (0, 0);
    for model in Model::long() {
        println!("\n{model}");
        let checker = model.checker().threads(threads).spawn_bfs();
        let checker = checker.join_and_report(&mut WriteReporter::new(&mut io::stdout()));
        states += checker.unique_state_count();
        for property in checker.model().properties() {
            let found = checker.discovery(property.name).is_some();
            if found != matches!(property.expectation, Expectation::Sometimes) {
                println!("BROKEN: {}", property.name);
                broken += 1;
            }
        }
    }
    println!("\n{states} distinct states, {broken} broken properties");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
