//! How a local queue and its event source mapping are set up.

use std::time::Duration;

use idempotency_testkit::sqs::{MappingConfig, QueueConfig};

/// How a queue and its event source mapping are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// Whether it is a FIFO queue.
    pub fifo: bool,
    /// The most messages that the function gets at once.
    pub batch_size: usize,
    /// How long a received message stays invisible. Not less than the function's timeout.
    pub visibility_timeout: Duration,
    /// How often a message is received before it goes to the dead-letter queue.
    pub max_receives: u32,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self { fifo: false, batch_size: 10, visibility_timeout: Self::VISIBILITY_TIMEOUT, max_receives: 5 }
    }
}

/// A batch waits for more messages this long where it may.
const WINDOW: Duration = Duration::from_millis(100);

impl QueueOptions {
    /// Somewhat more than a lost attempt's lease with a timeout of 10 s, so that one is taken over when its message comes again.
    /// (`template.yaml` has six times the timeout, as AWS advises; here somebody is waiting.)
    pub const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(15);

    /// The queue's name.
    pub(crate) fn name(&self, stem: &str) -> String {
        if self.fifo { format!("{stem}.fifo") } else { stem.to_owned() }
    }

    pub(crate) fn queue(&self, stem: &str) -> QueueConfig {
        QueueConfig::new(self.name(stem))
            .visibility_timeout(self.visibility_timeout)
            .dead_letter(self.dead_letter_name(stem), self.max_receives)
    }

    pub(crate) fn dead_letter_queue(&self, stem: &str) -> QueueConfig {
        QueueConfig::new(self.dead_letter_name(stem))
    }

    fn dead_letter_name(&self, stem: &str) -> String {
        self.name(&format!("{stem}-dlq"))
    }

    /// FIFO queues have no window (Lambda Developer Guide, "Using Lambda with Amazon SQS").
    pub(crate) fn mapping(&self) -> MappingConfig {
        let window = if self.fifo { Duration::ZERO } else { WINDOW };
        MappingConfig::new().batch_size(self.batch_size).batching_window(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_queue_and_its_dead_letter_queue_are_of_one_kind() {
        let fifo = QueueOptions { fifo: true, ..QueueOptions::default() };
        assert_eq!(fifo.queue("claims").name, "claims.fifo");
        assert_eq!(fifo.queue("claims").dead_letter.unwrap().queue, fifo.dead_letter_queue("claims").name);
        assert_eq!(fifo.dead_letter_queue("claims").name, "claims-dlq.fifo");
        assert_eq!(QueueOptions::default().queue("claims").name, "claims");
    }
}
