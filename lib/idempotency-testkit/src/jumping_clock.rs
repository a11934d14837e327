//! The real time, and as much ahead of it as a test asks for.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::clock::since_epoch;

#[derive(Debug)]
pub(crate) struct JumpingClock {
    started: Instant,
    started_at: Duration,
    ahead: watch::Sender<Duration>,
}

impl JumpingClock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), started_at: since_epoch(), ahead: watch::Sender::default() }
    }

    /// Time since the Unix epoch. It never goes back, even if the machine's clock does.
    pub(crate) fn now(&self) -> Duration {
        self.started_at + self.started.elapsed() + *self.ahead.borrow()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.ahead.send_modify(|ahead| *ahead += by);
    }

    /// Waits until it is `at`, or a jump has made it later.
    pub(crate) async fn sleep_until(&self, at: Duration) {
        loop {
            // Before the look, so that no jump in between is missed.
            let mut jumps = self.ahead.subscribe();
            let left = at.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                // The sender is in `self`, so this is a jump and never an end.
                _ = jumps.changed() => {}
                () = sleep(left) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_jump_ends_a_wait() {
        let clock = JumpingClock::start();
        let hour = Duration::from_secs(3600);
        let at = clock.now() + hour;

        tokio::join!(clock.sleep_until(at), async { clock.advance(hour) });

        assert!(clock.now() >= at);
    }
}
