//! The records of one event, and what becomes of them.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Mutex, PoisonError},
};

#[cfg(feature = "sqs")]
use {idempotency_core::EpochMillis, std::time::Duration};

use futures::{FutureExt, StreamExt, stream};
use idempotency_core::{
    Attempt, Batched, Fingerprint, IdempotencyKey, RecordKey, Scope, ScopeError, Store, Undo, Undone,
};
use lambda_http::LambdaEvent;
use tracing::{Instrument, Span};

use super::{
    EventOperation, EventTypes, Identity, OnPoison, Outcome, Reader, Settled, Source, Undecodable,
    chains::{Chain, Link, chains},
    time::Time,
};
use crate::{
    Idempotency, Mode, Probed,
    function::{self, BoxError, Call, InvalidKey},
    lambda_deadline,
};

/// The records of one event.
pub(super) struct Batch<Src: Source, T> {
    records: Vec<Src::Record>,
    /// What is to be carried out, as long as nobody has begun it.
    tasks: Mutex<Vec<Option<Task<T>>>>,
    outcomes: Mutex<Vec<Outcome>>,
    chains: Vec<Chain>,
    time: Time,
}

/// A record that can be carried out.
struct Task<T> {
    message: T,
    key: Result<IdempotencyKey, InvalidKey>,
    scope: Result<Scope, ScopeError>,
    fingerprint: Fingerprint,
    is_redelivered: bool,
}

impl<T> Task<T> {
    /// Where its record stands; `None` for a task that will be refused.
    fn record_key<S>(&self, idempotency: &Idempotency<S>, operation: &EventOperation) -> Option<RecordKey> {
        let (scope, key) = (self.scope.as_ref().ok()?, self.key.as_ref().ok()?);
        Some(RecordKey::new(idempotency.namespace(), operation.operation(), scope, key))
    }
}

impl<Src: Source, T> Batch<Src, T> {
    /// Reads the records. Identity is computed here, once, before anything runs.
    pub(super) fn read<S>(
        idempotency: &Idempotency<S>,
        operation: &EventOperation,
        event: LambdaEvent<Src::Event>,
        reader: Reader<Src::Record, T>,
        identify: impl Fn(&T) -> Identity,
    ) -> Self {
        let time = Time::new(idempotency.engine().now(), lambda_deadline(&event.context));
        let records = Src::records(event);
        let (mut tasks, mut outcomes, mut links) = (vec![], vec![], vec![]);
        for record in &records {
            let (group, task) =
                span::<Src>(record).in_scope(|| read_one::<Src, T>(record, operation, reader, &identify));
            let same = |task: &Task<T>| Some(Link::Same(task.record_key(idempotency, operation)?.as_str().to_owned()));
            links.push(match group {
                Some(group) => Link::Group(group),
                None => task.as_ref().ok().and_then(same).unwrap_or(Link::Alone),
            });
            outcomes.push(*task.as_ref().err().unwrap_or(&Outcome::NotReached));
            tasks.push(task.ok());
        }
        let (tasks, outcomes, chains) = (Mutex::new(tasks), Mutex::new(outcomes), chains(links));
        Self { records, tasks, outcomes, chains, time }
    }

    /// Carries out what can be, side by side as far as order allows.
    pub(super) async fn carry_out<S, P, U, G, F, R, E>(
        &mut self,
        idempotency: &Idempotency<S>,
        operation: &EventOperation,
        types: EventTypes<R, E>,
        probe: impl Fn(Attempt) -> P,
        undo: U,
        handler: impl Fn(T, Attempt) -> F,
    ) where
        S: Store,
        P: Future<Output = Result<Probed<R>, BoxError>>,
        U: Fn(Undo) -> G,
        G: Future<Output = Result<Undone, BoxError>>,
        F: Future<Output = Result<R, E>>,
    {
        let concurrency = operation.batching.concurrency(self.records.len(), self.time.total());
        let idempotency = &idempotency.batched(operation.batching.linger);
        // By value: a closure over references to chains would make a future that no other thread can take.
        let chains = std::mem::take(&mut self.chains);
        let (this, probe, undo, handler) = (&*self, &probe, &undo, &handler);
        let running = chains.into_iter().map(|chain| {
            // Before any of them asks for anything, so that the first batch of claims waits for all.
            let flow = idempotency.engine().store().flow();
            async move {
                let mut flow = flow;
                let last = chain.records.last();
                for record in &chain.records {
                    flow.hurry(chain.is_ordered && Some(record) != last);
                    let outcome = this.carry_out_one(*record, idempotency, operation, types, probe, undo, handler);
                    let outcome = outcome.instrument(this.span(*record)).await;
                    // Nothing may overtake an end of which nobody knows whether it is stored.
                    let is_settled = is_done(outcome, operation) && outcome != Outcome::Unconfirmed;
                    if chain.is_ordered && !is_settled {
                        break;
                    }
                }
            }
        });
        stream::iter(running).buffer_unordered(concurrency).collect::<()>().await;
    }

    fn span(&self, record: usize) -> Span {
        self.records.get(record).map_or_else(Span::none, span::<Src>)
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of `run_with`")]
    async fn carry_out_one<S, P, U, G, F, R, E>(
        &self,
        record: usize,
        idempotency: &Idempotency<Batched<S>>,
        operation: &EventOperation,
        types: EventTypes<R, E>,
        probe: impl Fn(Attempt) -> P,
        undo: U,
        handler: impl Fn(T, Attempt) -> F,
    ) -> Outcome
    where
        S: Store,
        P: Future<Output = Result<Probed<R>, BoxError>>,
        U: Fn(Undo) -> G,
        G: Future<Output = Result<Undone, BoxError>>,
        F: Future<Output = Result<R, E>>,
    {
        let task = locked(&self.tasks).get_mut(record).and_then(Option::take);
        let engine = idempotency.engine();
        let Some(task) = task.filter(|_| self.time.suffices(engine.now())) else {
            return locked(&self.outcomes).get(record).copied().unwrap_or(Outcome::NotReached);
        };
        let call = Call::new(task.key, task.scope).fingerprint(task.fingerprint).look_first(task.is_redelivered);
        let begun = engine.now();
        let running = function::carry_out(
            idempotency,
            &operation.function,
            call.deadline(self.time.deadline()),
            types.function,
            probe,
            undo,
            async |attempt| {
                let returned = handler(task.message, attempt).await;
                returned.inspect_err(|error| (types.log)(operation.operation(), error))
            },
        );
        // A handler that panics takes down its own record only. Its claim is dropped, so its attempt counts as abandoned.
        let outcome = match AssertUnwindSafe(running).catch_unwind().await {
            Ok(result) => {
                log(operation, &result, idempotency.mode());
                Outcome::of(&result)
            }
            Err(_) => {
                tracing::error!(operation = %operation.operation(), "the handler of a record panicked");
                Outcome::Abandoned
            }
        };
        self.time.took(engine.now().saturating_since(begun));
        if let Some(place) = locked(&self.outcomes).get_mut(record) {
            *place = outcome;
        }
        outcome
    }

    /// What is left of the invocation; `None` where its deadline says nothing.
    #[cfg(feature = "sqs")]
    pub(super) fn left(&self, now: EpochMillis) -> Option<Duration> {
        self.time.total().map(|_| self.time.deadline().saturating_since(now))
    }

    /// What became of the records.
    pub(super) fn settle(self, operation: &EventOperation) -> Vec<Settled<Src::Record>> {
        let outcomes = self.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let settled: Vec<_> = self
            .records
            .into_iter()
            .zip(outcomes)
            .map(|(record, outcome)| Settled { record, outcome, is_done: is_done(outcome, operation) })
            .collect();
        super::summary::log(Src::NAME, operation, &settled);
        settled
    }
}

/// What is logged about a record, by the handler too, names it.
fn span<Src: Source>(record: &Src::Record) -> Span {
    tracing::info_span!("record", source = Src::NAME, id = Src::name(record))
}

/// Reads one record: what it must be in order with, and what is to be done or why nothing can be.
fn read_one<Src: Source, T>(
    record: &Src::Record,
    operation: &EventOperation,
    reader: Reader<Src::Record, T>,
    identify: impl Fn(&T) -> Identity,
) -> (Option<String>, Result<Task<T>, Outcome>) {
    let described = Src::describe(record, operation);
    // Code of the user's own reads and identifies a record. If it panics, the record fails alone.
    let read = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let message = (reader.0)(record, &described.payload)?;
        let identity = identify(&message);
        Ok((message, identity))
    }));
    let (message, identity) = match read.unwrap_or_else(|_| Err(Undecodable::new("reading it panicked"))) {
        Ok(read) => read,
        Err(error) => {
            tracing::error!(operation = %operation.operation(), %error, "a record cannot be read");
            return (described.group, Err(Outcome::Undecodable));
        }
    };
    let key = described.propagated.or(identity.key).or(described.platform).unwrap_or(Err(InvalidKey::Missing));
    let fingerprint = Src::fingerprint(record, &described.payload, operation);
    let is_redelivered = described.is_redelivered;
    (described.group, Ok(Task { message, key, scope: identity.scope, fingerprint, is_redelivered }))
}

/// Says why a record is not done, where the protocol has not said so already.
fn log<R, E>(operation: &EventOperation, result: &Result<function::Done<R>, function::Error<E>>, mode: Mode) {
    use function::Error;
    let operation = operation.operation();
    match result {
        Err(Error::Key(error)) => tracing::error!(%operation, %error, "a record has no usable key"),
        Err(Error::Scope(error)) => tracing::error!(%operation, %error, "a record does not say whose key it uses"),
        Err(Error::Mismatch) => tracing::error!(%operation, "a record's key was used for another record"),
        Err(Error::Failed(failed)) => {
            tracing::error!(%operation, %mode, %failed, "a record failed for good, now or before")
        }
        Err(Error::Uncertain) => {
            tracing::error!(%operation, "an attempt at a record was lost, and nobody knows whether its effect happened");
        }
        _ => {}
    }
}

fn is_done(outcome: Outcome, operation: &EventOperation) -> bool {
    outcome.is_done() || (outcome.is_poison() && operation.batching.on_poison == OnPoison::Skip)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Every change is one assignment, so a panic elsewhere cannot have left half of one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
