//! Sequences of calls: mostly such that something happens.

use std::fmt;

use idempotency_core::{Epoch, OwnerToken, Record, RecordKey, Version};
use proptest::{prelude::*, sample::select, strategy::Union};
use proptest_state_machine::ReferenceStateMachine;

use super::{
    batch::Batch,
    batch_values::batches,
    call::Call,
    reference::Reference,
    search::Shorten,
    values::{epoch, expires_at, key, owner, parts, record, status, version},
};

#[derive(Clone)]
pub(super) enum Step {
    Call(Call),
    Batch(Batch),
}

/// The reference as a state machine whose steps are calls.
#[derive(Debug)]
pub(super) struct Machine;

impl ReferenceStateMachine for Machine {
    type State = Reference;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Reference> {
        Just(Reference::default()).boxed()
    }

    fn transitions(state: &Reference) -> BoxedStrategy<Step> {
        prop_oneof![6 => calls(state).prop_map(Step::Call), 1 => batches(state).prop_map(Step::Batch)].boxed()
    }

    fn apply(mut state: Reference, step: &Step) -> Reference {
        match step {
            Step::Call(call) => drop(state.answer(call)),
            Step::Batch(batch) => state.answer_each(batch),
        }
        state
    }

    fn preconditions(state: &Reference, step: &Step) -> bool {
        match step {
            Step::Call(call) => state.allows(call),
            Step::Batch(_) => true,
        }
    }
}

/// The calls that are worth trying on what is stored.
pub(super) fn calls(state: &Reference) -> BoxedStrategy<Call> {
    let mut calls = vec![(4, record(key()).prop_map(Call::Insert).boxed()), (2, any_replace().boxed())];
    calls.extend([(2, key().prop_map(Call::Get).boxed()), (2, put_parts(state)), (2, get_parts(state))]);
    if !state.records.is_empty() {
        calls.extend([(6, right_replace(state)), (4, wrong_replace(state))]);
    }
    if let Some(last) = &state.last {
        calls.push((2, Just(last.clone()).boxed()));
    }
    Union::new_weighted(calls).boxed()
}

fn stored(state: &Reference) -> impl Strategy<Value = Record> + use<> {
    select(state.records.values().cloned().collect::<Vec<_>>())
}

/// A replace of what is stored.
pub(super) fn right_replace(state: &Reference) -> BoxedStrategy<Call> {
    let pairs = stored(state).prop_flat_map(|old| (Just(old.version()), record(Just(old.key))));
    pairs.prop_map(|(expected, record)| Call::Replace { expected, record }).boxed()
}

/// A replace that expects another owner, status or epoch than what is stored, and may be right in the other two.
pub(super) fn wrong_replace(state: &Reference) -> BoxedStrategy<Call> {
    let pairs = stored(state).prop_flat_map(|old| {
        let right = old.version();
        let wrong = prop_oneof![
            owner().prop_map(move |owner| Version { owner, ..right }),
            status().prop_map(move |status| Version { status, ..right }),
            epoch().prop_map(move |epoch| Version { epoch, ..right }),
            // A neighbour, which as a floating-point number may be the same.
            Just(Version { epoch: Epoch::new(right.epoch.get() ^ 1), ..right }),
        ];
        (wrong, record(Just(old.key)))
    });
    pairs.prop_map(|(expected, record)| Call::Replace { expected, record }).boxed()
}

pub(super) fn any_replace() -> impl Strategy<Value = Call> {
    (version(), record(key())).prop_map(|(expected, record)| Call::Replace { expected, record })
}

/// New parts of an owner that has none, or an owner's parts again.
fn put_parts(state: &Reference) -> BoxedStrategy<Call> {
    let before = state.parts.clone();
    let call = move |(key, owner, parts, expires_at): (RecordKey, OwnerToken, _, _)| {
        let parts = before.get(&(key.clone(), owner)).cloned().unwrap_or(parts);
        Call::PutParts { key, owner, parts, expires_at }
    };
    (key(), owner(), parts(), expires_at()).prop_map(call).boxed()
}

/// A read of an owner's parts: all, fewer, or one more than there are. Half of the keys and owners have none.
fn get_parts(state: &Reference) -> BoxedStrategy<Call> {
    let any = (key(), owner(), 0..4_u32);
    let call = |(key, owner, count)| Call::GetParts { key, owner, count };
    if state.parts.is_empty() {
        return any.prop_map(call).boxed();
    }
    let counts = state.parts.iter().map(|((key, owner), parts)| (key.clone(), *owner, parts.len()));
    let known = select(counts.collect::<Vec<_>>()).prop_flat_map(|(key, owner, stored)| {
        let stored = u32::try_from(stored).unwrap_or(u32::MAX);
        (Just(key), Just(owner), prop_oneof![2 => Just(stored), 1 => 0..stored.saturating_add(2)])
    });
    prop_oneof![2 => known, 1 => any].prop_map(call).boxed()
}

impl Shorten for Step {
    fn shorter(&self) -> Vec<Self> {
        match self {
            Self::Call(_) => Vec::new(),
            Self::Batch(batch) => batch.shorter().map(Self::Batch).collect(),
        }
    }
}

// proptest asks for it.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => call.fmt(f),
            Self::Batch(batch) => batch.fmt(f),
        }
    }
}
