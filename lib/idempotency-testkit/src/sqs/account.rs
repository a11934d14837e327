//! All queues, and what goes between them. Pure, as its queues are.

use std::collections::BTreeMap;
use std::time::Duration;

use super::queue_state::QueueState;
use super::stored::Stored;
use super::{QueueConfig, Received, SqsError};

#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) queues: BTreeMap<String, QueueState>,
}

/// What a receive comes to.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) received: Vec<Received>,
    /// How many messages went to the dead-letter queue.
    pub(super) moved: usize,
}

impl Account {
    pub(super) fn queue(&mut self, name: &str) -> Result<&mut QueueState, SqsError> {
        self.queues.get_mut(name).ok_or_else(|| SqsError::NoSuchQueue { name: name.to_owned() })
    }

    /// Makes a queue. Making it again with the same settings changes nothing.
    pub(super) fn create(&mut self, config: QueueConfig, now: Duration) -> Result<(), SqsError> {
        self.check(&config)?;
        match self.queues.get(&config.name) {
            Some(queue) if queue.config == config => Ok(()),
            Some(_) => Err(SqsError::QueueExists { name: config.name }),
            None => {
                self.queues.insert(config.name.clone(), QueueState::new(config, now));
                Ok(())
            }
        }
    }

    /// Changes a queue's settings. Its messages stay.
    pub(super) fn configure(&mut self, config: QueueConfig) -> Result<(), SqsError> {
        self.check(&config)?;
        let queue = self.queue(&config.name)?;
        queue.config = config;
        Ok(())
    }

    fn check(&self, config: &QueueConfig) -> Result<(), SqsError> {
        config.check()?;
        let Some(to) = &config.dead_letter else { return Ok(()) };
        let fits = self.queues.get(&to.queue).is_some_and(|queue| queue.config.is_fifo() == config.is_fifo());
        if fits { Ok(()) } else { Err(SqsError::NoDeadLetterQueue { name: to.queue.clone() }) }
    }

    /// Hands out messages, and moves those that were received too often to the dead-letter queue.
    pub(super) fn receive(
        &mut self,
        name: &str,
        most: usize,
        timeout: Option<Duration>,
        now: Duration,
    ) -> Result<Handed, SqsError> {
        let queue = self.queue(name)?;
        let taken = queue.receive(most, timeout, now);
        let moved = taken.dead.len();
        let target = queue.config.dead_letter.as_ref().map(|to| to.queue.clone());
        if let Some(target) = target.and_then(|target| self.queues.get_mut(&target)) {
            for message in taken.dead {
                target.put(dead_letter(message, name, now), now);
            }
        }
        Ok(Handed { received: taken.received, moved })
    }

    /// Moves all messages of a dead-letter queue that are visible back to where they came from, or to `target`. Says how many.
    ///
    /// "Redriven messages are considered new messages with a new messageID": SQS Developer Guide, "Configure a dead-letter
    /// queue redrive".
    pub(super) fn redrive(
        &mut self,
        name: &str,
        target: Option<&str>,
        mut new_id: impl FnMut() -> String,
        now: Duration,
    ) -> Result<usize, SqsError> {
        let is_target = |queue: &QueueState| queue.config.dead_letter.as_ref().is_some_and(|to| to.queue == name);
        let is_dead_letter_queue = self.queues.values().any(is_target);
        let queue = self.queue(name)?;
        if !is_dead_letter_queue {
            return Err(SqsError::NotADeadLetterQueue { name: name.to_owned() });
        }
        queue.expire(now);
        let all = std::mem::take(&mut queue.messages);
        let (visible, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|message| message.is_visible(now));
        queue.messages.extend(rest);
        let mut moved = 0;
        for message in visible {
            let to = target.map(str::to_owned).or_else(|| message.came_from.clone());
            match to.and_then(|to| self.queues.get_mut(&to)) {
                Some(queue) => {
                    queue.put(new_message(message, new_id(), now), now);
                    moved += 1;
                }
                // Sent to the dead-letter queue itself, or its source is gone: it stays.
                None => self.queue(name)?.messages.push_back(message),
            }
        }
        Ok(moved)
    }
}

/// The id stays. The retention period goes on counting for a standard queue and begins anew for a FIFO queue: "Using
/// dead-letter queues in Amazon SQS", "Understanding message retention periods for dead-letter queues".
fn dead_letter(message: Stored, source: &str, now: Duration) -> Stored {
    let kept_from = if source.ends_with(".fifo") { now } else { message.kept_from };
    Stored { kept_from, came_from: Some(source.to_owned()), ..message }
}

fn new_message(message: Stored, id: String, now: Duration) -> Stored {
    Stored {
        id,
        sent: now,
        kept_from: now,
        first_received: None,
        receive_count: 0,
        came_from: None,
        is_copy: false,
        ..message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqs::Message;

    const T0: Duration = Duration::from_secs(1_700_000_000);
    const TIMEOUT: Duration = Duration::from_secs(30);

    fn account(kind: &str) -> Account {
        let mut account = Account::default();
        account.create(QueueConfig::new(format!("dlq{kind}")), T0).unwrap();
        let source = QueueConfig::new(format!("source{kind}")).dead_letter(format!("dlq{kind}"), 2);
        account.create(source.visibility_timeout(TIMEOUT), T0).unwrap();
        account
    }

    fn receive(account: &mut Account, queue: &str, now: Duration) -> Vec<Received> {
        account.receive(queue, 10, None, now).unwrap().received
    }

    fn send(account: &mut Account, queue: &str, message: Message, id: &str) {
        account.queue(queue).unwrap().send(message, id.to_owned(), T0).unwrap();
    }

    #[test]
    fn a_message_goes_to_the_dead_letter_queue_after_its_last_receive_and_keeps_its_id() {
        let mut account = account("");
        send(&mut account, "source", Message::new("x"), "m1");

        assert_eq!(receive(&mut account, "source", T0).len(), 1);
        assert_eq!(receive(&mut account, "source", T0 + TIMEOUT).len(), 1);
        assert_eq!(account.queue("dlq").unwrap().counts(T0 + 2 * TIMEOUT).total(), 0);
        assert_eq!(receive(&mut account, "source", T0 + 2 * TIMEOUT), []);

        let dead = receive(&mut account, "dlq", T0 + 2 * TIMEOUT).remove(0);
        assert_eq!((dead.id.as_str(), dead.receive_count, dead.sent), ("m1", 3, T0));
        assert_eq!(dead.dead_letter_source.as_deref(), Some("source"));
        // A standard message's age goes on counting.
        let retention = account.queue("dlq").unwrap().config.retention;
        assert_eq!(account.queue("dlq").unwrap().counts(T0 + retention).total(), 0);
    }

    #[test]
    fn a_dead_letter_of_a_fifo_queue_frees_its_group() {
        let mut account = account(".fifo");
        for id in ["m1", "m2"] {
            send(&mut account, "source.fifo", Message::new(id).group("g").deduplication_id(id), id);
        }
        for receives in 0..2 {
            let one = account.receive("source.fifo", 1, None, T0 + receives * TIMEOUT).unwrap().received;
            assert_eq!((one[0].id.as_str(), one.len()), ("m1", 1));
        }

        let next = receive(&mut account, "source.fifo", T0 + 2 * TIMEOUT);

        assert_eq!((next[0].id.as_str(), next.len()), ("m2", 1));
        let dead = receive(&mut account, "dlq.fifo", T0 + 2 * TIMEOUT);
        assert_eq!((dead[0].id.as_str(), dead[0].group.as_deref()), ("m1", Some("g")));
    }

    #[test]
    fn a_redriven_message_is_a_new_one() {
        let mut account = account("");
        send(&mut account, "source", Message::new("x").attribute("Idempotency-Key", "k"), "m1");
        for receives in 0..3 {
            receive(&mut account, "source", T0 + receives * TIMEOUT);
        }

        let now = T0 + 3 * TIMEOUT;
        assert_eq!(account.redrive("dlq", None, || "m2".to_owned(), now), Ok(1));

        let again = receive(&mut account, "source", now).remove(0);
        assert_eq!((again.id.as_str(), again.receive_count, again.sent), ("m2", 1, now));
        assert_eq!(again.attributes["Idempotency-Key"], "k".into());
        let error = account.redrive("source", None, || "m3".to_owned(), now);
        assert_eq!(error, Err(SqsError::NotADeadLetterQueue { name: "source".to_owned() }));
    }

    #[test]
    fn a_dead_letter_queue_is_there_first_and_of_the_same_kind() {
        let mut account = account("");
        for (name, target) in [("a", "nowhere"), ("a.fifo", "dlq")] {
            let error = account.create(QueueConfig::new(name).dead_letter(target, 1), T0);
            assert_eq!(error, Err(SqsError::NoDeadLetterQueue { name: target.to_owned() }));
        }
    }

    #[test]
    fn creating_a_queue_again_keeps_its_messages_and_other_settings_are_refused() {
        let mut account = account("");
        send(&mut account, "dlq", Message::new("x"), "m1");

        account.create(QueueConfig::new("dlq"), T0).unwrap();
        let other = account.create(QueueConfig::new("dlq").visibility_timeout(2 * TIMEOUT), T0);

        assert_eq!(other, Err(SqsError::QueueExists { name: "dlq".to_owned() }));
        assert_eq!(account.queue("dlq").unwrap().counts(T0).visible, 1);
    }
}
