//! Writing what has been gathered.

use std::{
    io::{Write, stdout},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use metrics_cloudwatch_embedded::Collector;

static COLLECTOR: OnceLock<&'static Collector> = OnceLock::new();

/// Invocations that are under way in this process.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Values that are kept since the last line was written.
static VALUES: AtomicUsize = AtomicUsize::new(0);

/// How many values are kept at the most. A metric of one line has at most 100 ("Specification: Embedded metric format"), and the
/// collector loses what is above. The rest is for what others keep at the same time.
const MOST_VALUES: usize = 80;

pub(super) fn set_collector(collector: &'static Collector) {
    let _ = COLLECTOR.set(collector);
}

/// Writes the metrics that were gathered since the last time to the standard output, a line for each set of dimensions. Without a
/// recorder of [`install`](super::install) this does nothing.
///
/// What cannot be written is lost; nothing panics.
pub fn flush() {
    let Some(collector) = COLLECTOR.get() else { return };
    VALUES.store(0, Ordering::Relaxed);
    // In one piece, so that no other line comes in between.
    let lines = catch_unwind(AssertUnwindSafe(|| {
        let mut lines = Vec::new();
        collector.flush(&mut lines).map(|()| lines)
    }));
    if let Ok(Ok(lines)) = lines
        && !lines.is_empty()
    {
        let mut out = stdout().lock();
        let _ = out.write_all(&lines).and_then(|()| out.flush());
    }
}

/// Makes sure that some more values can be kept.
pub(super) fn make_room(values: usize) {
    if VALUES.fetch_add(values, Ordering::Relaxed) >= MOST_VALUES {
        flush();
    }
}

/// Writes the metrics when the last invocation that is under way ends, however it does: before Lambda freezes the sandbox.
#[derive(Debug)]
pub(crate) struct FlushAtEnd(());

impl FlushAtEnd {
    pub(crate) fn new() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for FlushAtEnd {
    fn drop(&mut self) {
        if UNDER_WAY.fetch_sub(1, Ordering::Relaxed) == 1 {
            flush();
        }
    }
}
