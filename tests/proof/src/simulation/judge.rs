//! Sees everything that happens to one key and says what must never happen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use idempotency_core::{Clock, Epoch, EpochMillis, ExecutionId, OnAbandoned, OwnerToken, Record, Status};

use super::{clock::SimulatedClock, plan::Plan, timeline::Timeline, work::Work};

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handlers that ran.
    pub fresh: u64,
    /// Stored results told.
    pub replays: u64,
    /// Requests told to come again.
    pub conflicts: u64,
    /// Requests told that the key was used with another request.
    pub mismatches: u64,
    /// Requests told that nobody knows.
    pub uncertain: u64,
    /// Claims that the store did not answer.
    pub errors: u64,
    /// Attempts whose key was taken over before they ended.
    pub superseded: u64,
    /// Attempts whose end was not confirmed.
    pub unconfirmed: u64,
    /// Claims of a key that an earlier attempt had left.
    pub taken_over: u64,
    /// Generations after the first.
    pub expired: u64,
    /// Lost effects that were found and stored.
    pub found: u64,
    /// Reads before a claim that showed a record.
    pub looked: u64,
    /// Batches of more than one call that reached the store.
    pub batches: u64,
    /// Members of batches that got no answer of their own.
    pub unanswered: u64,
    /// Staged writes that were refused.
    pub refused: u64,
    /// Handlers without a claim whose request got another's result.
    pub instead: u64,
    /// Operations that failed and have undone what they did.
    pub undone: u64,
    /// Attempts that went on with undoing.
    pub resumed: u64,
    /// Operations that could not be undone.
    pub stuck: u64,
    /// Requests told so.
    pub told_stuck: u64,
    /// Transactions that committed.
    pub commits: u64,
    /// Rows that were read by a later attempt.
    pub rows_read: u64,
}

impl Counts {
    /// Adds another run's counts.
    pub const fn add(&mut self, other: &Self) {
        self.fresh += other.fresh;
        self.replays += other.replays;
        self.conflicts += other.conflicts;
        self.mismatches += other.mismatches;
        self.uncertain += other.uncertain;
        self.errors += other.errors;
        self.superseded += other.superseded;
        self.unconfirmed += other.unconfirmed;
        self.taken_over += other.taken_over;
        self.expired += other.expired;
        self.found += other.found;
        self.looked += other.looked;
        self.batches += other.batches;
        self.unanswered += other.unanswered;
        self.refused += other.refused;
        self.instead += other.instead;
        self.undone += other.undone;
        self.resumed += other.resumed;
        self.stuck += other.stuck;
        self.told_stuck += other.told_stuck;
        self.commits += other.commits;
        self.rows_read += other.rows_read;
    }
}

#[derive(Debug)]
pub(super) struct Judge {
    on_abandoned: OnAbandoned,
    zombies: bool,
    work: Work,
    /// How far a clock may be ahead: that much earlier an expiry may be believed.
    most_ahead: Duration,
    clock: SimulatedClock,
    timeline: Arc<Timeline>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    violations: Vec<String>,
    counts: Counts,
    /// Who is at work.
    working: BTreeSet<(OwnerToken, Epoch)>,
    generations: BTreeMap<ExecutionId, Generation>,
}

/// What happened in one generation.
#[derive(Debug, Default)]
struct Generation {
    effects: usize,
    /// Attempts with an effect whose end was not confirmed to them.
    lost: usize,
    ended: Option<Record>,
}

impl Judge {
    pub(super) fn new(plan: &Plan, most_ahead: Duration, timeline: Arc<Timeline>) -> Self {
        let (on_abandoned, zombies, work) = (plan.on_abandoned, plan.zombies, plan.work);
        let clock = SimulatedClock::exact(timeline.begin());
        Self { on_abandoned, zombies, work, most_ahead, clock, timeline, seen: Mutex::default() }
    }

    pub(super) fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    pub(super) fn say(&self, line: impl FnOnce() -> String) {
        self.timeline.say(line);
    }

    pub(super) fn violation(&self, what: String) {
        self.say(|| format!("VIOLATION {what}"));
        self.seen().violations.push(what);
    }

    pub(super) fn count(&self, what: fn(&mut Counts) -> &mut u64) {
        *what(&mut self.seen().counts) += 1;
    }

    /// A write was applied.
    pub(super) fn applied(&self, before: Option<&Record>, after: &Record) {
        self.say(|| format!("stored {} by {} epoch {}", after.status, after.owner, after.epoch.get()));
        let takes = |before: &Record| after.epoch > before.epoch && before.status == after.status;
        let claims = after.status == Status::InFlight;
        if let Some(before) = before {
            let expired = self.now() + self.most_ahead >= before.expires_at.to_millis();
            if matches!(before.status, Status::Completed | Status::Failed | Status::Stuck) && !expired {
                self.violation(format!("I4 a {} record changed before it expired", before.status));
            }
            if (claims || self.work == Work::Atomic) && after.epoch <= before.epoch {
                self.violation("I9 the epoch did not grow".to_owned());
            }
            let found = self.on_abandoned == OnAbandoned::Probe
                && after.status == Status::Completed
                && before.status == Status::InFlight
                && after.epoch > before.epoch;
            if before.version() == after.version() && after.lease_until < before.lease_until {
                self.leaves(after.owner, after.epoch);
            }
            let resumes = before.status == Status::Compensating && takes(before);
            let is_own = (before.owner, before.epoch) == (after.owner, after.epoch) && may_become(before, after);
            if !claims && !found && !resumes && !is_own && self.work != Work::Atomic {
                self.violation(format!("I5 {} was written over another's {}", after.status, before.status));
            }
            if before.fingerprint != after.fingerprint && !expired {
                self.violation("another request was written over a record".to_owned());
            }
        // Undoing is seen through, also where its record was deleted.
        } else if !claims && self.work != Work::Atomic && !matches!(after.status, Status::Compensating | Status::Stuck)
        {
            self.violation("an end was written where no record was".to_owned());
        }
        if after.expires_at.to_millis() < after.lease_until {
            self.violation("I8 the record expires before its lease is over".to_owned());
        }
        if after.status.is_terminal() {
            self.seen().generations.entry(after.execution).or_default().ended = Some(after.clone());
        }
    }

    /// A handler begins.
    pub(super) fn enters(&self, record: &Record) {
        let mut seen = self.seen();
        seen.working.insert((record.owner, record.epoch));
        seen.counts.fresh += 1;
        seen.counts.taken_over += u64::from(record.attempt.get() > 1);
        seen.generations.entry(record.execution).or_default();
        let together = seen.working.len();
        drop(seen);
        if together > 1 && !self.zombies && self.on_abandoned != OnAbandoned::Reject {
            self.violation(format!("I1 {together} handlers run"));
        }
    }

    /// A handler has returned, its process has died, or it has left what it undid to the next.
    pub(super) fn leaves(&self, owner: OwnerToken, epoch: Epoch) {
        self.seen().working.remove(&(owner, epoch));
    }

    /// What the outside world knows.
    pub(super) fn has_effect(&self, execution: ExecutionId) -> bool {
        self.seen().generations.get(&execution).is_some_and(|generation| generation.effects > 0)
    }

    pub(super) fn effect(&self, execution: ExecutionId) {
        self.seen().generations.entry(execution).or_default().effects += 1;
    }

    /// An attempt with an effect ends without knowing that its end is stored.
    pub(super) fn lost(&self, execution: ExecutionId) {
        self.seen().generations.entry(execution).or_default().lost += 1;
    }

    /// A stored result was told to somebody who asked for `request`.
    pub(super) fn told(&self, body: &[u8], request: u8) {
        let known = self.seen().generations.values().any(|generation| {
            generation.ended.as_ref().is_some_and(|ended| {
                ended.fingerprint.as_bytes() == &[request; 32]
                    && stored_body(ended).is_some_and(|stored| stored == body)
            })
        });
        if !known {
            self.violation("a result was told that no attempt at this request has stored".to_owned());
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.seen().counts
    }

    /// What must never happen and did, and how often what happened.
    pub(super) fn finish(&self) -> (Vec<String>, Counts) {
        let mut seen = std::mem::take(&mut *self.seen());
        seen.counts.expired = (seen.generations.len() as u64).saturating_sub(1);
        for generation in seen.generations.values() {
            let allowed = match self.on_abandoned {
                OnAbandoned::Rerun => 1 + generation.lost,
                OnAbandoned::Probe if self.zombies => 1 + generation.lost,
                _ => 1,
            };
            let completed = generation.ended.as_ref().is_some_and(|ended| ended.status == Status::Completed);
            if generation.effects > allowed {
                seen.violations.push(format!("I2 {} effects, {allowed} allowed", generation.effects));
            }
            if completed && generation.effects == 0 && self.work == Work::Effect {
                seen.violations.push("a result is stored without an effect".to_owned());
            }
        }
        (seen.violations, seen.counts)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a claim's own record may become.
const fn may_become(before: &Record, after: &Record) -> bool {
    match before.status {
        Status::InFlight => !matches!(after.status, Status::InFlight | Status::Stuck),
        Status::Compensating => matches!(after.status, Status::Compensating | Status::Failed | Status::Stuck),
        _ => false,
    }
}

/// The result's bytes: results here are small, so they stand in the record behind one codec byte.
fn stored_body(record: &Record) -> Option<&[u8]> {
    match record.result.as_ref()? {
        idempotency_core::StoredResult::Inline(encoded) => encoded.get(1..),
        idempotency_core::StoredResult::Parts(_) => None,
    }
}
