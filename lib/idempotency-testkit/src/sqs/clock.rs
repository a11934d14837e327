//! The time of the queues: the real one, and as much ahead of it as a test asks for.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::since_epoch;
use crate::locked::lock;

#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    started_at: Duration,
    ahead: Mutex<Duration>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), started_at: since_epoch(), ahead: Mutex::default() }
    }

    /// Time since the Unix epoch. It never goes back, even if the machine's clock does.
    pub(super) fn now(&self) -> Duration {
        self.started_at + self.started.elapsed() + *lock(&self.ahead)
    }

    pub(super) fn advance(&self, by: Duration) {
        *lock(&self.ahead) += by;
    }
}
