//! Calls that run side by side, sent to the store together.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::future::join;
use tokio::{
    sync::{Notify, oneshot},
    task::yield_now,
    time::{Instant, timeout_at},
};

use crate::{
    Committed, Effect, EpochSeconds, ExecutionId, Inserted, OwnerToken, Record, RecordKey, Replaced, Row, RowInserted,
    Status, Store, StoreError, Version, Write, Written,
};

/// The longest linger: beyond this, time is no time any more.
const LONGEST_LINGER: Duration = Duration::from_secs(24 * 3600);

/// Another call would not make the batch any cheaper: DynamoDB takes 25 statements in one request.
const FULL: usize = 25;

/// A store whose calls, when many run side by side, reach the store below as few [`Store::write_many`] and
/// [`Store::get_many`].
///
/// It is for one batch of messages: each message is a [`Flow`] with its own claim and its own end, and asks for them as it would
/// ask any store. A call waits only for those that are asked for in the same turn of the executor, so claims of one batch leave
/// together and none waits for a handler. The end of a claim waits longer: until every flow waits for the store, or `linger` is
/// over. So the ends of one batch leave together too, without one slow handler holding up what others have done.
///
/// What a call means is untouched: each gets its own answer, in the time that it gives, and a call that is dropped is like a lost
/// reply.
pub struct Batched<S> {
    inner: Arc<S>,
    linger: Duration,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    writes: Vec<Asked<Write, Written>>,
    reads: Vec<Asked<RecordKey, Option<Record>>>,
    /// Whether a call collects the batch that is being gathered.
    is_led: bool,
    /// From when on the batch's first call waits.
    since: Option<Instant>,
    flows: usize,
    /// Flows with more to do after their call: their ends are waited for.
    hurried: usize,
    /// Calls whose flows wait for an answer.
    waiting: usize,
}

/// A call and where its answer goes.
struct Asked<C, A> {
    call: C,
    within: Duration,
    /// When that is over.
    by: Instant,
    answer: oneshot::Sender<Result<A, StoreError>>,
}

impl<C, A> Asked<C, A> {
    const fn new(call: C, within: Duration, by: Instant, answer: oneshot::Sender<Result<A, StoreError>>) -> Self {
        Self { call, within, by, answer }
    }
}

/// One message on its way. While it lives, ends of other claims may wait for its own.
#[derive(Debug)]
pub struct Flow<S> {
    batched: Arc<Batched<S>>,
    is_hurried: bool,
}

impl<S> Batched<S> {
    /// Batches of calls of `inner`, in which the end of a claim waits for others for `linger` at the longest, and for no more than a
    /// quarter of its time.
    pub fn new(inner: Arc<S>, linger: Duration) -> Self {
        Self { inner, linger: linger.min(LONGEST_LINGER), state: Mutex::default(), changed: Notify::new() }
    }

    /// Announces a flow, before its first call.
    pub fn flow(self: &Arc<Self>) -> Flow<S> {
        self.state().flows += 1;
        Flow { batched: Arc::clone(self), is_hurried: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves a whole state, so a panic elsewhere cannot have left half of one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Batch {
        (self.is_led, self.since) = (false, None);
        (std::mem::take(&mut self.writes), std::mem::take(&mut self.reads))
    }

    fn size(&self) -> usize {
        self.writes.len() + self.reads.len()
    }

    /// Whether somebody's handler waits for an answer. The end of a claim has time, unless a next message waits for it.
    fn is_urgent(&self) -> bool {
        let ends = |write: &Write| matches!(write, Write::Replace { record, .. } if record.status != Status::InFlight);
        self.hurried > 0 || !self.reads.is_empty() || !self.writes.iter().all(|asked| ends(&asked.call))
    }

    /// How long this batch may wait: never so long that its calls have no time left.
    fn linger(&self, longest: Duration) -> Duration {
        self.writes.iter().map(|asked| asked.within / 4).min().map_or(longest, |quarter| quarter.min(longest))
    }
}

impl<S: Store> Batched<S> {
    /// Puts a call into the batch, and sends the batch if nobody else does.
    async fn ask<A>(
        &self,
        put: impl FnOnce(&mut State, oneshot::Sender<Result<A, StoreError>>),
    ) -> Option<Result<A, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let leads = {
            let mut state = self.state();
            put(&mut state, answer);
            state.waiting += 1;
            state.since.get_or_insert_with(Instant::now);
            !std::mem::replace(&mut state.is_led, true)
        };
        let _waits = Waits(self);
        self.changed.notify_one();
        if leads {
            self.lead().await;
        }
        // Nobody answers when the call that led was dropped.
        answered.await.ok()
    }

    /// Collects a batch and sends it.
    async fn lead(&self) {
        let lead = Lead { batched: self, has_collected: false };
        self.gather().await;
        let (mut writes, mut reads) = lead.collect();
        // One whose time went by while nobody looked (a handler that never pauses holds up everybody) would leave none for the
        // others. It learns that it has no answer.
        writes.retain(|asked| !left(asked.by).is_zero());
        reads.retain(|asked| !left(asked.by).is_zero());
        // The call that leads stays until all have their answers, so no call of a batch has more time than another.
        let times = writes.iter().map(|asked| asked.by).chain(reads.iter().map(|asked| asked.by));
        let within = times.min().map(left).unwrap_or_default();
        join(
            send(writes, async |writes: Vec<Write>| self.inner.write_many(&writes, within).await),
            send(reads, async |keys: Vec<RecordKey>| self.inner.get_many(&keys, within).await),
        )
        .await;
    }

    /// Waits for those who join the batch.
    async fn gather(&self) {
        let mut seen = 0;
        loop {
            let (size, ready, until) = {
                let state = self.state();
                let ready = state.is_urgent() || state.size() >= FULL || state.waiting >= state.flows;
                (state.size(), ready, state.since.map(|since| since + state.linger(self.linger)))
            };
            if size != seen {
                // Those who are about to ask do so in this turn.
                seen = size;
                yield_now().await;
                continue;
            }
            let Some(until) = until.filter(|_| !ready) else { return };
            if timeout_at(until, self.changed.notified()).await.is_err() {
                return;
            }
        }
    }
}

/// Sends calls and gives each its answer.
async fn send<C, A>(asked: Vec<Asked<C, A>>, all: impl AsyncFnOnce(Vec<C>) -> Vec<Result<A, StoreError>>) {
    if asked.is_empty() {
        return;
    }
    let (calls, answers): (Vec<_>, Vec<_>) = asked.into_iter().map(|asked| (asked.call, asked.answer)).unzip();
    for (answer, given) in answers.into_iter().zip(all(calls).await) {
        // Who asked may be gone.
        let _ = answer.send(given);
    }
}

/// When a call's time is over. None takes a day, and time has an end.
fn end_of(within: Duration) -> Instant {
    Instant::now() + within.min(Duration::from_secs(24 * 3600))
}

fn left(by: Instant) -> Duration {
    by.saturating_duration_since(Instant::now())
}

/// What is left for a call: one that is about to be made, or that nobody answered and that is to be made alone.
///
/// # Errors
///
/// [`StoreError::Unknown`] if that is nothing.
fn left_alone(by: Instant) -> Result<Duration, StoreError> {
    Some(left(by))
        .filter(|left| !left.is_zero())
        .ok_or_else(|| StoreError::Unknown("there is no time left for the call".into()))
}

/// A batch on its way out: what was asked for, and where the answers go.
type Batch = (Vec<Asked<Write, Written>>, Vec<Asked<RecordKey, Option<Record>>>);

/// The batch being gathered has a leader as long as this lives.
struct Lead<'a, S> {
    batched: &'a Batched<S>,
    has_collected: bool,
}

impl<S> Lead<'_, S> {
    /// Takes the batch. Who asks from now on begins another one.
    fn collect(mut self) -> Batch {
        self.has_collected = true;
        self.batched.state().take()
    }
}

impl<S> Drop for Lead<'_, S> {
    fn drop(&mut self) {
        if !self.has_collected {
            // The call that led was dropped: those who wait learn that nobody will answer.
            drop(self.batched.state().take());
        }
    }
}

/// A call waits as long as this lives.
struct Waits<'a, S>(&'a Batched<S>);

impl<S> Drop for Waits<'_, S> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl<S> Flow<S> {
    /// Says whether something waits for the end of what this flow carries out now, such as the next message of a group. Then no end
    /// of the batch lingers.
    pub fn hurry(&mut self, hurry: bool) {
        let was_hurried = std::mem::replace(&mut self.is_hurried, hurry);
        let mut state = self.batched.state();
        state.hurried = state.hurried + usize::from(hurry) - usize::from(was_hurried);
    }
}

impl<S> Drop for Flow<S> {
    fn drop(&mut self) {
        self.hurry(false);
        self.batched.state().flows -= 1;
        self.batched.changed.notify_one();
    }
}

impl<S: Store> Store for Batched<S> {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        match self.write(&Write::Insert(record.clone()), within).await? {
            Written::Written => Ok(Inserted::Inserted),
            Written::Refused(Some(old)) => Ok(Inserted::Exists(old)),
            Written::Refused(None) => {
                Err(StoreError::Refused("the store refused to insert a record that it has not".into()))
            }
        }
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        match self.write(&Write::Replace { expected, record: record.clone() }, within).await? {
            Written::Written => Ok(Replaced::Replaced),
            Written::Refused(old) => Ok(Replaced::Differs(old)),
        }
    }

    async fn write(&self, write: &Write, within: Duration) -> Result<Written, StoreError> {
        let (call, by) = (write.clone(), end_of(within));
        // One without any time would lead a batch that it is no part of, and wait for its answers.
        left_alone(by)?;
        let answered = self.ask(|state, answer| state.writes.push(Asked::new(call, within, by, answer))).await;
        match answered {
            Some(answer) => answer,
            // Repeating a write that may have been applied is safe.
            None => self.inner.write(write, left_alone(by)?).await,
        }
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        let (call, by) = (key.clone(), end_of(within));
        left_alone(by)?;
        let answered = self.ask(|state, answer| state.reads.push(Asked::new(call, within, by, answer))).await;
        match answered {
            Some(answer) => answer,
            None => self.inner.get(key, left_alone(by)?).await,
        }
    }

    // What follows is about one record each, and goes by itself.

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        self.inner.commit(write, effects, within).await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        self.inner.insert_row(row, within).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.inner.put_row(row, within).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        self.inner.rows(key, execution, within).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.inner.put_parts(key, owner, parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.inner.get_parts(key, owner, count, within).await
    }
}

impl<S> fmt::Debug for Batched<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batched").field("linger", &self.linger).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
