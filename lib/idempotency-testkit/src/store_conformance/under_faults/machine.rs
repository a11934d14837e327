//! Sequences of calls with what happens to their transmissions.

use std::fmt;

use idempotency_core::{OwnerToken, RecordKey};
use proptest::{collection::vec, prelude::*, strategy::Union};
use proptest_state_machine::ReferenceStateMachine;

use super::fault::{Transmission, batch_transmission, transmission};
use crate::store_conformance::batch::Batch;
use crate::store_conformance::batch_values::batches_of_different_keys;
use crate::store_conformance::call::Call;
use crate::store_conformance::machine::calls;
use crate::store_conformance::plain::plain_record;
use crate::store_conformance::reference::Reference;
use crate::store_conformance::search::Shorten;
use crate::store_conformance::values::key;

/// An SDK client sends a request three times at most; a store that sends it more often is answered then.
const TRANSMISSIONS: usize = 3;

/// So many writes may be on their way at a time: each doubles what may be stored.
const LATE: usize = 3;

#[derive(Clone)]
pub(super) enum Step {
    /// A call, and what happens to its first transmissions. Those after them pass.
    Call(Call, Vec<Transmission>),
    /// Many calls by one, and what happens to its first transmissions, whatever they carry.
    Batch(Batch, Vec<Transmission>),
    /// A write whose request is held up, and whose caller gives up.
    Late(Call),
    /// Everything that is held up goes on and arrives.
    Arrive,
    /// What is stored under this key.
    Look(RecordKey),
}

/// What is probably stored, to make steps from that do something. What may be stored is `Records`' question.
#[derive(Clone, Debug, Default)]
pub(super) struct Planned {
    reference: Reference,
    late: Vec<Call>,
}

#[derive(Debug)]
pub(super) struct FaultyMachine;

impl ReferenceStateMachine for FaultyMachine {
    type State = Planned;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Planned> {
        Just(Planned::default()).boxed()
    }

    fn transitions(state: &Planned) -> BoxedStrategy<Step> {
        let calls = calls(&state.reference);
        let faulty = (calls.clone(), vec(transmission(), 0..=TRANSMISSIONS));
        let mut steps = vec![
            (8, faulty.prop_map(|(call, transmissions)| Step::Call(call, transmissions)).boxed()),
            (3, key().prop_map(Step::Look).boxed()),
            (3, batch(&state.reference).boxed()),
        ];
        if !state.late.is_empty() {
            steps.push((2, Just(Step::Arrive).boxed()));
        }
        if state.late.len() < LATE {
            steps.push((2, late(calls).boxed()));
        }
        Union::new_weighted(steps).boxed()
    }

    fn apply(mut state: Planned, step: &Step) -> Planned {
        match step {
            Step::Call(call, transmissions) if is_applied(transmissions) => drop(state.reference.answer(call)),
            // Parts that were tried stay the owner's parts.
            Step::Call(call @ Call::PutParts { .. }, _) => drop(state.reference.answer(call)),
            Step::Call(call, _) => state.reference.last = Some(call.clone()),
            Step::Batch(batch, _) => state.reference.answer_each(batch),
            Step::Late(call) => {
                state.late.push(call.clone());
                state.reference.last = Some(call.clone());
            }
            Step::Arrive => state.late.drain(..).for_each(|call| drop(state.reference.answer(&call))),
            Step::Look(_) => {}
        }
        state
    }

    fn preconditions(state: &Planned, step: &Step) -> bool {
        match step {
            Step::Call(call, _) => state.reference.allows(call),
            Step::Late(_) => state.late.len() < LATE,
            Step::Batch(..) | Step::Arrive | Step::Look(_) => true,
        }
    }
}

/// Whether one transmission is applied, by a client that goes on after every fault.
fn is_applied(transmissions: &[Transmission]) -> bool {
    transmissions.len() < TRANSMISSIONS || transmissions.iter().any(|transmission| transmission.is_applied())
}

/// The requests of a batch and those that settle what it leaves open.
fn batch(state: &Reference) -> impl Strategy<Value = Step> + use<> {
    let faulty = (batches_of_different_keys(state), vec(batch_transmission(), 0..=3 * TRANSMISSIONS));
    faulty.prop_map(|(batch, transmissions)| Step::Batch(batch, transmissions))
}

/// A call on a record; parts are sent many at a time, and holding one says nothing of the others.
fn late(calls: BoxedStrategy<Call>) -> impl Strategy<Value = Step> {
    let write = calls.prop_filter_map("a call on parts", |call| {
        matches!(call, Call::Insert(_) | Call::Replace { .. }).then_some(call)
    });
    write.prop_map(Step::Late)
}

/// A replace of what never is stored: it shows what is.
pub(super) fn look(key: &RecordKey) -> Call {
    // Not one of the generated owners.
    let record = plain_record(key.clone(), OwnerToken::from_bytes([9; 16]), 0);
    Call::Replace { expected: record.version(), record }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call, transmissions) => {
                call.fmt(f)?;
                network(f, transmissions)
            }
            Self::Batch(batch, transmissions) => {
                batch.fmt(f)?;
                network(f, transmissions)
            }
            Self::Late(call) => write!(f, "{call}\n     network: held up, and the caller gives up"),
            Self::Arrive => f.write_str("what is held up arrives"),
            Self::Look(key) => write!(f, "look at {key}"),
        }
    }
}

fn network(f: &mut fmt::Formatter<'_>, transmissions: &[Transmission]) -> fmt::Result {
    for (index, transmission) in transmissions.iter().enumerate() {
        write!(f, "{}{transmission}", if index == 0 { "\n     network: " } else { ", then " })?;
    }
    Ok(())
}

impl Shorten for Step {
    fn shorter(&self) -> Vec<Self> {
        match self {
            Self::Batch(batch, network) => batch.shorter().map(|batch| Self::Batch(batch, network.clone())).collect(),
            _ => Vec::new(),
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
