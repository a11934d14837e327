use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use uuid::Uuid;

use super::failed_event::FailedEvent;
use super::next::{History, Next, is_not_reached};
use super::{AsyncConfig, AsyncCounts, AsyncTooLarge};
use crate::jumping_clock::JumpingClock;
use crate::lambda::{Function, InvokeError};

/// "Lambda quotas": 1 MB for an asynchronous invocation.
const PAYLOAD_LIMIT: usize = 1_048_576;

/// Invokes a function asynchronously, as EventBridge, S3, SNS and Scheduler do, and whoever asks for the invocation type
/// `Event`. Clones are the same queue of events.
///
/// An event is accepted, and its sender hears nothing more of it. A success drops it. A function error, a crash or a timeout
/// is retried twice, **under the same request id**. A throttle is retried until the event is too old. What is given up goes
/// to the dead-letter queue and the on-failure destination, if there are any.
///
/// Events go on when the last clone is dropped, until they are done or the Tokio runtime ends.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use idempotency_testkit::function_binary;
/// use idempotency_testkit::lambda::{AsyncConfig, AsyncInvoker, Function, FunctionConfig};
///
/// let function = Function::new(FunctionConfig::new("claims", function_binary("claims")?))?;
/// let waits = [Duration::from_millis(10), Duration::from_millis(20)];
/// let invoker = AsyncInvoker::new(function.clone(), AsyncConfig::new().retry_waits(waits));
///
/// invoker.invoke(r#"{"claim":17}"#)?;
/// invoker.drained().await;
/// assert_eq!(invoker.counts().succeeded, 1);
/// # function.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AsyncInvoker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    function: Function,
    config: AsyncConfig,
    clock: JumpingClock,
    counts: watch::Sender<AsyncCounts>,
}

impl AsyncInvoker {
    /// An invoker with an empty queue.
    #[must_use]
    pub fn new(function: Function, config: AsyncConfig) -> Self {
        let (clock, counts) = (JumpingClock::start(), watch::Sender::default());
        Self { inner: Arc::new(Inner { function, config, clock, counts }) }
    }

    /// Takes an event and returns its request id, which every attempt has.
    ///
    /// Must run inside a Tokio runtime, which then also runs the attempts.
    ///
    /// # Errors
    ///
    /// [`AsyncTooLarge`] over 1 MB. The function sees nothing of the event then.
    pub fn invoke(&self, payload: impl Into<Bytes>) -> Result<String, AsyncTooLarge> {
        let payload = payload.into();
        if payload.len() > PAYLOAD_LIMIT {
            return Err(AsyncTooLarge { size: payload.len(), limit: PAYLOAD_LIMIT });
        }
        let request_id = Uuid::new_v4().to_string();
        let nth = self.inner.config.duplicate_every.map(|nth| u64::from(nth.get()));
        let mut deliveries = 1;
        self.inner.counts.send_modify(|counts| {
            counts.accepted += 1;
            deliveries += u64::from(nth.is_some_and(|nth| counts.accepted.is_multiple_of(nth)));
            counts.pending += deliveries;
        });
        for _ in 0..deliveries {
            let event = Event {
                inner: Arc::clone(&self.inner),
                request_id: request_id.clone(),
                payload: payload.clone(),
                accepted_at: self.inner.clock.now(),
            };
            tokio::spawn(event.run());
        }
        Ok(request_id)
    }

    /// Waits until no event is pending: all have succeeded or were given up.
    ///
    /// Dropping the future changes nothing.
    pub async fn drained(&self) {
        let mut counts = self.inner.counts.subscribe();
        // The sender is in `self`, so it outlives the wait.
        let _ = counts.wait_for(|counts| counts.pending == 0).await;
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> AsyncCounts {
        *self.inner.counts.borrow()
    }

    /// Lets time jump ahead: retries that are due in between are due now.
    pub fn advance(&self, by: Duration) {
        self.inner.clock.advance(by);
    }

    /// The function that it invokes.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.inner.function
    }
}

/// An event in the queue.
struct Event {
    inner: Arc<Inner>,
    request_id: String,
    payload: Bytes,
    accepted_at: Duration,
}

impl Event {
    async fn run(self) {
        let Inner { function, config, clock, counts } = &*self.inner;
        let (mut history, mut attempts) = (History::default(), 0);
        loop {
            let error = match function.invoke_as(&self.request_id, self.payload.clone()).await {
                Ok(_) => {
                    return counts.send_modify(|counts| {
                        counts.attempts += 1;
                        counts.succeeded += 1;
                        counts.pending -= 1;
                    });
                }
                // Nobody can retry it any more.
                Err(InvokeError::ShutDown) => {
                    return counts.send_modify(|counts| {
                        counts.lost += 1;
                        counts.pending -= 1;
                    });
                }
                Err(error) => error,
            };
            attempts += u32::from(!is_not_reached(&error));
            let now = clock.now();
            let next = config.next(&mut history, &error, now.saturating_sub(self.accepted_at));
            counts.send_modify(|counts| match is_not_reached(&error) {
                true => counts.throttled += 1,
                false => counts.attempts += 1,
            });
            match next {
                Next::Again { after } => {
                    tracing::debug!(%error, request_id = self.request_id, ?after, "an event is retried");
                    clock.sleep_until(now + after).await;
                }
                Next::GiveUp(condition) => {
                    tracing::warn!(%error, request_id = self.request_id, ?condition, "an event is given up");
                    let (request_id, payload, error) = (&*self.request_id, &self.payload, &error);
                    let function = &*function.config().name;
                    self.give_up(&FailedEvent { request_id, function, payload, error, condition, attempts, at: now });
                    return;
                }
            }
        }
    }

    fn give_up(&self, event: &FailedEvent<'_>) {
        let Inner { config, counts, .. } = &*self.inner;
        let letters = config.dead_letter.iter().map(|queue| (queue, event.dead_letter()));
        let records = config.on_failure.iter().map(|queue| (queue, event.record()));
        let mut undelivered = 0;
        for (queue, message) in letters.chain(records) {
            // A FIFO queue takes none, as AWS says of destinations too.
            if let Err(error) = queue.send(message) {
                tracing::warn!(%error, queue = queue.name(), "a failed event could not be kept");
                undelivered += 1;
            }
        }
        // Last: who sees the event counted sees its dead letter.
        counts.send_modify(|counts| {
            counts.failed += 1;
            counts.undelivered += undelivered;
            counts.pending -= 1;
        });
    }
}
