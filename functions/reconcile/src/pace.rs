//! Reading no faster than was asked for.

use std::{num::NonZeroU32, time::Duration};

use tokio::time::Instant;

/// How fast one table is read.
#[derive(Debug)]
pub(crate) struct Pace {
    units_per_second: Option<NonZeroU32>,
    begun: Instant,
    used: f64,
}

impl Pace {
    pub(crate) fn new(units_per_second: Option<NonZeroU32>) -> Self {
        Self { units_per_second, begun: Instant::now(), used: 0.0 }
    }

    /// Notes what was used up.
    pub(crate) fn used(&mut self, units: f64) {
        self.used += units;
    }

    /// How long to wait before more is read.
    pub(crate) fn pause(&self) -> Duration {
        let Some(limit) = self.units_per_second else { return Duration::ZERO };
        let due = Duration::from_secs_f64(self.used / f64::from(limit.get()));
        due.saturating_sub(self.begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_limit_is_kept_over_any_time() {
        let mut pace = Pace::new(NonZeroU32::new(10));
        assert_eq!(pace.pause(), Duration::ZERO);
        pace.used(25.0);
        assert_eq!(pace.pause(), Duration::from_millis(2500));
        tokio::time::sleep(pace.pause()).await;
        assert_eq!(pace.pause(), Duration::ZERO);
        assert_eq!(Pace { used: 1e9, ..Pace::new(None) }.pause(), Duration::ZERO);
    }
}
