use std::time::Duration;

use tokio::time::{Instant, sleep};

const POLL: Duration = Duration::from_millis(10);

/// The condition did not come true in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the condition did not come true within {within:?}")]
pub struct NotInTime {
    /// How long it was waited for.
    pub within: Duration,
}

/// Polls `check` until it returns a value.
///
/// For what has no event to wait for, such as a row written by another process. It checks once more
/// after the time is up, so a slow machine does not turn a true condition into a failure. Dropping
/// the future stops the polling.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use idempotency_testkit::eventually;
///
/// let mut polls = 0;
/// let answer = eventually(Duration::from_secs(1), async || {
///     polls += 1;
///     (polls == 3).then_some("done")
/// })
/// .await?;
/// assert_eq!(answer, "done");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`NotInTime`] when `within` has passed and the last check returned `None`.
pub async fn eventually<T>(within: Duration, mut check: impl AsyncFnMut() -> Option<T>) -> Result<T, NotInTime> {
    let deadline = Instant::now() + within;
    loop {
        let last = Instant::now() >= deadline;
        if let Some(value) = check().await {
            return Ok(value);
        }
        if last {
            return Err(NotInTime { within });
        }
        sleep(POLL).await;
    }
}
