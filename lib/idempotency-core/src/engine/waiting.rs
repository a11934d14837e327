//! A duplicate that waits for the attempt in flight.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{ClaimError, Engine, Request};
use crate::{ClaimRequest, EpochMillis, Policy, Record, Store};

/// The first pause between two looks; each is twice as long as the one before, up to [`LONGEST_PAUSE`]. A look is one strongly
/// consistent read of a small item, the cheapest request there is.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long the look at the very end of a wait may take: half of what is kept for answering.
const LAST_LOOK: Duration = Duration::from_millis(125);

/// How long a duplicate waits, and how long it has.
pub(super) struct Waiting {
    /// When it stops waiting, by the clock that measures waits; `None` for a duplicate that does not wait.
    until: Option<Instant>,
    pause: Duration,
    deadline: EpochMillis,
    /// What was left of the invocation when it came.
    had: Duration,
    has_waited: bool,
}

impl Waiting {
    fn left(&self) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// The next pause, or `None` when the time for waiting is over.
    pub(super) fn pause(&mut self, now: EpochMillis) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        // The invocation's own end counts too: a sandbox may have been frozen meanwhile.
        let left = if self.had.is_zero() { left } else { left.min(self.deadline.saturating_since(now)) };
        if left.is_zero() {
            return None;
        }
        self.has_waited = true;
        let pause = self.pause.min(left);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Some(pause)
    }

    /// Whether so much time has gone by with waiting that a handler begun now would probably be cut off.
    pub(super) fn has_waited_too_long_to_run(&self, now: EpochMillis) -> bool {
        self.has_waited && !self.had.is_zero() && self.deadline.saturating_since(now) < self.had / 2
    }
}

impl<S: Store> Engine<S> {
    pub(super) fn waiting(&self, request: &Request, policy: &Policy) -> Waiting {
        let now = self.now();
        let longest = policy.longest_wait().map(|max| self.timeouts.for_wait(max, request.deadline, now));
        Waiting {
            until: longest.map(|longest| Instant::now() + longest),
            pause: FIRST_PAUSE,
            deadline: request.deadline,
            had: request.deadline.saturating_since(now),
            has_waited: false,
        }
    }

    /// Pauses and reads the record again. When the store gives no answer, what was known before stands: whatever is done about
    /// it is a compare-and-swap.
    pub(super) async fn look_again(
        &self,
        claim: &ClaimRequest,
        known: Option<Record>,
        pause: Duration,
        waiting: &Waiting,
    ) -> Result<Option<Record>, ClaimError> {
        sleep(pause).await;
        // A look takes none of the time that the wait has not, so a store that hangs makes no wait longer. A last look is
        // worth a moment all the same.
        let within = self.timeouts.for_call(claim.deadline, self.now()).min(waiting.left().max(LAST_LOOK));
        match self.store.get(&claim.key, within).await {
            Ok(record) => Ok(record),
            Err(error) if error.is_transient() => Ok(known),
            Err(error) => Err(error.into()),
        }
    }
}
