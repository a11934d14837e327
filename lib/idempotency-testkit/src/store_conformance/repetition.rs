//! A call whose first transmission was applied and whose reply was lost, sent again.

use bytes::Bytes;
use idempotency_core::{Epoch, OwnerToken, Parts, Record, RecordKey, Status, StoredResult};

use super::call::Call;
use super::plain::plain_record;
use super::values::STATUSES;

/// For every status and kind of result: an insert twice, a replace twice, parts twice. The second time, the caller must
/// recognise its own record in the answer.
pub(super) fn sequences() -> impl Iterator<Item = Vec<Call>> {
    let results = [
        None,
        Some(StoredResult::Inline(Bytes::from_static(b"\0done"))),
        Some(StoredResult::Parts(Parts { count: 2, length: 2, sha256: [8; 32] })),
    ];
    STATUSES.into_iter().flat_map(move |status| results.clone().map(|result| sequence(status, result)))
}

fn sequence(status: Status, result: Option<StoredResult>) -> Vec<Call> {
    let plain = plain_record(RecordKey::from_stored("a"), OwnerToken::from_bytes([1; 16]), 1);
    let first = Record { status, result, ..plain };
    let second = Record { owner: OwnerToken::from_bytes([2; 16]), epoch: Epoch::new(2), ..first.clone() };
    let insert = Call::Insert(first.clone());
    let replace = Call::Replace { expected: first.version(), record: second.clone() };
    let parts = vec![Bytes::from_static(b"1"), Bytes::from_static(b"2")];
    let (key, owner, expires_at) = (second.key, second.owner, second.expires_at);
    let put = Call::PutParts { key: key.clone(), owner, parts, expires_at };
    let get = Call::GetParts { key, owner, count: 2 };
    [insert, replace, put, get].into_iter().flat_map(|call| [call.clone(), call]).collect()
}
