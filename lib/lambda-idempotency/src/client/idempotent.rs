//! The layer that keeps a key until a definite answer.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use http::Extensions;
use idempotency_core::{Clock, SystemClock};
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next};

use super::{RetryPolicy, RetryPolicyError, call::Call, circuit_breaker::Circuit, retry_budget::RetriesLeft};

/// A layer for [`reqwest_middleware::ClientBuilder`] that gives a request its key and repeats it until a definite answer.
///
/// Make one for each callee: retry budget and circuit breaker are shared by all requests that go through it and its clones. Put it before
/// layers that have to see each attempt, such as one that signs requests, and use no other layer that retries.
///
/// Dropping the future of a request leaves its outcome unknown, as a crash does. Who has to go on after that mints the key and stores it
/// first ([`mint_key`](super::mint_key)).
#[derive(Clone)]
pub struct Idempotent {
    pub(super) shared: Arc<Shared>,
}

/// What clones share.
pub(super) struct Shared {
    pub(super) policy: RetryPolicy,
    pub(super) retries: RetriesLeft,
    pub(super) circuit: Circuit,
    pub(super) clock: Arc<dyn Clock>,
}

impl Idempotent {
    /// The layer with this policy.
    ///
    /// # Errors
    ///
    /// [`RetryPolicyError`] if a repetition could arrive after the callee's window has passed, or a choice makes no sense.
    pub fn new(policy: RetryPolicy) -> Result<Self, RetryPolicyError> {
        Self::with_clock(policy, SystemClock)
    }

    /// The same with another clock, for tests. It dates `Retry-After`, and tells how long a machine was suspended.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_clock(policy: RetryPolicy, clock: impl Clock) -> Result<Self, RetryPolicyError> {
        policy.check()?;
        Ok(Self::checked(policy, Arc::new(clock)))
    }

    fn checked(policy: RetryPolicy, clock: Arc<dyn Clock>) -> Self {
        let (retries, circuit) = (RetriesLeft::new(policy.retry_budget), Circuit::new(policy.circuit_breaker));
        Self { shared: Arc::new(Shared { policy, retries, circuit, clock }) }
    }
}

/// With [`RetryPolicy::new`].
impl Default for Idempotent {
    fn default() -> Self {
        Self::checked(RetryPolicy::new(), Arc::new(SystemClock))
    }
}

impl fmt::Debug for Idempotent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotent").field("policy", &self.shared.policy).finish_non_exhaustive()
    }
}

#[async_trait]
impl Middleware for Idempotent {
    async fn handle(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response, Error> {
        Call::begin(&self.shared, request)?.run(extensions, next).await
    }
}
