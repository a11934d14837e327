//! What breaks, and what is counted meanwhile.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use fastrand::Rng;
use idempotency_testkit::{
    fault_proxy::{Fault, ProxiedRequest, Rule},
    lambda::{Function, Sandbox},
};
use serde_json::Value;

use crate::{Stack, cli::Soak};

/// How many requests an invocation makes at the least: the batch of claims, and for each of ten a look whether it is known, its summary,
/// its chunks, the marker's two and its end. Crashes come at requests, as often as asked for per invocation.
const REQUESTS: f64 = 61.0;

/// What was done to the function, and what it did.
#[derive(Clone, Default)]
pub(super) struct Disturbance(Arc<State>);

#[derive(Default)]
struct State {
    crashes: AtomicU64,
    lost_replies: AtomicU64,
    /// How often the worker began to store each claim's chunks.
    runs: Mutex<BTreeMap<String, usize>>,
}

impl Disturbance {
    /// Begins to break things, at random by the seed.
    pub(super) fn begin(stack: &Stack, arguments: &Soak) -> Self {
        let disturbance = Self::default();
        let state = Arc::clone(&disturbance.0);
        let counted = Rule::on("BatchWriteItem").table(Stack::CHUNKS_TABLE).forever().when(move |request| {
            state.count_run(request);
            false
        });
        let crashes = {
            let (state, function) = (Arc::clone(&disturbance.0), stack.function().clone());
            let (random, chance) = (Mutex::new(Rng::with_seed(arguments.seed)), percent(arguments.crashes) / REQUESTS);
            Rule::any().forever().when(move |_| {
                state.crash(&function, &mut locked(&random), chance);
                false
            })
        };
        let lost = {
            let state = Arc::clone(&disturbance.0);
            let (random, chance) = (Mutex::new(Rng::with_seed(arguments.seed + 1)), percent(arguments.lost_replies));
            // Of the requests to the store only: a repeated write of chunks would be counted as another run.
            Rule::any().forever().when(move |request| {
                let is_lost = request.operation != "BatchWriteItem" && locked(&random).f64() < chance;
                state.lost_replies.fetch_add(u64::from(is_lost), Ordering::Relaxed);
                is_lost
            })
        };
        stack.proxy().inject(counted.fault(Fault::DropBefore));
        stack.proxy().inject(crashes.fault(Fault::DropBefore));
        stack.proxy().inject(lost.fault(Fault::DropAfter));
        disturbance
    }

    pub(super) fn crashes(&self) -> u64 {
        self.0.crashes.load(Ordering::Relaxed)
    }

    pub(super) fn lost_replies(&self) -> u64 {
        self.0.lost_replies.load(Ordering::Relaxed)
    }

    /// How often each claim's chunks were stored.
    pub(super) fn runs(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        locked(&self.0.runs)
    }
}

impl State {
    fn count_run(&self, request: &ProxiedRequest) {
        let claim = request.body.pointer("/RequestItems/chunks/0/PutRequest/Item/claim_id/S").and_then(Value::as_str);
        *locked(&self.runs).entry(claim.unwrap_or("?").to_owned()).or_default() += 1;
    }

    /// Kills a sandbox at work, as often as the chance says.
    fn crash(&self, function: &Function, random: &mut Rng, chance: f64) {
        if random.f64() >= chance {
            return;
        }
        let busy: Vec<_> = function.sandboxes().into_iter().filter(Sandbox::is_busy).collect();
        if random.choice(&busy).is_some_and(Sandbox::kill) {
            self.crashes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn percent(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
