//! Generated records and parts: ordinary values, and those at the ends of what a field can hold.

use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Parts, Record, RecordKey,
    Status, StoredResult, Version,
};
use proptest::{collection::vec, num, prelude::*, sample::select};

use super::keys::NAMES;

/// A moment that no clock has passed (the year 2096): what has expired may vanish.
const NOT_EXPIRED: i64 = 4_000_000_000;

pub(super) const STATUSES: [Status; 6] =
    [Status::InFlight, Status::Released, Status::Completed, Status::Failed, Status::Compensating, Status::Stuck];

pub(super) fn key() -> impl Strategy<Value = RecordKey> {
    select(&NAMES[..]).prop_map(RecordKey::from_stored)
}

/// So few that calls meet; two differ in their last bit only.
pub(super) fn owner() -> impl Strategy<Value = OwnerToken> {
    let almost_seven = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6];
    select(vec![[7; 16], almost_seven, [0; 16], [255; 16]]).prop_map(OwnerToken::from_bytes)
}

pub(super) fn status() -> impl Strategy<Value = Status> {
    select(STATUSES.to_vec())
}

/// So few that calls meet.
pub(super) fn epoch() -> impl Strategy<Value = Epoch> {
    let values = vec![0, 1, -1, 1_700_000_000_000, i64::MAX - 1, i64::MAX, i64::MIN];
    select(values).prop_map(Epoch::new)
}

pub(super) fn version() -> impl Strategy<Value = Version> {
    (owner(), status(), epoch()).prop_map(|(owner, status, epoch)| Version { owner, status, epoch })
}

pub(super) fn expires_at() -> impl Strategy<Value = EpochSeconds> {
    prop_oneof![Just(NOT_EXPIRED), (NOT_EXPIRED..i64::MAX).no_shrink(), Just(i64::MAX)].prop_map(EpochSeconds::new)
}

fn lease_until() -> impl Strategy<Value = EpochMillis> {
    let near = 1_700_000_000_000..1_800_000_000_000_i64;
    prop_oneof![Just(0), near.no_shrink(), num::i64::ANY.no_shrink(), Just(i64::MIN), Just(i64::MAX)]
        .prop_map(EpochMillis::new)
}

fn attempt() -> impl Strategy<Value = AttemptNumber> {
    prop_oneof![1..4_u32, Just(u32::MAX)].prop_map(AttemptNumber::new)
}

pub(super) fn record(key: impl Strategy<Value = RecordKey>) -> impl Strategy<Value = Record> {
    let identity = (key, status(), owner(), bits::<16>(), any::<bool>(), proptest::option::of(lease_until()), epoch());
    (identity, attempt(), lease_until(), expires_at(), bits::<32>(), result()).prop_map(
        |(
            (key, status, owner, execution, renewed, resolved_at, epoch),
            attempt,
            lease_until,
            expires_at,
            fingerprint,
            result,
        )| {
            Record {
                key,
                status,
                owner,
                execution: ExecutionId::from_bytes(execution),
                renewed,
                resolved_at,
                epoch,
                attempt,
                lease_until,
                expires_at,
                fingerprint: Fingerprint::from_bytes(fingerprint),
                result,
            }
        },
    )
}

/// Bits that differ from place to place. They, and other numbers whose size tells nothing, do not shrink: each step is a run.
fn bits<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    num::u64::ANY.no_shrink().prop_map(|seed| {
        let mut noise = noise(seed);
        [(); N].map(|()| noise.next().unwrap_or_default())
    })
}

fn result() -> impl Strategy<Value = Option<StoredResult>> {
    let inline = prop_oneof![20 => 0..200_usize, 1 => Just(StoredResult::MAX_INLINE)];
    let count = prop_oneof![1..20_u32, Just(u32::MAX)];
    let length = prop_oneof![(1..10_000_000_u64).no_shrink(), Just(u64::MAX)];
    let parts = (count, length, bits());
    prop_oneof![
        2 => Just(None),
        4 => bytes(inline).prop_map(|bytes| Some(StoredResult::Inline(bytes))),
        2 => parts.prop_map(|(count, length, sha256)| Some(StoredResult::Parts(Parts { count, length, sha256 }))),
    ]
}

/// Parts: mostly a few small ones, now and then many, or one of the largest size.
pub(super) fn parts() -> impl Strategy<Value = Vec<Bytes>> {
    prop_oneof![
        12 => vec(bytes(0..200_usize), 0..4),
        2 => vec(bytes(0..20_usize), 10..20),
        1 => vec(bytes(Just(Parts::MAX_SIZE)), 1),
    ]
}

fn bytes(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Bytes> {
    (length, num::u64::ANY.no_shrink()).prop_map(|(length, seed)| noise(seed).take(length).collect::<Vec<u8>>().into())
}

/// Bytes among which a cut, a shift or a mix is seen (xorshift).
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    })
}
