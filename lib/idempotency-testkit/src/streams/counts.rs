use std::sync::atomic::{AtomicU64, Ordering};

/// What a mapping has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCounts {
    /// Records that no filter fits.
    pub passed_over: u64,
    /// Invocations that the function got, whatever they came to.
    pub invocations: u64,
    /// Invocations after which something of their batch had to be tried again or was given up.
    pub failed: u64,
    /// Records that are done.
    pub done: u64,
    /// Records that were given up.
    pub given_up: u64,
}

/// The counters behind [`StreamCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) passed_over: AtomicU64,
    pub(super) invocations: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) done: AtomicU64,
    pub(super) given_up: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self) -> StreamCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        StreamCounts {
            passed_over: read(&self.passed_over),
            invocations: read(&self.invocations),
            failed: read(&self.failed),
            done: read(&self.done),
            given_up: read(&self.given_up),
        }
    }
}

pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::AcqRel);
}
