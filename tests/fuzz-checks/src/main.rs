//! The long run over mutated events: `cargo run --release -p fuzz-checks`.

use std::{fmt::Debug, num::NonZero, process::ExitCode, thread};

use clap::Parser;
use fuzz_checks::{
    Choices,
    events::{self, Trigger},
    records::{self, RecordTrigger},
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
    let is_named = |name: &str| arguments.trigger.as_ref().is_none_or(|only| only == name);
    let names = Trigger::all().iter().map(|trigger| trigger.name);
    let names: Vec<_> = names.chain(RecordTrigger::all().iter().map(|trigger| trigger.name)).collect();
    if !names.iter().any(|name| is_named(name)) {
        eprintln!("no such trigger; there are {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    let http =
        Trigger::all().iter().filter(|trigger| is_named(trigger.name)).all(|trigger| run_http(trigger, &arguments));
    let records = RecordTrigger::all().iter().filter(|trigger| is_named(trigger.name));
    if http && records.into_iter().all(|trigger| run_records(trigger, &arguments)) {
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}

fn run_http(trigger: &'static Trigger, arguments: &Arguments) -> bool {
    let trace = arguments.trace;
    let check = move |seed, counts: &mut events::Counts| match trace {
        true => println!("{}", events::check(trigger, &mut Choices::seeded(seed), counts)),
        false => events::check_seed(trigger, seed, counts),
    };
    told(trigger.name, run(arguments, check, events::Counts::add))
}

fn run_records(trigger: &'static RecordTrigger, arguments: &Arguments) -> bool {
    let trace = arguments.trace;
    let check = move |seed, counts: &mut records::Counts| match trace {
        true => println!("{}", records::check(trigger, &mut Choices::seeded(seed), counts)),
        false => records::check_seed(trigger, seed, counts),
    };
    told(trigger.name, run(arguments, check, records::Counts::add))
}

/// Tells what happened; whether all checks held.
fn told<C: Debug>(name: &str, counts: Option<C>) -> bool {
    if let Some(counts) = &counts {
        println!("{name}: {counts:#?}");
    }
    counts.is_some()
}

/// All events of one trigger, on all processors; `None` if a check did not hold, which was printed then.
fn run<C: Default + Send + 'static>(
    arguments: &Arguments,
    check: impl Fn(u64, &mut C) + Copy + Send + 'static,
    add: fn(&mut C, &C),
) -> Option<C> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            let Arguments { events, first, .. } = *arguments;
            thread::spawn(move || {
                let mut counts = C::default();
                let seeds = (first..first.saturating_add(events)).filter(|seed| seed % threads == worker);
                seeds.for_each(|seed| check(seed, &mut counts));
                counts
            })
        })
        .collect();
    workers.into_iter().try_fold(C::default(), |mut all, worker| {
        add(&mut all, &worker.join().ok()?);
        Some(all)
    })
}
