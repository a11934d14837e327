use std::sync::atomic::{AtomicU64, Ordering};

/// What a mapping has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappingCounts {
    /// Batches that were worked on to their end. A batch over Lambda's 6 MB is several.
    pub batches: u64,
    /// Invocations that the function got, whatever they came to.
    pub invocations: u64,
    /// Tries for which no sandbox was free.
    pub throttled: u64,
    /// Messages that were deleted after their success.
    pub deleted: u64,
    /// Messages that were left to come back after their visibility timeout.
    pub returned: u64,
}

/// The counters behind [`MappingCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) batches: AtomicU64,
    pub(super) invocations: AtomicU64,
    pub(super) throttled: AtomicU64,
    pub(super) deleted: AtomicU64,
    pub(super) returned: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self) -> MappingCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        MappingCounts {
            batches: read(&self.batches),
            invocations: read(&self.invocations),
            throttled: read(&self.throttled),
            deleted: read(&self.deleted),
            returned: read(&self.returned),
        }
    }
}

pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::AcqRel);
}
