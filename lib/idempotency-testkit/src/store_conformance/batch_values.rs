//! Generated batches: mostly a few members on keys of which some are stored, now and then more than one request can carry.

use std::ops::Range;

use idempotency_core::RecordKey;
use proptest::{collection::vec, prelude::*, strategy::Union};

use super::batch::{Batch, Kind};
use super::call::Call;
use super::machine::{any_replace, right_replace, wrong_replace};
use super::reference::Reference;
use super::values::{key, record};

/// As many keys as make a large batch.
const KEYS: usize = 40;

/// DynamoDB's requests carry 25 writes and 100 reads.
const LARGE_WRITE: Range<usize> = 26..56;
const LARGE_READ: Range<usize> = 101..110;

/// Batches in which a key may stand several times.
pub(super) fn batches(state: &Reference) -> BoxedStrategy<Batch> {
    let writes = members(write(state, any_key().boxed()), LARGE_WRITE);
    let reads = members(any_key().prop_map(Call::Get).boxed(), LARGE_READ);
    let writes = writes.prop_map(|members| Batch { kind: Kind::Writes, members });
    let reads = reads.prop_map(|members| Batch { kind: Kind::Reads, members });
    let again = state.last_batch.clone().map(|last| (2, Just(last).boxed()));
    Union::new_weighted([(6, writes.boxed()), (3, reads.boxed())].into_iter().chain(again).collect()).boxed()
}

/// Batches in which no key stands twice.
pub(super) fn batches_of_different_keys(state: &Reference) -> BoxedStrategy<Batch> {
    let different = |mut batch: Batch| {
        let mut seen = std::collections::BTreeSet::new();
        batch.members.retain(|call| seen.insert(call.key().clone()));
        batch
    };
    batches(state).prop_map(different).boxed()
}

fn members(member: BoxedStrategy<Call>, large: Range<usize>) -> impl Strategy<Value = Vec<Call>> {
    prop_oneof![12 => vec(member.clone(), 0..8), 1 => vec(member, large)]
}

fn any_key() -> impl Strategy<Value = RecordKey> {
    prop_oneof![1 => key(), 2 => (0..KEYS).prop_map(|number| RecordKey::from_stored(format!("{number}")))]
}

fn write(state: &Reference, key: BoxedStrategy<RecordKey>) -> BoxedStrategy<Call> {
    let mut writes = vec![(5, record(key).prop_map(Call::Insert).boxed()), (1, any_replace().boxed())];
    if !state.records.is_empty() {
        writes.extend([(4, right_replace(state)), (2, wrong_replace(state))]);
    }
    Union::new_weighted(writes).boxed()
}
