//! What happened, in order.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use idempotency_core::{Clock, SystemClock};
use idempotency_testkit::lambda::FunctionEvent;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::{
    claim_line::ClaimLine,
    entry::{Entry, Invocation, Kind},
};
use crate::Trigger;

/// Old entries make room for new ones.
const KEPT_ENTRIES: usize = 500;

/// The timeline. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    entries: Arc<Mutex<Entries>>,
    version: watch::Sender<u64>,
    trigger: Trigger,
}

#[derive(Debug, Default)]
struct Entries {
    kept: VecDeque<Entry>,
    last_id: u64,
}

impl Timeline {
    pub(super) fn new(trigger: Trigger) -> Self {
        Self { entries: Arc::default(), version: watch::Sender::new(0), trigger }
    }

    /// Writes down what happens to the function until it is gone.
    pub(super) async fn follow(self, mut events: mpsc::UnboundedReceiver<FunctionEvent>) {
        while let Some(event) = events.recv().await {
            self.take(event);
        }
    }

    /// Writes down what somebody did.
    pub(super) fn note(&self, said: impl Into<String>) {
        self.push(Kind::Deed(said.into()));
    }

    fn take(&self, event: FunctionEvent) {
        match event {
            FunctionEvent::Invoked { invocation, request_id, payload } => {
                let invocation = Invocation::new(invocation, request_id, payload, self.trigger);
                self.push(Kind::Invocation(Box::new(invocation)));
            }
            FunctionEvent::Ended { invocation, result } => {
                let now = SystemClock.now();
                self.change(|of| of.number == invocation, |of| of.ended(result, now));
            }
            FunctionEvent::Line(line) => {
                if let Some(claim) = ClaimLine::read(&line.text) {
                    self.change(|of| of.request_id == claim.request_id, |of| of.claimed(claim.clone()));
                }
            }
            _ => {}
        }
    }

    fn push(&self, kind: Kind) {
        let mut entries = self.entries();
        entries.last_id += 1;
        let (id, version, at) = (entries.last_id, self.next_version(), SystemClock.now());
        if entries.kept.len() == KEPT_ENTRIES {
            entries.kept.pop_front();
        }
        entries.kept.push_back(Entry { id, version, at, kind });
        self.version.send_replace(version);
    }

    /// Changes the newest of the invocations: a retry has the request id of the one before.
    fn change(&self, is_it: impl Fn(&Invocation) -> bool, change: impl FnOnce(&mut Invocation)) {
        let mut entries = self.entries();
        let found = entries.kept.iter_mut().rev().find_map(|entry| match &mut entry.kind {
            Kind::Invocation(invocation) if is_it(invocation) => Some((&mut entry.version, invocation)),
            _ => None,
        });
        // One that is not there any more is forgotten.
        let Some((version, invocation)) = found else { return };
        change(invocation);
        *version = self.next_version();
        self.version.send_replace(*version);
    }

    /// What has changed since a version, the version now, and the oldest id that is kept. Waits for a change for a while.
    pub(super) async fn since(&self, version: u64, patience: Duration) -> (Vec<Value>, u64, u64) {
        let mut changes = self.version.subscribe();
        // In vain is an answer too; and the sender is in `self`.
        let _ = tokio::time::timeout(patience, changes.wait_for(|now| *now != version)).await;
        let entries = self.entries();
        let now = *self.version.borrow();
        let changed = entries.kept.iter().filter(|entry| entry.version > version).map(Entry::facts).collect();
        (changed, now, entries.kept.front().map_or(0, |entry| entry.id))
    }

    /// Looks at an invocation; `None` if there is none of this id, or it is forgotten.
    pub(super) fn look<T>(&self, id: u64, look: impl FnOnce(&Invocation) -> T) -> Option<T> {
        let entries = self.entries();
        let entry = entries.kept.iter().find(|entry| entry.id == id)?;
        match &entry.kind {
            Kind::Invocation(invocation) => Some(look(invocation)),
            Kind::Deed(_) => None,
        }
    }

    /// Only under the entries' lock, until it is sent.
    fn next_version(&self) -> u64 {
        *self.version.borrow() + 1
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
