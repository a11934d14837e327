//! What the operation does, and what came of it beside its record.

use idempotency_core::{ExecutionId, OwnerToken};

/// What the operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A claim, an effect somewhere outside, an end.
    Effect,
    /// A claim, and an effect that commits with its end.
    Staged,
    /// No claim: an effect that commits with the record.
    Atomic,
    /// As `Atomic`, where the first attempt is of a version that claimed first (`Staged`).
    AtomicAfterClaim,
    /// A claim, two steps whose outputs are kept in rows, an end; and both are undone when the operation fails for good.
    Steps,
}

/// How many steps there are.
pub(super) const STEPS: u8 = 2;

/// A row beside the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row {
    /// The generation.
    pub execution: ExecutionId,
    /// The step, from 0.
    pub step: u8,
    /// Whether it says that the step was undone.
    pub undone: bool,
    /// Who wrote it. A step's output is who called it.
    pub by: usize,
}

/// What the table holds beside the record, and what happened outside. All are sets or bags in order, so that the same things done in another
/// order are the same state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Beside {
    /// The rows, each with whether an attempt has had proof that it is stored.
    pub rows: Vec<(Row, bool)>,
    /// Rows whose senders have given up on them and that may still arrive.
    pub late: Vec<Row>,
    /// Steps that were called, once for each time: generation, step, by whom.
    pub calls: Vec<(ExecutionId, u8, usize)>,
    /// Undos that were called: generation, step, by whom.
    pub undos: Vec<(ExecutionId, u8, usize)>,
    /// Outputs that a handler has seen: generation, step, whose call's.
    pub seen: Vec<(ExecutionId, u8, usize)>,
    /// Generations that were compensating.
    pub compensated: Vec<ExecutionId>,
    /// Generations whose staged effect was applied, once for each time.
    pub committed: Vec<ExecutionId>,
    /// Generations that were completed, once for each time, and by whom.
    pub completed: Vec<(ExecutionId, OwnerToken)>,
}

/// Adds to a set in order. Gives whether it is new.
pub(super) fn note<T: Ord>(set: &mut Vec<T>, new: T) -> bool {
    let place = set.binary_search(&new);
    if let Err(place) = place {
        set.insert(place, new);
    }
    place.is_err()
}

/// Adds to a bag in order.
pub(super) fn add<T: Ord>(bag: &mut Vec<T>, new: T) {
    let place = bag.binary_search(&new).unwrap_or_else(|place| place);
    bag.insert(place, new);
}

impl Beside {
    /// The row at a place.
    pub(super) fn row(&self, execution: ExecutionId, step: u8, undone: bool) -> Option<Row> {
        let is_there = |row: &Row| row.execution == execution && row.step == step && row.undone == undone;
        self.rows.iter().map(|(row, _)| *row).find(is_there)
    }

    /// Whether an attempt has had proof of a row at a place.
    pub(super) fn is_known(&self, execution: ExecutionId, step: u8, undone: bool) -> bool {
        let is_it = |row: &Row| row.execution == execution && row.step == step && row.undone == undone;
        self.rows.iter().any(|(row, known)| *known && is_it(row))
    }

    /// Somebody has had proof of what is stored at a row's place.
    pub(super) fn know(&mut self, row: Row) {
        if let Some((_, known)) = self.rows.iter_mut().find(|(stored, _)| *stored == row) {
            *known = true;
        }
    }
}

impl Work {
    /// Whether this attempt writes nothing before its end.
    pub(super) const fn is_atomic(self, attempt: usize) -> bool {
        matches!(self, Self::Atomic) || (matches!(self, Self::AtomicAfterClaim) && attempt > 0)
    }

    /// Whether the effect commits with the record.
    pub(super) const fn stages(self) -> bool {
        matches!(self, Self::Staged | Self::Atomic | Self::AtomicAfterClaim)
    }

    /// Whether there are steps.
    pub(super) const fn has_steps(self) -> bool {
        matches!(self, Self::Steps)
    }
}
