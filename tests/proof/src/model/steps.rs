//! Steps, their rows, and how they are undone.

use idempotency_core::{EpochSeconds, ExecutionId, Record, Status};

use super::{
    Action, Model, Network, Phase, State, Told, Undone,
    attempt::{Write, WriteKind},
    work::{Row, STEPS, add, note},
    world::{end_of, leave},
};
use crate::Mutant;

impl Model {
    /// What an attempt with steps can do whose handler runs.
    pub(super) fn possible_steps(&self, state: &State, attempt: usize, record: &Record, actions: &mut Vec<Action>) {
        let Some(it) = state.attempts.get(attempt) else { return };
        if it.place < STEPS {
            let reads = record.attempt.get() > 1 && self.mutant != Mutant::EarlierStepsNotRead;
            actions.push(match (reads, &it.rows) {
                (true, None) => Action::ReadRows { attempt },
                _ => Action::Step { attempt },
            });
        }
    }

    /// The attempt reads the rows of its generation.
    pub(super) fn read_rows(&self, state: &mut State, attempt: usize) -> Option<()> {
        let phase = state.attempts.get(attempt)?.phase.clone();
        let (Phase::Running { record, .. } | Phase::Looking(record)) = &phase else { return None };
        let is_of = |row: &Row| row.execution == record.execution || self.mutant == Mutant::RowsOfAnyGeneration;
        let rows: Vec<Row> = state.beside.rows.iter().map(|(row, _)| *row).filter(is_of).collect();
        rows.iter().for_each(|row| state.beside.know(*row));
        state.attempts.get_mut(attempt)?.rows = Some(rows);
        if let Phase::Looking(record) = &phase {
            self.begin_undoing(state, attempt, record);
        }
        Some(())
    }

    /// The attempt comes to its next step.
    pub(super) fn step(&self, state: &mut State, attempt: usize) -> Option<()> {
        let it = state.attempts.get_mut(attempt)?;
        let Phase::Running { record, .. } = &it.phase else { return None };
        let (execution, step) = (record.execution, it.place);
        let earlier = it.rows.iter().flatten().find(|row| row.step == step && !row.undone);
        if let Some(row) = earlier {
            note(&mut state.beside.seen, (execution, step, row.by));
            it.place += 1;
            return Some(());
        }
        let row = Row { execution, step, undone: false, by: attempt };
        it.phase = Phase::Keeping { record: record.clone(), row };
        it.sent_twice = false;
        add(&mut state.beside.calls, (execution, step, attempt));
        state.violations.called_after_failure |= state.beside.compensated.contains(&execution);
        state.violations.called_again |= state.beside.is_known(execution, step, false);
        Some(())
    }

    /// The attempt's operation has failed for good.
    pub(super) fn fail_for_good(&self, state: &mut State, attempt: usize, record: &Record) {
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        let reads = record.attempt.get() > 1 && self.mutant != Mutant::FailureForgetsEarlierSteps;
        if reads && it.rows.is_none() {
            it.phase = Phase::Looking(record.clone());
        } else {
            self.begin_undoing(state, attempt, record);
        }
    }

    /// The attempt knows which steps were done: says that they are being undone, or ends.
    fn begin_undoing(&self, state: &mut State, attempt: usize, record: &Record) {
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        let has = |step: u8, undone| it.rows.iter().flatten().any(|row| row.step == step && row.undone == undone);
        let forgets = self.mutant == Mutant::ResumeWithoutUndone;
        let to_undo = |step: &u8| (*step < it.place || has(*step, false)) && (forgets || !has(*step, true));
        it.left = match self.mutant {
            Mutant::UndoForward => (0..STEPS).filter(to_undo).collect(),
            _ => (0..STEPS).rev().filter(to_undo).collect(),
        };
        it.sent_twice = false;
        let is_begun = record.status != Status::InFlight || self.mutant == Mutant::UndoneInSilence;
        it.phase = match (it.left.is_empty(), is_begun) {
            (true, _) => self.failed(attempt, record),
            (false, true) => Phase::Undoing(record.clone()),
            (false, false) => {
                let start = Record { status: Status::Compensating, ..record.clone() };
                Phase::Ending(Write {
                    by: attempt,
                    expected: Some(record.version()),
                    record: start,
                    kind: WriteKind::Start,
                })
            }
        };
    }

    /// The attempt undoes the next step.
    pub(super) fn undo(&self, state: &mut State, attempt: usize, undone: Undone) -> Option<()> {
        let now = state.local_time(attempt);
        let it = state.attempts.get_mut(attempt)?;
        let Phase::Undoing(record) = it.phase.clone() else { return None };
        let step = *it.left.first()?;
        it.sent_twice = false;
        it.phase = match undone {
            Undone::Later => leave(attempt, &record, now),
            Undone::Never => {
                // Longer than the model lasts, as a year is longer than any window.
                let expires_at = EpochSeconds::new(record.expires_at.get() + 1_000);
                let stuck = Record { status: Status::Stuck, expires_at, ..record.clone() };
                Phase::Ending(Write {
                    by: attempt,
                    expected: Some(record.version()),
                    record: stuck,
                    kind: WriteKind::End,
                })
            }
            Undone::Done => {
                let row = Row { execution: record.execution, step, undone: true, by: attempt };
                Phase::Keeping { record: record.clone(), row }
            }
        };
        if undone == Undone::Done {
            judge_undo(state, record.execution, step);
            note(&mut state.beside.undos, (record.execution, step, attempt));
        }
        Some(())
    }

    /// The network does something to an attempt's row.
    pub(super) fn row_network(&self, state: &mut State, attempt: usize, network: Network) -> Option<()> {
        let Phase::Keeping { record, row } = state.attempts.get(attempt)?.phase.clone() else { return None };
        let again = match network {
            Network::Deliver => {
                let stored = self.insert_row(state, row);
                state.beside.know(stored);
                self.kept(state, attempt, record, stored);
                return Some(());
            }
            Network::LoseReply { again } => {
                self.insert_row(state, row);
                again
            }
            Network::Drop { again } => again,
            Network::Delay { again } => {
                state.beside.late.push(row);
                again
            }
        };
        let now = state.local_time(attempt);
        let it = state.attempts.get_mut(attempt)?;
        it.sent_twice = again;
        if !again {
            // Of a step nobody knows whether it is stored: the attempt counts as lost. What was undone is left to the next.
            let leaves = row.undone || self.mutant == Mutant::UnkeptStepReleases;
            it.phase = if leaves { leave(attempt, &record, now) } else { Phase::Lost };
        }
        Some(())
    }

    /// Inserts a row if its place is empty. Gives what stands there then.
    pub(super) fn insert_row(&self, state: &mut State, row: Row) -> Row {
        let old = match self.mutant {
            Mutant::RowOverwrites => None,
            Mutant::RowsOfAnyGeneration => state
                .beside
                .rows
                .iter()
                .map(|(old, _)| *old)
                .find(|old| (old.step, old.undone) == (row.step, row.undone)),
            _ => state.beside.row(row.execution, row.step, row.undone),
        };
        old.unwrap_or_else(|| {
            let is_there = |old: &Row| (old.execution, old.step, old.undone) == (row.execution, row.step, row.undone);
            state.beside.rows.retain(|(old, _)| !is_there(old));
            note(&mut state.beside.rows, (row, false));
            row
        })
    }

    /// A reply has shown what stands at the place of an attempt's row.
    fn kept(&self, state: &mut State, attempt: usize, record: Record, stored: Row) {
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        it.sent_twice = false;
        if !stored.undone {
            note(&mut state.beside.seen, (record.execution, stored.step, stored.by));
            it.place += 1;
            it.phase = Phase::Running { record, proven: true };
            return;
        }
        it.left.retain(|step| *step != stored.step);
        it.phase = match it.left.is_empty() {
            true => self.failed(attempt, &record),
            false => Phase::Undoing(record),
        };
    }

    /// An attempt has nothing more to undo.
    fn failed(&self, attempt: usize, record: &Record) -> Phase {
        let is_undone = record.status == Status::Compensating;
        end_of(
            attempt,
            record,
            match self.mutant {
                Mutant::UndoneIsCompleted if is_undone => Status::Completed,
                _ => Status::Failed,
            },
        )
    }

    /// A reply has shown an attempt that its own claim is stored.
    pub(super) fn owns(&self, state: &mut State, attempt: usize, record: Record) {
        state.violations.ran_after_failure |=
            record.status == Status::InFlight && state.beside.compensated.contains(&record.execution);
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        it.phase = match record.status {
            Status::Compensating => Phase::Looking(record),
            _ => Phase::Running { record, proven: true },
        };
    }

    /// What an attempt does once its change of its own record is stored.
    pub(super) fn changed(&self, state: &mut State, attempt: usize, write: &Write) {
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        it.sent_twice = false;
        it.phase = match (write.kind, write.record.status) {
            (WriteKind::Start, _) if self.mutant == Mutant::HandlerGoesOnAfterFailure => {
                Phase::Running { record: write.record.clone(), proven: true }
            }
            (WriteKind::Start, _) => Phase::Undoing(write.record.clone()),
            (WriteKind::Leave, _) => Phase::Told(Told::Later),
            (_, Status::Stuck) => Phase::Told(Told::Stuck),
            _ => Phase::Told(Told::Ended),
        };
    }
}

/// Notes what the undoing of a step breaks.
fn judge_undo(state: &mut State, execution: ExecutionId, step: u8) {
    let beside = &state.beside;
    let is_left = |later: u8| beside.is_known(execution, later, false) && !beside.is_known(execution, later, true);
    state.violations.undone_in_silence |= !beside.compensated.contains(&execution);
    state.violations.undone_again |= beside.is_known(execution, step, true);
    state.violations.undone_out_of_order |= (step + 1..STEPS).any(is_left);
}
