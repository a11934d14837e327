//! A record with nothing special about it.

use idempotency_core::{
    AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, Record, RecordKey, Status,
};

pub(super) fn plain_record(key: RecordKey, owner: OwnerToken, epoch: i64) -> Record {
    Record {
        key,
        status: Status::InFlight,
        owner,
        execution: ExecutionId::from_bytes([3; 16]),
        renewed: false,
        resolved_at: None,
        epoch: Epoch::new(epoch),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(1_700_000_013_000),
        expires_at: EpochSeconds::new(4_000_000_000),
        fingerprint: Fingerprint::from_bytes([4; 32]),
        result: None,
    }
}
