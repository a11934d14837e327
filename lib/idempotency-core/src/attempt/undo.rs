//! A step to be undone.

use std::fmt;

use serde::de::DeserializeOwned;

use super::{Attempt, DoneStep, StepError, value::from_json};
use crate::{IdempotencyKey, RowKind};

/// A step to be undone, because its operation failed for good.
///
/// Undoing may be begun more than once, when an attempt is lost between the call that undoes and the row that says so. The calls have one
/// key, [`key`](Self::key): pass it on, or undo in a way that twice is once.
#[derive(Clone)]
pub struct Undo {
    attempt: Attempt,
    step: DoneStep,
}

/// What became of a step that was to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It is undone, or nothing had to be.
    Done,
    /// It could not be undone now and can be later: the next request goes on with it. An error, in contrast, makes the operation
    /// *stuck* until an operator acts.
    Later,
}

impl Undo {
    pub(crate) const fn new(attempt: Attempt, step: DoneStep) -> Self {
        Self { attempt, step }
    }

    /// The step's name.
    pub fn step(&self) -> &str {
        &self.step.name
    }

    /// The step's output, as it was stored.
    ///
    /// # Errors
    ///
    /// [`StepError::Unfinished`] when an attempt was lost while the call was made, so that nobody knows whether it was: look it up by
    /// [`step_key`](Self::step_key). Another [`StepError`] when the output is of another type.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, StepError> {
        match &self.step.output {
            Some(output) => from_json(&self.step.name, output),
            None => Err(StepError::Unfinished { name: self.step.name.clone() }),
        }
    }

    /// The key that the step's call had, to name what is to be undone.
    pub fn step_key(&self) -> IdempotencyKey {
        self.attempt.named_key(&self.step.name)
    }

    /// The key of the call that undoes: the same on every attempt, and not the step's.
    pub fn key(&self) -> IdempotencyKey {
        // No step's name has this sign.
        self.attempt.named_key(&format!("undo#{}", self.step.name))
    }

    /// The attempt that undoes.
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }
}

/// Without the output, which is the user's.
impl fmt::Debug for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undo").field("step", &self.step.name).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

impl Attempt {
    /// Keeps that a step was undone.
    pub(crate) async fn keep_undone(&self, name: &str) -> Result<(), StepError> {
        if let Some(desk) = &self.effects.desk {
            desk.keep(self.new_row(RowKind::Undone, name, ""), None, self.deadline).await?;
        }
        Ok(())
    }
}
