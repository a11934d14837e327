use std::time::Duration;

/// How much [`check`](super::check) tries.
///
/// ```
/// use idempotency_testkit::store_conformance::Config;
///
/// let thorough = Config::default().cases(1_000).seed(7);
/// # let _ = thorough;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Config {
    pub(super) cases: u32,
    pub(super) calls: usize,
    pub(super) seed: u64,
    pub(super) callers: usize,
    pub(super) within: Duration,
}

impl Default for Config {
    /// 64 sequences of up to 40 calls, 8 callers at once, seed 0, 30 seconds for each call: a second or two on an embedded
    /// engine.
    fn default() -> Self {
        Self { cases: 64, calls: 40, seed: 0, callers: 8, within: Duration::from_secs(30) }
    }
}

impl Config {
    /// How many sequences.
    pub const fn cases(self, cases: u32) -> Self {
        Self { cases, ..self }
    }

    /// How many calls a sequence has at most; at least 1.
    pub const fn calls(self, calls: usize) -> Self {
        Self { calls, ..self }
    }

    /// Another seed gives other sequences. The same seed always gives the same ones.
    pub const fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How many callers race for one key.
    pub const fn callers(self, callers: usize) -> Self {
        Self { callers, ..self }
    }

    /// How long a call may take. Only an engine that does not answer takes so long, and its answer then is a failure.
    pub const fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }
}
