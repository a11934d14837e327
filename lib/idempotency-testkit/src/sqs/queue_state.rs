//! One queue. Pure: it is told the time, and nothing waits.

use std::collections::VecDeque;
use std::time::Duration;

use super::config::LONGEST_VISIBILITY_TIMEOUT;
use super::fifo::{Fifo, deduplication_id, groups_in_flight};
use super::stored::{MessageState, Stored};
use super::{Counts, Message, QueueConfig, Receipt, Received, Sent, SqsError};

#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) config: QueueConfig,
    pub(super) created: Duration,
    /// In the order of sending, except that what comes a second time comes last.
    pub(super) messages: VecDeque<Stored>,
    fifo: Fifo,
    /// How many messages were handed out.
    deliveries: u64,
    /// How many of them count towards `duplicate_every`.
    first_copies: u64,
}

/// What a receive takes out of a queue.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) received: Vec<Received>,
    /// Received too often: they belong into the dead-letter queue now.
    pub(super) dead: Vec<Stored>,
}

impl QueueState {
    pub(super) fn new(config: QueueConfig, created: Duration) -> Self {
        let (messages, fifo) = (VecDeque::new(), Fifo::default());
        Self { config, created, messages, fifo, deliveries: 0, first_copies: 0 }
    }

    /// Puts a message in, or answers as for the first one if a FIFO queue has seen its deduplication id.
    pub(super) fn send(&mut self, mut message: Message, id: String, now: Duration) -> Result<Sent, SqsError> {
        message.check(self.config.largest_message)?;
        if self.config.is_fifo() {
            return self.send_fifo(message, id, now);
        }
        if message.deduplication_id.is_some() {
            let why = "it is for FIFO queues only";
            return Err(SqsError::InvalidParameter { name: "MessageDeduplicationId", why });
        }
        let visible_at = now + message.delay.take().unwrap_or(self.config.delay);
        self.messages.push_back(Stored::new(message, id.clone(), now, visible_at));
        Ok(Sent { id, sequence_number: None })
    }

    fn send_fifo(&mut self, mut message: Message, id: String, now: Duration) -> Result<Sent, SqsError> {
        let deduplication_id = deduplication_id(&message, self.config.content_based_deduplication)?;
        if let Some(sent) = self.fifo.sent_before(&deduplication_id, now) {
            return Ok(sent);
        }
        message.deduplication_id = Some(deduplication_id.clone());
        let mut stored = Stored::new(message, id.clone(), now, now + self.config.delay);
        stored.sequence_number = Some(self.fifo.next_sequence_number());
        let sent = Sent { id, sequence_number: stored.sequence_number.clone() };
        self.messages.push_back(stored);
        self.fifo.remember(deduplication_id, now, sent.clone());
        Ok(sent)
    }

    /// Puts a message in that was in another queue.
    pub(super) fn put(&mut self, mut stored: Stored, now: Duration) {
        stored.visible_at = now;
        stored.delivery = None;
        stored.receives_here = 0;
        if self.config.is_fifo() {
            stored.sequence_number = Some(self.fifo.next_sequence_number());
        }
        self.messages.push_back(stored);
    }

    /// Hands out up to `most` messages, for `timeout` or as long as the queue says.
    pub(super) fn receive(&mut self, most: usize, timeout: Option<Duration>, now: Duration) -> Taken {
        self.expire(now);
        let visible_at = now + timeout.unwrap_or(self.config.visibility_timeout);
        let mut blocked = groups_in_flight(self.messages.iter().filter(|_| self.config.is_fifo()), now);
        let mut taken = Taken::default();
        let mut copies = Vec::new();
        let mut left = VecDeque::with_capacity(self.messages.len());
        let mut untouched = std::mem::take(&mut self.messages).into_iter();
        while taken.received.len() < most
            && let Some(mut message) = untouched.next()
        {
            let group = message.group.as_ref().filter(|_| self.config.is_fifo());
            let is_blocked = group.is_some_and(|group| blocked.contains(group));
            if is_blocked || !message.is_visible(now) {
                // What comes later in its group must not overtake it.
                blocked.extend(group.cloned());
                left.push_back(message);
            } else if self.is_dead(&message) {
                taken.dead.push(message);
            } else {
                copies.extend(self.copy_of(&message));
                taken.received.push(self.hand_out(&mut message, visible_at, now));
                left.push_back(message);
            }
        }
        left.extend(untouched);
        left.extend(copies);
        self.messages = left;
        taken
    }

    /// "Using dead-letter queues in Amazon SQS": a message that would be received more than `maxReceiveCount` times.
    fn is_dead(&self, message: &Stored) -> bool {
        self.config.dead_letter.as_ref().is_some_and(|to| message.receives_here >= to.max_receive_count)
    }

    fn hand_out(&mut self, message: &mut Stored, visible_at: Duration, now: Duration) -> Received {
        self.deliveries += 1;
        message.delivery = Some(self.deliveries);
        message.visible_at = visible_at;
        message.first_received.get_or_insert(now);
        message.receive_count += 1;
        message.receives_here += 1;
        message.received(Receipt::issue(&self.config.name, &message.id, self.deliveries))
    }

    /// The second copy of a message that is delivered twice: as a server of SQS has it that missed the first delivery, and
    /// will miss its deletion.
    fn copy_of(&mut self, message: &Stored) -> Option<Stored> {
        let nth = u64::from(self.config.duplicate_every?.get());
        if message.is_copy {
            return None;
        }
        self.first_copies += 1;
        self.first_copies.is_multiple_of(nth).then(|| Stored { is_copy: true, ..message.clone() })
    }

    /// Deletes what the receipt handle stands for.
    ///
    /// Standard queues delete under the newest handle of a message, also when its visibility timeout has ended, and do nothing
    /// under an older one. FIFO queues refuse a handle whose timeout has ended ("DeleteMessage" in the SQS API Reference).
    pub(super) fn delete(&mut self, receipt: &Receipt, now: Duration) -> Result<(), SqsError> {
        let (id, delivery) = receipt.read(&self.config.name)?;
        let current = self.messages.iter().position(|message| message.delivery == Some(delivery));
        if self.config.is_fifo() {
            let in_time = current.and_then(|index| self.messages.get(index)).is_some_and(|m| !m.is_visible(now));
            if !in_time && self.messages.iter().any(|message| message.id == id) {
                return Err(SqsError::ExpiredReceipt);
            }
        }
        if let Some(index) = current {
            self.messages.remove(index);
        }
        Ok(())
    }

    /// Sets how long a message in flight stays invisible from now on.
    pub(super) fn change_visibility(
        &mut self,
        receipt: &Receipt,
        timeout: Duration,
        now: Duration,
    ) -> Result<(), SqsError> {
        let (_, delivery) = receipt.read(&self.config.name)?;
        if timeout > LONGEST_VISIBILITY_TIMEOUT {
            return Err(SqsError::InvalidParameter { name: "VisibilityTimeout", why: "it is at most 12 hours" });
        }
        let current = self.messages.iter_mut().find(|message| message.delivery == Some(delivery));
        let message = current.filter(|message| !message.is_visible(now)).ok_or(SqsError::NotInFlight)?;
        message.visible_at = now + timeout;
        Ok(())
    }

    /// Forgets messages that are older than the retention period.
    pub(super) fn expire(&mut self, now: Duration) {
        let retention = self.config.retention;
        self.messages.retain(|message| now.saturating_sub(message.kept_from) < retention);
    }

    pub(super) fn counts(&self, now: Duration) -> Counts {
        let retained = |message: &&Stored| now.saturating_sub(message.kept_from) < self.config.retention;
        let mut counts = Counts::default();
        for message in self.messages.iter().filter(retained) {
            match message.state(now) {
                MessageState::Visible => counts.visible += 1,
                MessageState::InFlight => counts.in_flight += 1,
                MessageState::Delayed => counts.delayed += 1,
            }
        }
        counts
    }

    /// When the next message becomes visible by itself.
    pub(super) fn next_visible(&self, now: Duration) -> Option<Duration> {
        self.messages.iter().map(|message| message.visible_at).filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Duration = Duration::from_secs(1_700_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    fn queue(config: QueueConfig) -> QueueState {
        QueueState::new(config, T0)
    }

    fn send(queue: &mut QueueState, message: Message, id: &str, now: Duration) -> Sent {
        queue.send(message, id.to_owned(), now).unwrap()
    }

    fn ids(taken: &Taken) -> Vec<&str> {
        taken.received.iter().map(|received| received.id.as_str()).collect()
    }

    fn fifo(group: &str, id: &str) -> Message {
        Message::new(id).group(group).deduplication_id(id)
    }

    #[test]
    fn a_received_message_is_invisible_until_its_timeout_ends_and_then_counts_up() {
        let mut queue = queue(QueueConfig::new("q").visibility_timeout(30 * SECOND));
        send(&mut queue, Message::new("a"), "m1", T0);

        let first = queue.receive(10, None, T0 + SECOND);
        let during = queue.receive(10, None, T0 + 30 * SECOND);
        let second = queue.receive(10, None, T0 + 31 * SECOND);

        assert_eq!((ids(&first), ids(&during), ids(&second)), (vec!["m1"], vec![], vec!["m1"]));
        let (first, second) = (&first.received[0], &second.received[0]);
        assert_ne!(first.receipt, second.receipt);
        assert_eq!((first.receive_count, second.receive_count), (1, 2));
        assert_eq!((second.sent, second.first_received), (T0, T0 + SECOND));
    }

    #[test]
    fn an_older_receipt_deletes_nothing_and_the_newest_does_even_after_its_timeout() {
        let mut queue = queue(QueueConfig::new("q"));
        send(&mut queue, Message::new("a"), "m1", T0);
        let first = queue.receive(1, None, T0).received.remove(0);
        let second = queue.receive(1, None, T0 + 30 * SECOND).received.remove(0);

        queue.delete(&first.receipt, T0 + 30 * SECOND).unwrap();
        assert_eq!(queue.counts(T0 + 30 * SECOND).total(), 1);

        queue.delete(&second.receipt, T0 + 90 * SECOND).unwrap();
        assert_eq!(queue.counts(T0 + 90 * SECOND).total(), 0);
        // Deleting again is no error.
        queue.delete(&second.receipt, T0 + 90 * SECOND).unwrap();
        assert_eq!(queue.delete(&Receipt::from_text("nonsense"), T0), Err(SqsError::InvalidReceipt));
    }

    #[test]
    fn visibility_is_changed_only_while_in_flight() {
        let mut queue = queue(QueueConfig::new("q").visibility_timeout(30 * SECOND));
        send(&mut queue, Message::new("a"), "m1", T0);
        let receipt = queue.receive(1, None, T0).received.remove(0).receipt;

        queue.change_visibility(&receipt, 60 * SECOND, T0 + 20 * SECOND).unwrap();
        assert_eq!(queue.counts(T0 + 79 * SECOND).in_flight, 1);
        queue.change_visibility(&receipt, Duration::ZERO, T0 + 20 * SECOND).unwrap();
        assert_eq!(queue.counts(T0 + 20 * SECOND).visible, 1);
        let late = queue.change_visibility(&receipt, SECOND, T0 + 20 * SECOND);
        assert_eq!(late, Err(SqsError::NotInFlight));
    }

    #[test]
    fn delays_and_retention() {
        let mut queue = queue(QueueConfig::new("q").delay(5 * SECOND).retention(100 * SECOND));
        send(&mut queue, Message::new("a"), "m1", T0);
        send(&mut queue, Message::new("b").delay(Duration::ZERO), "m2", T0);

        assert_eq!(ids(&queue.receive(10, None, T0)), ["m2"]);
        let counts = queue.counts(T0);
        assert_eq!((counts.visible, counts.in_flight, counts.delayed), (0, 1, 1));
        assert_eq!(queue.next_visible(T0), Some(T0 + 5 * SECOND));
        assert_eq!(ids(&queue.receive(10, None, T0 + 5 * SECOND)), ["m1"]);
        assert_eq!(queue.counts(T0 + 99 * SECOND).total(), 2);
        assert_eq!(queue.counts(T0 + 100 * SECOND).total(), 0);
        assert_eq!(ids(&queue.receive(10, None, T0 + 100 * SECOND)), [""; 0]);
    }

    #[test]
    fn every_nth_message_comes_twice_and_deleting_one_leaves_the_other() {
        let mut queue = queue(QueueConfig::new("q").duplicate_every(2.try_into().unwrap()));
        for id in ["m1", "m2", "m3", "m4"] {
            send(&mut queue, Message::new(id), id, T0);
        }

        let first = queue.receive(10, None, T0);
        for received in &first.received {
            queue.delete(&received.receipt, T0).unwrap();
        }
        let second = queue.receive(10, None, T0);

        assert_eq!(ids(&first), ["m1", "m2", "m3", "m4"]);
        assert_eq!(ids(&second), ["m2", "m4"]);
        for received in &second.received {
            queue.delete(&received.receipt, T0).unwrap();
        }
        assert_eq!(queue.counts(T0).total(), 0, "a copy is not copied again");
    }

    #[test]
    fn a_fifo_group_waits_while_one_of_its_messages_is_in_flight() {
        let mut queue = queue(QueueConfig::new("q.fifo").visibility_timeout(30 * SECOND));
        for (group, id) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a3")] {
            send(&mut queue, fifo(group, id), id, T0);
        }

        let first = queue.receive(3, None, T0);
        // a3 waits for a1 and a2, which are in flight.
        let none = queue.receive(10, None, T0);
        assert_eq!((ids(&first), ids(&none)), (vec!["a1", "b1", "a2"], vec![]));

        // a1 succeeds and a2 does not: a2 comes before a3.
        queue.delete(&first.received[0].receipt, T0).unwrap();
        assert_eq!(ids(&queue.receive(10, None, T0 + 29 * SECOND)), [""; 0]);
        assert_eq!(ids(&queue.receive(10, None, T0 + 30 * SECOND)), ["b1", "a2", "a3"]);
    }

    #[test]
    fn a_fifo_receipt_expires_with_its_timeout() {
        let mut queue = queue(QueueConfig::new("q.fifo").visibility_timeout(30 * SECOND));
        send(&mut queue, fifo("a", "a1"), "a1", T0);
        let receipt = queue.receive(1, None, T0).received.remove(0).receipt;

        assert_eq!(queue.delete(&receipt, T0 + 30 * SECOND), Err(SqsError::ExpiredReceipt));
        let receipt = queue.receive(1, None, T0 + 30 * SECOND).received.remove(0).receipt;
        queue.delete(&receipt, T0 + 31 * SECOND).unwrap();
        queue.delete(&receipt, T0 + 99 * SECOND).unwrap();
    }

    #[test]
    fn a_deduplication_id_is_remembered_for_five_minutes_whatever_becomes_of_the_message() {
        let mut queue = queue(QueueConfig::new("q.fifo"));
        let first = send(&mut queue, fifo("a", "same"), "m1", T0);
        let receipt = queue.receive(1, None, T0).received.remove(0).receipt;
        queue.delete(&receipt, T0).unwrap();

        let again = send(&mut queue, fifo("b", "same").attribute("other", "x"), "m2", T0 + 299 * SECOND);
        assert_eq!((&again, queue.counts(T0).total()), (&first, 0));

        let new = send(&mut queue, fifo("a", "same"), "m3", T0 + 300 * SECOND);
        assert_eq!((new.id.as_str(), queue.counts(T0 + 300 * SECOND).visible), ("m3", 1));
        assert!(new.sequence_number > first.sequence_number);
        assert_eq!(new.sequence_number.unwrap().len(), 20);
    }

    #[test]
    fn content_based_deduplication_looks_at_the_body_only() {
        let mut queue = queue(QueueConfig::new("q.fifo").content_based_deduplication());
        let first = send(&mut queue, Message::new("x").group("a"), "m1", T0);
        let same = send(&mut queue, Message::new("x").group("b").attribute("n", "1"), "m2", T0);
        let other = send(&mut queue, Message::new("y").group("a"), "m3", T0);

        assert_eq!((&same, other.id.as_str()), (&first, "m3"));
        let received = queue.receive(1, None, T0).received.remove(0);
        // `printf x | sha256sum`
        let sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(received.deduplication_id.as_deref(), Some(sum));
    }

    #[test]
    fn a_message_that_does_not_fit_its_kind_of_queue_is_refused() {
        let mut standard = queue(QueueConfig::new("q"));
        let mut ordered = queue(QueueConfig::new("q.fifo"));
        let refused = |queue: &mut QueueState, message| queue.send(message, "m".to_owned(), T0).unwrap_err();

        let missing = SqsError::MissingParameter { name: "MessageGroupId" };
        assert_eq!(refused(&mut ordered, Message::new("x")), missing);
        for message in [Message::new("x").group("a"), fifo("a", "a").delay(SECOND)] {
            assert!(matches!(refused(&mut ordered, message), SqsError::InvalidParameter { .. }));
        }
        let deduplicated = refused(&mut standard, Message::new("x").deduplication_id("a"));
        assert!(matches!(deduplicated, SqsError::InvalidParameter { name: "MessageDeduplicationId", .. }));
        assert_eq!(refused(&mut standard, Message::new("")), SqsError::EmptyBody);
        assert_eq!(refused(&mut standard, Message::new("\u{1}")), SqsError::InvalidContent);
        let large = refused(&mut standard, Message::new("x".repeat(1_048_577)));
        assert_eq!(large, SqsError::TooLarge { size: 1_048_577, limit: 1_048_576 });
        let attribute = refused(&mut standard, Message::new("x").attribute("AWS.x", "y"));
        assert!(matches!(attribute, SqsError::InvalidAttribute { .. }));
    }
}
