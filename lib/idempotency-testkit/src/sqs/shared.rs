use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use super::account::{Account, Handed};

use super::queue_state::QueueState;
use super::{Message, Received, Sent, SqsError};
use crate::jumping_clock::JumpingClock;
use crate::local::{ACCOUNT_ID, REGION};
use crate::locked::lock;

/// What the server, its queues' handles and the event source mappings share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) url: String,
    clock: JumpingClock,
    account: Mutex<Account>,
    /// Told whenever a message may have become visible, for receivers that wait.
    changes: watch::Sender<()>,
}

impl Shared {
    pub(super) fn new(url: String) -> Self {
        Self { url, clock: JumpingClock::start(), account: Mutex::default(), changes: watch::Sender::new(()) }
    }

    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Reads or changes the queues, without anybody in between.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Account, Duration) -> T) -> T {
        let mut account = lock(&self.account);
        // Under the lock, so that what comes later has a later time.
        let result = act(&mut account, self.clock.now());
        drop(account);
        self.changes.send_replace(());
        result
    }

    /// Reads or changes one queue.
    pub(super) fn queue<T>(
        &self,
        name: &str,
        act: impl FnOnce(&mut QueueState, Duration) -> Result<T, SqsError>,
    ) -> Result<T, SqsError> {
        self.with(|account, now| act(account.queue(name)?, now))
    }

    /// Looks at one queue, which wakes nobody.
    pub(super) fn look<T>(&self, name: &str, at: impl FnOnce(&QueueState, Duration) -> T) -> Result<T, SqsError> {
        let mut account = lock(&self.account);
        let now = self.clock.now();
        Ok(at(account.queue(name)?, now))
    }

    pub(super) fn names(&self) -> Vec<String> {
        lock(&self.account).queues.keys().cloned().collect()
    }

    pub(super) fn send(&self, name: &str, message: Message) -> Result<Sent, SqsError> {
        self.queue(name, |queue, now| queue.send(message, Uuid::new_v4().to_string(), now))
    }

    pub(super) fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.changes.send_replace(());
    }

    /// Receives, and waits up to `wait` for the first message.
    ///
    /// Dropping the future before it is ready has received nothing.
    pub(super) async fn receive(
        &self,
        name: &str,
        most: usize,
        timeout: Option<Duration>,
        wait: Duration,
    ) -> Result<Vec<Received>, SqsError> {
        let deadline = Instant::now() + wait;
        loop {
            // Before the attempt, so that no change in between is missed.
            let mut changes = self.changes.subscribe();
            let (Handed { received, moved }, next) = {
                let mut account = lock(&self.account);
                let now = self.clock.now();
                let handed = account.receive(name, most, timeout, now)?;
                let next = account.queue(name)?.next_visible(now).map(|at| at.saturating_sub(now));
                (handed, next)
            };
            if moved > 0 {
                // Somebody may wait at the dead-letter queue.
                self.changes.send_replace(());
            }
            if !received.is_empty() || Instant::now() >= deadline {
                return Ok(received);
            }
            tokio::select! {
                // The sender is in `self`, so this is a change and never an end.
                _ = changes.changed() => {}
                () = sleep(next.unwrap_or(wait)) => {}
                () = sleep_until(deadline) => {}
            }
        }
    }

    pub(super) fn queue_url(&self, name: &str) -> String {
        format!("{}/{ACCOUNT_ID}/{name}", self.url)
    }
}

pub(super) fn arn(name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{name}")
}
