//! Why a step has no output.

use crate::StoreError;

/// Why a step, memo or marker gave no output although its own call did not fail, or was not made.
///
/// An error type that implements `From<StepError>` passes it on with `?`. Its classification: only [`is_retryable`](Self::is_retryable)
/// says that nothing has happened; all others count as abandoned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The store gave no usable answer. If the call was made, its output may not be stored, and the next attempt makes it again with
    /// the same key.
    #[error("the step could not be read or stored")]
    Store(#[source] StoreError),
    /// The name cannot stand in a key.
    #[error(
        "the name {name:?} of a step must be 1 to {} characters out of letters, digits, '-', '_' and '.'",
        StepError::MAX_NAME
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two steps of one attempt have one name.
    #[error("two steps are named {name:?}; give each its own name, such as one with a number in it")]
    Repeated {
        /// The name.
        name: String,
    },
    /// An earlier attempt did its steps in another order. The call was not made.
    #[error(
        "the step {name:?} comes at place {place}, where an earlier attempt had {earlier}; steps must come in the same order on every attempt, and a change of their order needs a new version of the operation"
    )]
    Order {
        /// The step.
        name: String,
        /// Its place now, from 0.
        place: u32,
        /// What the earlier attempt had there, or where it had this step.
        earlier: String,
    },
    /// An earlier attempt stored an output of another type. The call was not made.
    #[error(
        "the output of the step {name:?} is stored as {stored:?} and asked for as {asked:?}; a change of its type needs a new version of the operation"
    )]
    Type {
        /// The step.
        name: String,
        /// The type stored.
        stored: String,
        /// The type asked for.
        asked: String,
    },
    /// The output or input cannot be written as JSON, or the stored output cannot be read as its type.
    #[error("the output or input of the step {name:?} cannot be written as JSON or read from it: {why}")]
    Json {
        /// The step.
        name: String,
        /// Why not, without what is stored.
        why: String,
    },
    /// The step is to be undone, and has no output: an attempt was lost while the call was made, so it may have been made or not. Ask the
    /// callee by the call's key, [`Undo::step_key`](crate::Undo::step_key); passed on, this error leaves the operation *stuck*.
    #[error("nobody knows whether the step {name:?} was done: an attempt was lost while its call was made")]
    Unfinished {
        /// The step.
        name: String,
    },
    /// The attempt's lease is over, so another one may be at work. The call was not made.
    #[error("the step {name:?} was not begun because the attempt's time is over")]
    Overdue {
        /// The step.
        name: String,
    },
    /// Another attempt is doing the same once, now. The call was not made.
    #[error("another attempt is doing {name:?} now")]
    InFlight {
        /// The marker's name.
        name: String,
    },
    /// An earlier attempt was lost while it did this once, and nobody knows whether it was done. The call was not made.
    #[error("an earlier attempt was lost while it did {name:?}, and nobody knows whether it was done")]
    Uncertain {
        /// The marker's name.
        name: String,
    },
    /// An atomic operation has no steps: it may run several times before one run commits. The call was not made.
    #[error(
        "the step {name:?} was not begun: an atomic operation has no effect but what it stages; leave `atomic` out for an operation with steps, memos or markers"
    )]
    Atomic {
        /// The step.
        name: String,
    },
    /// The step is to be undone if the operation fails, and the operation has nothing that undoes it. The call was not made.
    #[error(
        "the step {name:?} is to be undone if the operation fails for good, and the operation has no `undo`; give it one (`undo = f`), or use `step`"
    )]
    NoUndo {
        /// The step.
        name: String,
    },
}

impl StepError {
    /// The longest name, in characters.
    pub const MAX_NAME: usize = 128;

    /// Whether the call was not made and may be made by another attempt later: what was done before it stays done, so that the
    /// attempt may be released.
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::InFlight { .. })
    }
}
