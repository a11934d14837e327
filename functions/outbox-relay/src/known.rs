//! What this process knows to have been sent.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
};

use idempotency_core::EventId;

/// Larger than any batch of a stream.
const MOST: usize = 20_000;

/// The events that this process has sent, the newest of them. It saves sending them again when a batch comes again for the sake of one
/// that failed; another process does not know, and sends them again.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    ids: HashSet<EventId>,
    in_order: VecDeque<EventId>,
}

impl Known {
    /// Whether this process has sent the event.
    pub(crate) fn has(&self, id: &EventId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ids.contains(id)
    }

    /// Remembers an event that was taken. Says whether it is new.
    pub(crate) fn remember(&self, id: &EventId) -> bool {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.ids.insert(id.clone()) {
            return false;
        }
        inner.in_order.push_back(id.clone());
        if inner.in_order.len() > MOST
            && let Some(oldest) = inner.in_order.pop_front()
        {
            inner.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_known() {
        let known = Known::default();
        let id = |n: usize| EventId::from_stored(n.to_string());
        assert!((0..=MOST).all(|n| known.remember(&id(n))));
        assert!(!known.remember(&id(MOST)));
        assert_eq!([0, 1, MOST, MOST + 1].map(|n| known.has(&id(n))), [false, true, true, false]);
    }
}
