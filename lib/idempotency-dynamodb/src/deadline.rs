//! The end of a call that makes several requests.

use std::{future::Future, time::Duration};

use idempotency_core::StoreError;
use tokio::time::{Instant, timeout_at};

/// The moment at which the caller stops waiting.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// `within` from now. A time beyond what the clock can count never comes.
    pub(crate) fn after(within: Duration) -> Self {
        Self(Instant::now().checked_add(within))
    }

    /// What is left until then.
    pub(crate) fn left(self) -> Duration {
        self.0.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Waits for an answer no longer than until then.
    pub(crate) async fn limit<T>(self, answer: impl Future<Output = T>) -> Result<T, StoreError> {
        match self.0 {
            Some(end) => timeout_at(end, answer).await.map_err(|late| StoreError::Unknown(late.into())),
            None => Ok(answer.await),
        }
    }
}
