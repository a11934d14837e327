//! Taking back what the steps of an operation did that failed for good.

use std::{
    error::Error,
    future::{Ready, ready},
};

use idempotency_core::{Undo, Undone};

/// What an operation does to undo a step, where it has nothing that could: its steps have no undo, so nobody asks.
pub fn no_undo(undo: Undo) -> Ready<Result<Undone, Box<dyn Error + Send + Sync>>> {
    ready(Err(format!("nothing undoes the step {:?} of this operation any more", undo.step()).into()))
}
