use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::shared::{Shared, arn};
use super::{Counts, Message, QueueConfig, QueuedMessage, Receipt, Received, Sent, SqsError};

/// A queue of an [`super::Sqs`]. Clones are the same queue. It outlives the server: its port closes, and the queue goes on.
#[derive(Debug, Clone)]
pub struct Queue {
    shared: Arc<Shared>,
    name: Arc<str>,
}

impl Queue {
    pub(super) fn new(shared: Arc<Shared>, name: &str) -> Self {
        Self { shared, name: name.into() }
    }

    /// The queue's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The queue's URL, as the SDK's clients ask for it.
    #[must_use]
    pub fn url(&self) -> String {
        self.shared.queue_url(&self.name)
    }

    /// The queue's ARN.
    #[must_use]
    pub fn arn(&self) -> String {
        arn(&self.name)
    }

    /// The queue's settings.
    ///
    /// # Errors
    ///
    /// [`SqsError::NoSuchQueue`] when the queue was deleted.
    pub fn config(&self) -> Result<QueueConfig, SqsError> {
        self.shared.look(&self.name, |queue, _| queue.config.clone())
    }

    /// Changes the queue's settings. Its messages stay.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range or the dead-letter queue is not there; and [`SqsError::InvalidName`] when the
    /// settings are those of another queue.
    pub fn configure(&self, config: QueueConfig) -> Result<(), SqsError> {
        if config.name != *self.name {
            return Err(SqsError::InvalidName { name: config.name });
        }
        self.shared.with(|account, _| account.configure(config))
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// When the message is not one that this queue takes: see [`SqsError`].
    pub fn send(&self, message: Message) -> Result<Sent, SqsError> {
        self.shared.send(&self.name, message)
    }

    /// Receives up to `most` messages, and waits up to `wait` until there is one.
    ///
    /// They are invisible for the queue's visibility timeout. Dropping the future before it is ready has received nothing.
    ///
    /// # Errors
    ///
    /// [`SqsError::NoSuchQueue`] when the queue was deleted.
    pub async fn receive(&self, most: usize, wait: Duration) -> Result<Vec<Received>, SqsError> {
        self.shared.receive(&self.name, most, None, wait).await
    }

    /// Deletes what was received under this handle.
    ///
    /// A standard queue does nothing under a handle that is not the message's newest.
    ///
    /// # Errors
    ///
    /// [`SqsError::InvalidReceipt`] for a handle of another queue, and for FIFO queues [`SqsError::ExpiredReceipt`] after the
    /// visibility timeout.
    pub fn delete(&self, receipt: &Receipt) -> Result<(), SqsError> {
        self.shared.queue(&self.name, |queue, now| queue.delete(receipt, now))
    }

    /// Sets how long the message that was received under this handle stays invisible from now on; 0 gives it back.
    ///
    /// # Errors
    ///
    /// [`SqsError::NotInFlight`] when the message is not in flight under this handle.
    pub fn change_visibility(&self, receipt: &Receipt, timeout: Duration) -> Result<(), SqsError> {
        self.shared.queue(&self.name, |queue, now| queue.change_visibility(receipt, timeout, now))
    }

    /// How many messages there are. None, when the queue was deleted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.look(&self.name, |queue, now| queue.counts(now)).unwrap_or_default()
    }

    /// Whether there is no message: none visible, in flight or delayed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts().total() == 0
    }

    /// All messages, in the order in which they would be received. Looking is not receiving: no count changes.
    #[must_use]
    pub fn messages(&self) -> Vec<QueuedMessage> {
        let show = |queue: &super::queue_state::QueueState, now| queue.messages.iter().map(|m| m.show(now)).collect();
        self.shared.look(&self.name, show).unwrap_or_default()
    }

    /// Forgets all messages.
    ///
    /// # Errors
    ///
    /// [`SqsError::NoSuchQueue`] when the queue was deleted.
    pub fn purge(&self) -> Result<(), SqsError> {
        self.shared.queue(&self.name, |queue, _| {
            queue.messages.clear();
            Ok(())
        })
    }

    /// Moves the visible messages of this dead-letter queue back to the queues that they came from, as new messages with new
    /// ids (`StartMessageMoveTask`, done at once). Says how many.
    ///
    /// # Errors
    ///
    /// [`SqsError::NotADeadLetterQueue`] when no queue has this one for its dead letters.
    pub fn redrive(&self) -> Result<usize, SqsError> {
        self.shared.with(|account, now| account.redrive(&self.name, None, || Uuid::new_v4().to_string(), now))
    }

    /// The time of the queue, since the Unix epoch.
    pub(super) fn now(&self) -> Duration {
        self.shared.now()
    }
}
