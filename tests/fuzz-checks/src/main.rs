//! The long run over mutated events: `cargo run --release -p fuzz-checks`.

use std::{num::NonZero, process::ExitCode, thread};

use clap::Parser;
use fuzz_checks::{
    Choices,
    events::{Counts, Trigger, check, check_seed},
};

/// Mutated events of every trigger through decoding, the idempotent handler and the response.
#[derive(Clone, Debug, Parser)]
#[command(name = "fuzz-checks", version, about)]
struct Arguments {
    /// How many events per trigger.
    #[arg(long, default_value_t = 100_000)]
    events: u64,
    /// The seed of the first event.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only this trigger.
    #[arg(long)]
    trigger: Option<String>,
    /// Print each event.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let named = |trigger: &&Trigger| arguments.trigger.as_ref().is_none_or(|name| name == trigger.name);
    let triggers: Vec<&Trigger> = Trigger::all().iter().filter(named).collect();
    if triggers.is_empty() {
        let names: Vec<_> = Trigger::all().iter().map(|trigger| trigger.name).collect();
        eprintln!("no such trigger; there are {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    for trigger in triggers {
        match run(trigger, &arguments) {
            Some(counts) => println!("{}: {counts:#?}", trigger.name),
            None => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

/// All events of one trigger, on all processors; `None` if a check did not hold, which was printed then.
fn run(trigger: &'static Trigger, arguments: &Arguments) -> Option<Counts> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            let Arguments { events, first, trace, .. } = arguments.clone();
            thread::spawn(move || {
                let mut counts = Counts::default();
                for seed in (first..first.saturating_add(events)).filter(|seed| seed % threads == worker) {
                    match trace {
                        true => println!("{}", check(trigger, &mut Choices::seeded(seed), &mut counts)),
                        false => check_seed(trigger, seed, &mut counts),
                    }
                }
                counts
            })
        })
        .collect();
    workers.into_iter().try_fold(Counts::default(), |mut all, worker| {
        all.add(&worker.join().ok()?);
        Some(all)
    })
}
