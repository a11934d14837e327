//! Steps: calls whose outputs later attempts read instead of making them again.

use std::future::Future;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Attempt, StepError,
    desk::{Desk, Kept, NewRow},
    effects::{DoneStep, StepOutput},
    value::{from_json, short_type_name, to_json},
};
use crate::{IdempotencyKey, RowKind, Status};

impl Attempt {
    /// Makes a call whose output is stored, so that an attempt which follows a lost or released one reads it instead of calling
    /// again. `call` gets the step's own key, [`step_key`](Self::step_key), to pass on; only if an attempt is lost between call and
    /// row is the call made again, with the same key.
    ///
    /// A step has its place in the handler's order from the moment that this is called; the future may then run beside others. The
    /// order of steps and the type of each output stay the same on every attempt, or the step is refused; a call that fails leaves
    /// nothing. The output has any size, and comes back as it was stored: what serde leaves out is missing. On the first attempt a step
    /// costs one write, and no read.
    ///
    /// Dropping the future may leave the call made and its output not stored.
    ///
    /// ```
    /// # use idempotency_core::{Attempt, IdempotencyKey, StepError};
    /// # type Error = Box<dyn std::error::Error + Send + Sync>;
    /// # async fn charge(_: &IdempotencyKey) -> Result<String, Error> { Ok("t-1".into()) }
    /// # async fn ship(_: &str, _: &IdempotencyKey) -> Result<u32, Error> { Ok(7) }
    /// async fn order(attempt: Attempt) -> Result<u32, Error> {
    ///     let transaction = attempt.step("charge-card", async |key| charge(&key).await).await?;
    ///     attempt.step("ship", async |key| ship(&transaction, &key).await).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The call's own, or a [`StepError`].
    pub fn step<T, E, F>(
        &self,
        name: &str,
        call: impl FnOnce(IdempotencyKey) -> F,
    ) -> impl Future<Output = Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
        E: From<StepError>,
        F: Future<Output = Result<T, E>>,
    {
        self.any_step(name, false, call)
    }

    /// As [`step`](Self::step), for a call that the operation's `undo` takes back when the operation fails for good. Steps are undone
    /// in reverse, each with its stored output.
    ///
    /// That the call is about to be made is stored before it is: one more write. So if an attempt is lost between call and row, and the
    /// next one fails for good before it comes to this step, the step is undone all the same, without an output
    /// ([`StepError::Unfinished`]).
    ///
    /// Dropping the future is what it is there.
    ///
    /// # Errors
    ///
    /// The call's own, or a [`StepError`]; [`StepError::NoUndo`] before the call is made when the operation has no `undo`.
    pub fn step_with_undo<T, E, F>(
        &self,
        name: &str,
        call: impl FnOnce(IdempotencyKey) -> F,
    ) -> impl Future<Output = Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
        E: From<StepError>,
        F: Future<Output = Result<T, E>>,
    {
        self.any_step(name, true, call)
    }

    fn any_step<T, E, F>(
        &self,
        name: &str,
        has_undo: bool,
        call: impl FnOnce(IdempotencyKey) -> F,
    ) -> impl Future<Output = Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
        E: From<StepError>,
        F: Future<Output = Result<T, E>>,
    {
        let (attempt, name) = (self.clone(), name.to_owned());
        // Before anything is awaited: steps that are joined have their places in the order of the code.
        let place = attempt.effects.steps().place(&name);
        async move {
            let ordinal = attempt.begin_step(&name, place, has_undo)?;
            let earlier = attempt.effects.earlier(&attempt).await?;
            if let Some((done, output)) = earlier.step(&name, ordinal)? {
                let value = from_json(&name, output)?;
                // It may have got its undo since.
                attempt.effects.steps().done(DoneStep { has_undo: has_undo || done.has_undo, ..done.clone() });
                return Ok(value);
            }
            if has_undo {
                attempt.keep_begun(&name, ordinal).await?;
                // Until it is known that the call failed, or its output is stored: should this future be dropped meanwhile, the call may
                // have been made all the same.
                attempt.effects.steps().open(&name, ordinal);
            }
            // Reading and storing have taken their time.
            if attempt.effects.is_overdue() {
                attempt.effects.steps().close(&name);
                return Err(StepError::Overdue { name }.into());
            }
            let value = match call(attempt.named_key(&name)).await {
                Ok(value) => value,
                Err(error) => {
                    attempt.effects.steps().close(&name);
                    return Err(error);
                }
            };
            let json = to_json(&name, &value)?.into();
            drop(value);
            let output = StepOutput { type_name: short_type_name::<T>(), json };
            Ok(attempt.keep_step(ordinal, name, output, has_undo).await?)
        }
    }

    /// Stores that a call is about to be made that may have to be undone: should the attempt be lost meanwhile, and the next one fail
    /// before it comes here, nothing else would tell.
    async fn keep_begun(&self, name: &str, ordinal: u32) -> Result<(), StepError> {
        let is_known = self.effects.earlier(self).await?.begun.iter().any(|(begun, _)| begun == name);
        if let Some(desk) = self.effects.desk.as_ref().filter(|_| !is_known) {
            desk.keep(self.new_row(RowKind::Begun { ordinal }, name, ""), None, self.deadline).await?;
        }
        Ok(())
    }

    fn begin_step(&self, name: &str, place: Result<u32, StepError>, has_undo: bool) -> Result<u32, StepError> {
        self.effects.may_begin(name)?;
        if has_undo && !self.effects.policy.undoes() {
            return Err(StepError::NoUndo { name: name.to_owned() });
        }
        place
    }

    async fn keep_step<T: DeserializeOwned>(
        &self,
        ordinal: u32,
        name: String,
        mut output: StepOutput,
        has_undo: bool,
    ) -> Result<T, StepError> {
        if let Some(desk) = &self.effects.desk {
            let row = self.new_row(RowKind::Step { ordinal, has_undo }, &name, &output.type_name);
            // Another attempt that is as far, after a takeover that this one has not noticed: what was stored first counts.
            if let Kept::Other(other, value) = desk.keep(row, Some(&output.json), self.deadline).await? {
                output = StepOutput { type_name: other.type_name, json: value };
            }
            // The call may have come after the one that took it back, or asked for it in vain.
            if has_undo && self.effects.is_overdue() && self.is_undone(desk.as_ref()).await {
                crate::telemetry::compensation_lost(&self.operation);
                tracing::error!(record = %self.record_key, operation = %self.operation, step = name, "CompensationLost: a call was made when the lease was over, and its operation has failed for good and is being undone, or was: it may stay done");
            }
        }
        let value = from_json(&name, &output);
        // Whether its output can be read or not: it was done, and may have to be undone.
        let mut steps = self.effects.steps();
        steps.close(&name);
        steps.done(DoneStep { ordinal, name, output: Some(output), has_undo });
        value
    }

    /// Whether undoing was begun by another attempt of the generation, as far as the store says.
    async fn is_undone(&self, desk: &dyn Desk) -> bool {
        let stored = desk.record(&self.record_key, self.deadline).await;
        stored.is_some_and(|stored| {
            let has_failed = matches!(stored.status, Status::Compensating | Status::Failed | Status::Stuck);
            stored.execution == self.effects.execution && has_failed
        })
    }

    pub(super) fn new_row(&self, kind: RowKind, name: &str, type_name: &str) -> NewRow {
        NewRow {
            key: self.record_key.clone(),
            execution: self.effects.execution,
            kind,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            expires_at: self.effects.rows_expire_at(self.clock.now()),
        }
    }

    /// The key of a call below this operation: [`step_key`](Self::step_key) as a key.
    pub(super) fn named_key(&self, name: &str) -> IdempotencyKey {
        IdempotencyKey::from_hash(self.step_key(name))
    }
}
