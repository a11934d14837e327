//! Pauses between tries, for as long as there is time.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::TokenSource;

/// The longest pause before the second try; it doubles each time, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(50);

const LONGEST: Duration = Duration::from_secs(1);

/// Pauses of random length ("full jitter"), so that those who were in each other's way are not so again.
pub(super) struct Pauses {
    until: Instant,
    longest: Duration,
}

impl Pauses {
    pub(super) const fn until(until: Instant) -> Self {
        Self { until, longest: FIRST }
    }

    pub(super) fn left(&self) -> Duration {
        // Tokio's clock: it measures waits, which the wall clock does not.
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits a while, unless the time is over by then.
    pub(super) async fn pause(&mut self, random: &dyn TokenSource) -> bool {
        let longest = self.longest;
        self.longest = (longest * 2).min(LONGEST);
        let share = random.draw().map_or(u8::MAX, |bits| bits[0]);
        let pause = longest * u32::from(share) / u32::from(u8::MAX);
        if self.left() <= pause {
            return false;
        }
        sleep(pause).await;
        // The timer may be late, and a call without any time is none.
        !self.left().is_zero()
    }
}
