//! A clock that follows simulated time, and may be off.

use std::time::Duration;

use idempotency_core::{Clock, EpochMillis};
use tokio::time::Instant;

/// Where every run begins, in true time.
const BEGIN: EpochMillis = EpochMillis::new(1_700_000_000_000);

/// A clock that is ahead of the true time by `ahead`, or behind by `behind`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedClock {
    pub(super) begin: Instant,
    pub(super) ahead: Duration,
    pub(super) behind: Duration,
}

impl SimulatedClock {
    /// A clock that is right.
    pub(super) const fn exact(begin: Instant) -> Self {
        Self { begin, ahead: Duration::ZERO, behind: Duration::ZERO }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> EpochMillis {
        BEGIN + self.begin.elapsed() + self.ahead - self.behind
    }
}
