//! How long a caller waits between attempts. Time stands still until everybody waits for it, so what is counted is exact.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use idempotency_core::{Clock, EpochMillis};
use lambda_idempotency::client::{Idempotent, RetryPolicy, Stopped};

use crate::support::{Callee, Reply, SECOND, answer, post, unresolved};

/// The times between the attempts that a callee saw.
fn waits(callee: &Callee) -> Vec<Duration> {
    callee.seen().windows(2).map(|two| two[1].at - two[0].at).collect()
}

#[tokio::test(start_paused = true)]
async fn a_repetition_waits_as_long_as_the_callee_says_and_a_part_of_the_backoff_more() {
    let later = |status| Reply::status(status).header("retry-after", "7");
    let date = Reply::status(503)
        .header("date", "Mon, 30 Nov 2026 10:00:00 GMT")
        .header("retry-after", "Mon, 30 Nov 2026 10:00:07 GMT");
    for first in [later(503), later(429), later(409), date] {
        let callee = Callee::new([first, Reply::status(201)]);
        answer(post(&callee.client(RetryPolicy::new().waits(SECOND, SECOND))).await).await;
        let waits = waits(&callee);
        assert!(waits[0] >= 7 * SECOND && waits[0] < 9 * SECOND, "{waits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_word_of_the_callee_the_waits_are_within_a_backoff_that_doubles() {
    let callee = Callee::new([Reply::status(503)]);
    let policy = RetryPolicy::new().attempts(6).waits(SECOND, 4 * SECOND);
    unresolved(&callee, post(&callee.client(policy)).await);
    let waits = waits(&callee);
    assert_eq!(waits.len(), 5);
    for (wait, bound) in waits.iter().zip([1, 2, 4, 4, 4]) {
        // Timers have milliseconds.
        assert!(*wait <= bound * SECOND + Duration::from_millis(2), "{waits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_horizon_is_not_begun() {
    for asked in ["61", "99999999999999999999"] {
        let callee = Callee::new([Reply::status(503).header("retry-after", asked)]);
        let began = tokio::time::Instant::now();
        let (stopped, status) = unresolved(&callee, post(&callee.client(RetryPolicy::new())).await);
        assert!(matches!(stopped, Stopped::RetryAfter(wait) if wait > 60 * SECOND), "{stopped:?}");
        assert_eq!((callee.count(), status.unwrap().as_u16()), (1, 503));
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn no_attempt_begins_after_the_horizon() {
    for reply in [Reply::Silence, Reply::conflict(), Reply::status(503)] {
        let callee = Callee::new([reply]);
        let policy = RetryPolicy::new().horizon(20 * SECOND).attempt_timeout(4 * SECOND).attempts(1000);
        let (stopped, _) = unresolved(&callee, post(&callee.client(policy)).await);
        assert!(matches!(stopped, Stopped::Horizon | Stopped::RetryAfter(SECOND)), "{stopped:?}");
        let seen = callee.seen();
        assert!(seen.len() > 2 && seen.iter().all(|seen| seen.at - callee.seen()[0].at <= 20 * SECOND));
    }
}

/// Wall-clock time, which goes on while a machine is suspended.
#[derive(Clone)]
struct WallClock(Arc<AtomicI64>);

impl Clock for WallClock {
    fn now(&self) -> EpochMillis {
        // A look at it every time is a minute: as if the machine had been suspended in between.
        EpochMillis::new(self.0.fetch_add(60_000, Ordering::SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_was_frozen_beyond_its_horizon_sends_nothing_when_it_thaws() {
    let callee = Callee::new([Reply::status(503)]);
    // Looks: at the begin, after the first answer, before the wait; then the thaw.
    let policy = RetryPolicy::new().horizon(150 * SECOND);
    let layer = Idempotent::with_clock(policy, WallClock(Arc::new(AtomicI64::new(0)))).unwrap();
    let (stopped, _) = unresolved(&callee, post(&callee.behind(&layer)).await);
    assert_eq!((stopped, callee.count()), (Stopped::Horizon, 1));
}
