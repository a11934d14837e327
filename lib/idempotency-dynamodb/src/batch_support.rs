//! Whether batch requests are worth sending.

use std::sync::atomic::{AtomicBool, Ordering};

/// What a store has learnt about the two batch requests.
#[derive(Debug, Default)]
pub(crate) struct BatchSupport {
    /// `BatchExecuteStatement`.
    pub(crate) writes: Support,
    /// `BatchGetItem`.
    pub(crate) reads: Support,
}

/// Whether one kind of request is answered here. It is taken to be until a single request is answered where the batch was refused
/// for good; that a batch alone was refused may be for a reason that passes, such as expired credentials.
#[derive(Debug, Default)]
pub(crate) struct Support {
    missing: AtomicBool,
}

impl Support {
    pub(crate) fn is_missing(&self) -> bool {
        self.missing.load(Ordering::Relaxed)
    }

    /// Notes that it is missing, and says so once.
    pub(crate) fn note_missing(&self, request: &str, actions: &str, refusal: &str) {
        if !self.missing.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                request,
                refusal,
                "batches are refused where single requests are answered, so every record is from now on read or written by a \
                 request of its own; to have fewer requests, grant {actions} on the table"
            );
        }
    }
}
