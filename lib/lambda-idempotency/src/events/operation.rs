//! What a function of records does.

use std::{num::NonZeroUsize, time::Duration};

use idempotency_core::{JsonPointer, OnAbandoned, Operation, Policy, Window};

use super::OnPoison;
use crate::function::FunctionOperation;

/// What a function of records does: its operation and policy, and how a batch is carried out.
///
/// ```
/// use lambda_idempotency::{OnAbandoned, Operation, events::EventOperation};
///
/// let intake = EventOperation::new(Operation::declare("take-in-claim", 1)).on_abandoned(OnAbandoned::Reject).concurrency(4);
/// ```
#[derive(Clone, Debug)]
pub struct EventOperation {
    pub(super) function: FunctionOperation,
    pub(super) batching: Batching,
}

/// How a batch is carried out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batching {
    pub(super) concurrency: Option<NonZeroUsize>,
    pub(super) linger: Duration,
    pub(super) on_poison: OnPoison,
    pub(super) by_key: bool,
}

/// The window where nothing is said: for what comes out of a queue that keeps messages as long as queues can.
const WINDOW: Window = Window::declare_sqs(Duration::from_secs(14 * 24 * 3600));

impl EventOperation {
    /// How long the end of one record's claim waits for those of others in the batch, so that they are stored in one request.
    ///
    /// A record whose function's process dies meanwhile has taken effect without its end being stored, as in the moment between
    /// effect and end that there always is.
    pub const LINGER: Duration = Duration::from_millis(200);

    /// An operation that remembers keys for 43 days, which is as long as an SQS queue and its dead-letter queue can keep a message
    /// ([`Window::sqs`]); other sources keep theirs for less. It runs again after a lost attempt ([`OnAbandoned::Rerun`]).
    pub const fn new(operation: Operation) -> Self {
        let batching = Batching { concurrency: None, linger: Self::LINGER, on_poison: OnPoison::Report, by_key: false };
        Self { function: FunctionOperation::with_window(operation, WINDOW), batching }
    }

    /// The same operation with another choice for abandoned attempts.
    #[must_use]
    pub fn on_abandoned(self, on_abandoned: OnAbandoned) -> Self {
        Self { function: self.function.on_abandoned(on_abandoned), ..self }
    }

    /// The same operation, whose whole effect is what it stages ([`Attempt::stage`](crate::Attempt::stage)): nothing is claimed before
    /// the handler runs, and effect and end commit together, in one request. A duplicate may run the handler too; what it staged
    /// is dropped, and it gets the stored value. So the handler does nothing but read and stage.
    ///
    /// An attempt of it is never abandoned: it has committed or nothing has happened. [`on_abandoned`](Self::on_abandoned) means records
    /// that are left of a version that was not atomic.
    #[must_use]
    pub fn atomic(self) -> Self {
        Self { function: self.function.atomic(), ..self }
    }

    /// The same operation, which is run with a function that undoes its steps
    /// ([`Attempt::step_with_undo`](crate::Attempt::step_with_undo)) when it fails for good: see [`run_with`](super::run_with()).
    #[must_use]
    pub fn undo(self) -> Self {
        Self { function: self.function.undo(), ..self }
    }

    /// The same operation with another window: not shorter than the source and its dead-letter queue keep a record, or a late
    /// duplicate is taken for new.
    #[must_use]
    pub fn window(self, window: Window) -> Self {
        Self { function: self.function.window(window), ..self }
    }

    /// The same operation, whose duplicates wait for the result of an attempt in flight, for `max` at the longest. The function's
    /// time is paid while it waits; without this a duplicate in flight goes back to its source at once.
    #[must_use]
    pub fn wait(self, max: Duration) -> Self {
        Self { function: self.function.wait(max), ..self }
    }

    /// The same operation, whose records are the same whatever stands at these places of the payload: members that the sender
    /// sets anew on each retry. `/sent_at` is a member of the payload's root.
    #[must_use]
    pub fn fingerprint_exclude(self, places: impl Into<Vec<JsonPointer>>) -> Self {
        Self { function: self.function.fingerprint_exclude(places), ..self }
    }

    /// The same operation, of whose records at most this many are carried out side by side. 1 is one after the other. Zero counts
    /// as 1.
    ///
    /// Without it, all records of a batch up to 32 run side by side, and up to 64 where a large batch has less than a second for
    /// each 32 of its records. (On one processor more is no faster: the store's calls are bound by it then.)
    #[must_use]
    pub fn concurrency(self, records: usize) -> Self {
        let concurrency = Some(NonZeroUsize::new(records).unwrap_or(NonZeroUsize::MIN));
        Self { batching: Batching { concurrency, ..self.batching }, ..self }
    }

    /// The same operation, in which the end of one record's claim waits longer or shorter for others than
    /// [`LINGER`](Self::LINGER); but never for more than a quarter of the time that a call of the store may take.
    #[must_use]
    pub fn linger(self, linger: Duration) -> Self {
        Self { batching: Batching { linger, ..self.batching }, ..self }
    }

    /// The same operation with another choice for records that would end the same way each time.
    #[must_use]
    pub fn on_poison(self, on_poison: OnPoison) -> Self {
        Self { batching: Batching { on_poison, ..self.batching }, ..self }
    }

    /// The same operation, in which the records of a Kinesis shard or Kafka partition are kept in order among those of the same
    /// partition key or record key only, and others run beside them. What has succeeded behind the first failure is delivered
    /// again and replayed.
    ///
    /// Without it they run one after the other, as they stand in the shard or partition. Other sources have no such key.
    #[must_use]
    pub fn order_by_key(self) -> Self {
        Self { batching: Batching { by_key: true, ..self.batching }, ..self }
    }

    /// The operation's name and version.
    pub const fn operation(&self) -> &Operation {
        self.function.operation()
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        self.function.policy()
    }

    /// Whether order is kept by partition or record key.
    pub const fn is_ordered_by_key(&self) -> bool {
        self.batching.by_key
    }

    /// Places of a payload that do not count.
    pub fn excluded(&self) -> &[JsonPointer] {
        &self.function.fingerprint_exclude
    }
}

impl Batching {
    /// How many of so many records may run side by side.
    pub(super) fn concurrency(&self, records: usize, time: Option<Duration>) -> usize {
        let chosen = || {
            let rounds = u32::try_from(records.div_ceil(32)).unwrap_or(u32::MAX);
            let hurries = time.is_some_and(|time| time < rounds * Duration::from_secs(1));
            if hurries { 64 } else { 32 }
        };
        self.concurrency.map_or_else(chosen, NonZeroUsize::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrency_follows_batch_and_time_unless_it_is_chosen() {
        let second = Duration::from_secs(1);
        let of = |operation: EventOperation, records, time| operation.batching.concurrency(records, time);
        let any = || EventOperation::new(Operation::declare("x", 1));
        assert_eq!(of(any(), 10, Some(60 * second)), 32);
        assert_eq!(of(any(), 1000, Some(60 * second)), 32);
        assert_eq!(of(any(), 1000, Some(30 * second)), 64);
        assert_eq!(of(any(), 1000, None), 32, "a deadline that says nothing");
        assert_eq!(of(any().concurrency(1), 1000, Some(second)), 1);
        assert_eq!(of(any().concurrency(0), 10, None), 1);
    }
}
