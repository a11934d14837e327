//! What a seed chooses.

use std::{fmt, time::Duration};

use fastrand::Rng;
use idempotency_core::{OnAbandoned, Policy, Window};

use super::work::Work;

/// The window of every run: long enough for a late write to be earlier than the expiry, short enough to expire.
pub(super) const WINDOW: Window =
    match Window::custom(Duration::from_secs(30), Duration::from_secs(60), Duration::from_secs(10)) {
        Ok(window) => window,
        Err(_) => Window::http(),
    };

/// The latest that a write arrives after it was sent: before the record that it wrote expires.
pub(super) const LATEST: Duration = Duration::from_secs(20);

/// What a seed chooses.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) work: Work,
    pub(super) on_abandoned: OnAbandoned,
    /// How long duplicates wait.
    pub(super) waits: Option<Duration>,
    /// Whether attempts may freeze and outlive their deadlines.
    pub(super) zombies: bool,
    /// How long ends wait for others where attempts send their calls together; `None` where each sends its own.
    pub(super) linger: Option<Duration>,
    pub(super) attempts: Vec<AttemptPlan>,
}

/// What one attempt will do.
#[derive(Clone, Debug)]
pub(super) struct AttemptPlan {
    pub(super) comes_at: Duration,
    pub(super) may_run: Duration,
    /// How far its clock is ahead of, or behind, the true time.
    pub(super) ahead: Duration,
    pub(super) behind: Duration,
    /// Where it runs. Attempts of one sandbox send their calls together, if any do.
    pub(super) sandbox: usize,
    /// Which key it uses.
    pub(super) key: u8,
    /// Which of two requests it sends.
    pub(super) request: u8,
    /// Whether its claim begins with a read.
    pub(super) looks_first: bool,
    pub(super) before_effect: Duration,
    pub(super) after_effect: Duration,
    pub(super) returns: Returns,
    /// Whether the outside world can say what became of a lost effect, if this attempt asks.
    pub(super) can_probe: bool,
    /// When its process dies, if it does.
    pub(super) dies_after: Option<Duration>,
}

/// What a handler returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Result,
    Retryable,
    Permanent,
    Unclassified,
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let on_abandoned = *pick(&mut rng, &[OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe]);
        let work = *pick(&mut rng, &[Work::Effect, Work::Effect, Work::Steps, Work::Atomic]);
        let on_abandoned = match (work, on_abandoned) {
            // What is asked about is one effect.
            (Work::Steps | Work::Atomic, OnAbandoned::Probe) => OnAbandoned::Rerun,
            (_, on_abandoned) => on_abandoned,
        };
        let waits = (rng.u8(0..3) == 0).then(|| Duration::from_millis(*pick(&mut rng, &[1, 500, 5000])));
        let zombies = rng.u8(0..3) == 0;
        let several_requests = rng.u8(0..8) == 0;
        let may_run = Duration::from_millis(*pick(&mut rng, &[1, 1000, 3000, 10_000]));
        // `reject` assumes nothing; the others, that two clocks differ by less than the margin. (If they differed by exactly that, a
        // kill and a takeover could fall on one instant.)
        let most = match on_abandoned {
            OnAbandoned::Reject => Policy::MARGIN * 10,
            _ => Policy::MARGIN / 2 - Duration::from_millis(1),
        };
        let linger = rng.bool().then(|| Duration::from_millis(*pick(&mut rng, &[0, 50, 200, 2000])));
        let (sandboxes, most_records, keys) = match linger {
            Some(_) => (rng.usize(1..=4), 12, rng.u8(1..=6)),
            None => (rng.usize(2..=16), 1, 1),
        };
        let mut attempts = Vec::new();
        for sandbox in 0..sandboxes {
            let attempt = |rng: &mut Rng| AttemptPlan::new(rng, may_run, most, zombies, several_requests);
            let (first, records) = (attempt(&mut rng), rng.usize(1..=most_records));
            let dies_whole = rng.bool();
            for _ in 0..records {
                let another = attempt(&mut rng).beside(&first, &mut rng, dies_whole);
                attempts.push(AttemptPlan { sandbox, key: rng.u8(0..keys), ..another });
            }
        }
        Self { seed, work, on_abandoned, waits, zombies, linger, attempts }
    }

    /// How many keys there are.
    pub(super) fn keys(&self) -> u8 {
        self.attempts.iter().map(|attempt| attempt.key + 1).max().unwrap_or(1)
    }
}

impl AttemptPlan {
    fn new(rng: &mut Rng, may_run: Duration, most_skew: Duration, zombies: bool, several_requests: bool) -> Self {
        let skew = *pick(rng, &[Duration::ZERO, Duration::ZERO, most_skew]);
        let (ahead, behind) = if rng.bool() { (skew, Duration::ZERO) } else { (Duration::ZERO, skew) };
        let lease = may_run + Policy::MARGIN;
        let freeze = if zombies && rng.u8(0..3) == 0 { lease * rng.u32(0..=10) } else { Duration::ZERO };
        let work = near(rng, &[Duration::ZERO, may_run / 3, may_run]);
        let freezes_before = rng.bool();
        Self {
            comes_at: near(rng, &[Duration::ZERO, Duration::ZERO, may_run, lease, lease * 2, WINDOW.storage_ttl()]),
            may_run,
            ahead,
            behind,
            sandbox: 0,
            key: 0,
            request: u8::from(several_requests && rng.u8(0..3) == 0),
            looks_first: rng.u8(0..3) == 0,
            before_effect: work / 2 + if freezes_before { freeze } else { Duration::ZERO },
            after_effect: work / 2 + if freezes_before { Duration::ZERO } else { freeze },
            returns: *pick(
                rng,
                &[
                    Returns::Result,
                    Returns::Result,
                    Returns::Result,
                    Returns::Retryable,
                    Returns::Permanent,
                    Returns::Unclassified,
                ],
            ),
            can_probe: rng.u8(0..4) > 0,
            dies_after: (rng.u8(0..5) == 0).then(|| near(rng, &[Duration::ZERO, may_run / 2, may_run])),
        }
    }

    /// The same attempt in the invocation that another is part of: it has its clock and its deadline, begins with it or somewhat
    /// later, and may die with it.
    fn beside(self, first: &Self, rng: &mut Rng, dies_whole: bool) -> Self {
        let later = if rng.u8(0..4) == 0 { first.may_run / 2 } else { Duration::ZERO };
        Self {
            comes_at: first.comes_at + later,
            may_run: first.may_run - later,
            ahead: first.ahead,
            behind: first.behind,
            dies_after: if dies_whole {
                first.dies_after.map(|after| after.saturating_sub(later))
            } else {
                self.dies_after
            },
            ..self
        }
    }
}

fn pick<'a, T>(rng: &mut Rng, choices: &'a [T]) -> &'a T {
    // Every list of choices in this file has some.
    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    &choices[rng.usize(0..choices.len())]
}

/// A time at, just before, just after, or somewhere around one of these.
fn near(rng: &mut Rng, times: &[Duration]) -> Duration {
    let time = *pick(rng, times);
    match rng.u8(0..4) {
        0 => time,
        1 => time + Duration::from_millis(1),
        2 => time.saturating_sub(Duration::from_millis(1)),
        _ => time + Duration::from_millis(rng.u64(0..2000)),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, work, on_abandoned, waits, zombies, linger, attempts } = self;
        let count = attempts.len();
        write!(
            f,
            "seed {seed}: {work:?}, {count} attempts, {on_abandoned:?}, waits {waits:?}, zombies {zombies}, linger {linger:?}"
        )
    }
}
