//! How many repetitions there may be in proportion to requests.

use std::time::Duration;

use tower::retry::budget::{Budget, TpsBudget};

use super::RetryPolicyError;

/// How long a request counts.
const TTL: Duration = Duration::from_secs(10);

/// How many repetitions there may be in proportion to requests, so that a callee in trouble does not get many times its usual load from
/// those who wait for it. All requests of one [`Idempotent`](super::Idempotent) and its clones share it.
///
/// A repetition after a conflict (in flight) costs nothing of it: the callee is well, and said when to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryBudget {
    per_second: u32,
    ratio: f32,
}

impl RetryBudget {
    /// `per_second` repetitions are always allowed, and `ratio` more per request of the last 10 seconds: 0.2 allows one for every five.
    pub const fn new(per_second: u32, ratio: f32) -> Self {
        Self { per_second, ratio }
    }

    pub(super) fn check(&self) -> Result<(), RetryPolicyError> {
        // What `TpsBudget::new` asserts. A ratio that is no number is in no range.
        let fits = (0.0..=1000.0).contains(&self.ratio) && self.per_second < u32::MAX / 2;
        if fits { Ok(()) } else { Err(RetryPolicyError::RetryBudget) }
    }
}

/// 10 a second and one for every five requests: the defaults of Finagle, and of tower.
impl Default for RetryBudget {
    fn default() -> Self {
        Self::new(10, 0.2)
    }
}

/// What is left of a retry budget.
#[derive(Debug)]
pub(super) struct RetriesLeft(Option<TpsBudget>);

impl RetriesLeft {
    pub(super) fn new(budget: Option<RetryBudget>) -> Self {
        Self(budget.map(|budget| TpsBudget::new(TTL, budget.per_second, budget.ratio)))
    }

    /// A request is made.
    pub(super) fn deposit(&self) {
        if let Some(budget) = &self.0 {
            budget.deposit();
        }
    }

    /// Whether it may be repeated.
    pub(super) fn withdraw(&self) -> bool {
        self.0.as_ref().is_none_or(Budget::withdraw)
    }
}
