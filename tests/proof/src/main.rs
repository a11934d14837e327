//! The long runs: `cargo run --release -p proof -- model`.

use std::{io, num::NonZero, process::ExitCode, thread};

use clap::Parser;
use proof::{
    model::Model,
    simulation::{Counts, Simulator},
};
use stateright::{Checker, Expectation, HasDiscoveries, Model as _, report::WriteReporter};

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
    /// Run the real engine in simulated time, once for each seed. A failing seed is told with the command that replays it.
    Simulate {
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many seeds.
        #[arg(long, default_value_t = 1_000_000)]
        seeds: u64,
        /// Tell what happens.
        #[arg(long)]
        trace: bool,
        /// How many threads; all processors if not said.
        #[arg(long)]
        threads: Option<usize>,
    },
}

fn main() -> ExitCode {
    match Command::parse() {
        Command::Model { threads } => search(all(threads)),
        Command::Simulate { first, seeds, trace, threads } => simulate(first, seeds, trace, all(threads) as u64),
    }
}

fn all(threads: Option<usize>) -> usize {
    threads.or_else(|| thread::available_parallelism().ok().map(NonZero::get)).unwrap_or(1)
}

fn simulate(first: u64, seeds: u64, trace: bool, threads: u64) -> ExitCode {
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            thread::spawn(move || {
                let (mut counts, mut broken) = (Counts::default(), 0_u64);
                let Ok(simulator) = Simulator::new() else { return (counts, 1) };
                for seed in (first..first.saturating_add(seeds)).filter(|seed| seed % threads == worker) {
                    let outcome = simulator.run(seed, trace);
                    counts.add(&outcome.counts);
                    broken += u64::from(!outcome.violations.is_empty());
                    if trace || (!outcome.violations.is_empty() && broken <= 3) {
                        println!("{outcome}");
                    }
                    if worker == 0 && (seed - first).is_multiple_of(50_000) && seed > first {
                        eprintln!("{} seeds", seed - first);
                    }
                }
                (counts, broken)
            })
        })
        .collect();
    let (mut counts, mut broken) = (Counts::default(), 0);
    for worker in workers {
        let Ok((some, bad)) = worker.join() else { return ExitCode::FAILURE };
        counts.add(&some);
        broken += bad;
    }
    println!("{counts:#?}\n{seeds} seeds, {broken} broken");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn search(threads: usize) -> ExitCode {
    let (mut states, mut broken) = (0, 0);
    for model in Model::long() {
        println!("\n{model}");
        let checker = model.checker().threads(threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
        let checker = checker.join_and_report(&mut WriteReporter::new(&mut io::stdout()));
        states += checker.unique_state_count();
        for property in checker.model().properties() {
            match (checker.discovery(property.name), property.expectation) {
                (Some(_), Expectation::Sometimes) | (None, Expectation::Always | Expectation::Eventually) => continue,
                (None, Expectation::Sometimes) => println!("BROKEN: {} was not reached", property.name),
                (Some(path), _) => println!("BROKEN: {}\n{path}", property.name),
            }
            broken += 1;
        }
    }
    println!("\n{states} distinct states, {broken} broken properties");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
