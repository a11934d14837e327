//! Runs generated sequences until one fails, then makes that one as short as it gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use proptest_state_machine::ReferenceStateMachine;

use super::config::Config;
use super::failure::{FailedSequence, Nonconformance};

/// So many runs may be spent on making a failing sequence shorter; engines can be slow.
const SHORTENING_RUNS: usize = 400;

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

/// A step that may be made shorter, by one thing less in it.
pub(super) trait Shorten: Clone {
    /// All shorter forms.
    fn shorter(&self) -> Vec<Self>;
}

/// Gives sequences of `M` to `run` until one fails.
///
/// This is proptest's own loop (its book, "Strategy basics") with a run that can be awaited: nothing blocks a thread, and
/// dropping the future stops it.
pub(super) async fn search<M: ReferenceStateMachine<Transition: Shorten>>(
    config: &Config,
    mut run: impl AsyncFnMut(Vec<M::Transition>, Progress) -> Result<(), FailedSequence>,
) -> Result<(), Nonconformance> {
    let mut runner = TestRunner::new_with_rng(Default::default(), rng(config.seed));
    let strategy = M::sequential_strategy(1..=config.calls.max(1));
    for case in 0..config.cases {
        let mut tree = strategy.new_tree(&mut runner).map_err(Nonconformance::NotGenerated)?;
        let (_, steps, begun) = tree.current();
        let Err(failed) = run(steps.clone(), Progress(begun)).await else { continue };
        let (steps, failed) = simplify::<M>(&mut tree, (steps, failed), &mut run).await;
        let (steps, failed) = leave_out::<M>(steps, failed, &mut run).await;
        let shortest = shorten::<M>(steps, failed, &mut run).await;
        return Err(Nonconformance::Sequence(FailedSequence { found: Some((config.seed, case)), ..shortest }));
    }
    Ok(())
}

type Sequence<M> =
    (<M as ReferenceStateMachine>::State, Vec<<M as ReferenceStateMachine>::Transition>, Option<Arc<AtomicUsize>>);

/// Leaves out and simplifies steps, as proptest proposes, as long as the sequence still fails.
async fn simplify<M: ReferenceStateMachine>(
    tree: &mut impl ValueTree<Value = Sequence<M>>,
    mut shortest: (Vec<M::Transition>, FailedSequence),
    run: &mut impl AsyncFnMut(Vec<M::Transition>, Progress) -> Result<(), FailedSequence>,
) -> (Vec<M::Transition>, FailedSequence) {
    let mut changed = tree.simplify();
    for _ in 0..SHORTENING_RUNS {
        if !changed {
            break;
        }
        let (_, steps, begun) = tree.current();
        changed = match run(steps.clone(), Progress(begun)).await {
            Err(failed) => {
                shortest = (steps, failed);
                tree.simplify()
            }
            Ok(()) => tree.complicate(),
        };
    }
    shortest
}

/// Leaves out single steps once more: proptest does it before it simplifies, and simple steps need fewer others.
async fn leave_out<M: ReferenceStateMachine>(
    mut steps: Vec<M::Transition>,
    mut shortest: FailedSequence,
    run: &mut impl AsyncFnMut(Vec<M::Transition>, Progress) -> Result<(), FailedSequence>,
) -> (Vec<M::Transition>, FailedSequence) {
    for index in (0..steps.len()).rev() {
        let mut fewer = steps.clone();
        fewer.remove(index);
        if is_possible::<M>(&fewer)
            && let Err(failed) = run(fewer.clone(), Progress::default()).await
        {
            (steps, shortest) = (fewer, failed);
        }
    }
    (steps, shortest)
}

/// Makes steps shorter as long as the sequence still fails.
async fn shorten<M: ReferenceStateMachine<Transition: Shorten>>(
    mut steps: Vec<M::Transition>,
    mut shortest: FailedSequence,
    run: &mut impl AsyncFnMut(Vec<M::Transition>, Progress) -> Result<(), FailedSequence>,
) -> FailedSequence {
    let mut index = 0;
    'steps: while let Some(step) = steps.get(index) {
        for shorter in step.shorter() {
            let mut fewer = steps.clone();
            fewer.splice(index..=index, [shorter]);
            if is_possible::<M>(&fewer)
                && let Err(failed) = run(fewer.clone(), Progress::default()).await
            {
                (steps, shortest) = (fewer, failed);
                continue 'steps;
            }
        }
        index += 1;
    }
    shortest
}

/// Whether the preconditions still hold.
fn is_possible<M: ReferenceStateMachine>(steps: &[M::Transition]) -> bool {
    let mut runner = TestRunner::deterministic();
    let Ok(start) = M::init_state().new_tree(&mut runner) else { return false };
    let mut state = start.current();
    for step in steps {
        if !M::preconditions(&state, step) {
            return false;
        }
        state = M::apply(state, step);
    }
    true
}

/// The same numbers on every machine.
fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    for (byte, seed) in bytes.iter_mut().zip(seed.to_le_bytes()) {
        *byte = seed;
    }
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
