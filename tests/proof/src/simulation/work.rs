//! What an operation does beyond one effect, and what came of it, for all keys of a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use idempotency_core::{AttributeValue, Effect, ExecutionId, Record, Status, TableWriteKind};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// One effect outside, between a claim and its end.
    Effect,
    /// Two steps with undos, a memo, a marker, and a transfer that is staged and commits with the end.
    Steps,
    /// A transfer that is staged, without a claim.
    Atomic,
}

/// The steps, in their order.
pub(super) const STEPS: [&str; 2] = ["reserve", "charge"];

/// What stands in the account that transfers take from, at first: less than some runs take.
const FIRST_BALANCE: i64 = 3;

/// What came of it.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Whether one attempt is at work at a time, by the assumptions of the run.
    pub(super) is_exclusive: bool,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    generations: BTreeMap<ExecutionId, Generation>,
    balances: BTreeMap<String, i64>,
    /// How the marker stands.
    marker: Option<Status>,
}

#[derive(Debug, Default)]
struct Generation {
    is_compensated: bool,
    commits: usize,
    completions: usize,
    /// Calls of each step, and those whose output their attempt has not seen stored.
    calls: BTreeMap<String, (usize, usize)>,
    /// What handlers have seen of each step or memo.
    outputs: BTreeMap<String, String>,
    undone: BTreeSet<String>,
}

impl Generation {
    /// Whether a step was called, whoever knows of it, and is not undone.
    fn is_left(&self, step: &str) -> bool {
        self.calls.contains_key(step) && !self.undone.contains(step)
    }
}

impl Ledger {
    pub(super) fn new(is_exclusive: bool) -> Self {
        let seen = Seen { balances: [("from".to_owned(), FIRST_BALANCE)].into(), ..Seen::default() };
        Self { is_exclusive, seen: Mutex::new(seen) }
    }

    /// The first of these writes whose condition does not hold.
    pub(super) fn refused(&self, effects: &[Effect]) -> Option<usize> {
        let seen = self.seen();
        effects.iter().position(|effect| {
            let Some((account, _, least)) = transfer(effect) else { return true };
            seen.balances.get(&account).copied().unwrap_or_default() < least
        })
    }

    /// A record was stored, and these writes with it.
    pub(super) fn commit(&self, record: &Record, effects: &[Effect], is_marker: bool) -> Vec<String> {
        let mut broken = Vec::new();
        let mut seen = self.seen();
        if is_marker {
            seen.marker = Some(record.status);
            return broken;
        }
        for (account, by, _) in effects.iter().filter_map(transfer) {
            *seen.balances.entry(account).or_default() += by;
        }
        let sum: i64 = seen.balances.values().sum();
        if sum != FIRST_BALANCE || seen.balances.values().any(|balance| *balance < 0) {
            broken.push(format!("E the balances are {:?}", seen.balances));
        }
        let generation = seen.generations.entry(record.execution).or_default();
        generation.commits += usize::from(!effects.is_empty());
        generation.completions += usize::from(record.status == Status::Completed);
        generation.is_compensated |= record.status == Status::Compensating;
        if record.status == Status::Failed && self.is_exclusive {
            let left: Vec<_> = STEPS.iter().filter(|step| generation.is_left(step)).collect();
            if !left.is_empty() {
                broken.push(format!("U6 it failed and {left:?} are not undone"));
            }
        }
        if record.status == Status::Completed && generation.is_compensated {
            broken.push("U8 a generation completes whose steps were being undone".to_owned());
        }
        broken
    }

    /// A handler begins.
    pub(super) fn begins(&self, record: &Record) -> Option<String> {
        let mut seen = self.seen();
        let generation = seen.generations.entry(record.execution).or_default();
        let is_wrong = record.status == Status::InFlight && generation.is_compensated;
        is_wrong.then(|| "U1 a handler begins after its failure".to_owned())
    }

    /// A step or memo is called.
    pub(super) fn call(&self, execution: ExecutionId, name: &str) -> Vec<String> {
        let mut broken = Vec::new();
        let mut seen = self.seen();
        let generation = seen.generations.entry(execution).or_default();
        let (calls, lost) = generation.calls.entry(name.to_owned()).or_default();
        (*calls, *lost) = (*calls + 1, *lost + 1);
        if !self.is_exclusive {
            return broken;
        }
        if generation.is_compensated {
            broken.push(format!("U2 {name} is called after the failure"));
        }
        if generation.outputs.contains_key(name) {
            broken.push(format!("S3 {name} is called again although its output is known"));
        }
        broken
    }

    /// A handler has seen an output.
    pub(super) fn sees(&self, execution: ExecutionId, name: &str, output: &str, is_own: bool) -> Option<String> {
        let mut seen = self.seen();
        let generation = seen.generations.entry(execution).or_default();
        if is_own && let Some((_, lost)) = generation.calls.get_mut(name) {
            *lost = lost.saturating_sub(1);
        }
        if !output.starts_with(&execution.to_string()) {
            return Some(format!("S2 {name} has the output of another generation"));
        }
        let first = generation.outputs.entry(name.to_owned()).or_insert_with(|| output.to_owned());
        (first != output).then(|| format!("S1 {name} has given {first:?} and {output:?}"))
    }

    /// A step is undone.
    pub(super) fn undo(&self, execution: ExecutionId, name: &str) -> Vec<String> {
        let mut broken = Vec::new();
        let mut seen = self.seen();
        let generation = seen.generations.entry(execution).or_default();
        if !generation.is_compensated {
            broken.push(format!("U3 {name} is undone before the failure is stored"));
        }
        let mut later = STEPS.iter().skip_while(|step| **step != name).skip(1);
        if self.is_exclusive && later.any(|step| generation.is_left(step)) {
            broken.push(format!("U5 {name} is undone too early"));
        }
        generation.undone.insert(name.to_owned());
        broken
    }

    /// The marker's call is made.
    pub(super) fn mark(&self) -> Option<String> {
        let status = self.seen().marker;
        let is_wrong = self.is_exclusive && status != Some(Status::InFlight);
        is_wrong.then(|| format!("the marker's call is made while it is {status:?}"))
    }

    /// What must not be so in the end.
    pub(super) fn finish(&self, stages: bool) -> Vec<String> {
        let seen = self.seen();
        let mut broken = Vec::new();
        for generation in seen.generations.values() {
            if stages && (generation.commits != generation.completions || generation.commits > 1) {
                broken.push(format!("E {} commits, {} completions", generation.commits, generation.completions));
            }
            let too_many = |(_, (calls, lost)): &(&String, &(usize, usize))| *calls > 1 + lost;
            if self.is_exclusive
                && let Some((name, (calls, lost))) = generation.calls.iter().find(too_many)
            {
                broken.push(format!("S4 {name} was called {calls} times, {lost} were lost"));
            }
        }
        broken
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Account, amount and least balance of a write: the one form that runs use.
fn transfer(effect: &Effect) -> Option<(String, i64, i64)> {
    let Effect::Table(write) = effect else { return None };
    let TableWriteKind::Update { key, .. } = write.kind() else { return None };
    let number = |name: &str| match write.values().get(name) {
        Some(AttributeValue::N(number)) => number.parse().ok(),
        _ => None,
    };
    let AttributeValue::S(account) = key.get("id")? else { return None };
    let least = write.condition().map_or(Some(i64::MIN), |_| number(":least"))?;
    Some((account.clone(), number(":increment_by")?, least))
}
