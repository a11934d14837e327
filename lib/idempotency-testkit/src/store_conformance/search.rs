//! Runs generated sequences until one fails, then makes that one as short as it gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use proptest_state_machine::ReferenceStateMachine;

use super::config::Config;
use super::failure::{FailedSequence, Nonconformance};

/// So many runs may be spent on making a failing sequence shorter; engines can be slow.
const SHORTENING_RUNS: usize = 2_000;

/// Counts the steps that a run has begun, for proptest to drop those that it never came to.
#[derive(Debug, Default)]
pub(super) struct Progress(Option<Arc<AtomicUsize>>);

impl Progress {
    pub(super) fn step(&self) {
        if let Some(begun) = &self.0 {
            begun.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Gives sequences of `M` to `run` until one fails.
///
/// This is proptest's own loop (its book, "Strategy basics") with a run that can be awaited: nothing blocks a thread, and
/// dropping the future stops it.
pub(super) async fn search<M: ReferenceStateMachine>(
    config: &Config,
    mut run: impl AsyncFnMut(Vec<M::Transition>, Progress) -> Result<(), FailedSequence>,
) -> Result<(), Nonconformance> {
    let mut runner = TestRunner::new_with_rng(Default::default(), rng(config.seed));
    let strategy = M::sequential_strategy(1..=config.calls.max(1));
    for case in 0..config.cases {
        let mut tree = strategy.new_tree(&mut runner).map_err(Nonconformance::NotGenerated)?;
        let Err(failed) = run_current(&tree, &mut run).await else { continue };
        let shortest = shorten(&mut tree, failed, &mut run).await;
        return Err(Nonconformance::Sequence(FailedSequence { found: Some((config.seed, case)), ..shortest }));
    }
    Ok(())
}

type Sequence<S, T> = (S, Vec<T>, Option<Arc<AtomicUsize>>);

async fn run_current<S, T>(
    tree: &impl ValueTree<Value = Sequence<S, T>>,
    run: &mut impl AsyncFnMut(Vec<T>, Progress) -> Result<(), FailedSequence>,
) -> Result<(), FailedSequence> {
    let (_, steps, begun) = tree.current();
    run(steps, Progress(begun)).await
}

/// Leaves out and simplifies steps as long as the sequence still fails.
async fn shorten<S, T>(
    tree: &mut impl ValueTree<Value = Sequence<S, T>>,
    failed: FailedSequence,
    run: &mut impl AsyncFnMut(Vec<T>, Progress) -> Result<(), FailedSequence>,
) -> FailedSequence {
    let mut shortest = failed;
    let mut changed = tree.simplify();
    for _ in 0..SHORTENING_RUNS {
        if !changed {
            break;
        }
        changed = match run_current(tree, run).await {
            Err(failed) => {
                shortest = failed;
                tree.simplify()
            }
            Ok(()) => tree.complicate(),
        };
    }
    shortest
}

/// The same numbers on every machine.
fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    for (byte, seed) in bytes.iter_mut().zip(seed.to_le_bytes()) {
        *byte = seed;
    }
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
