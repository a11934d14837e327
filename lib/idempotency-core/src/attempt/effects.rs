//! What the copies of one attempt share: what it has staged, which steps it has done, and the way to its store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::{StepError, desk::Desk};
use crate::{
    AttemptNumber, EpochMillis, EpochSeconds, ExecutionId, Policy, Record, Row, RowKind, operation::is_plain_name,
    staged::Staged,
};

/// What the copies of one attempt share.
pub(crate) struct Effects {
    /// The way to the store; `None` for an attempt that nothing protects.
    pub(super) desk: Option<Arc<dyn Desk>>,
    pub(crate) execution: ExecutionId,
    pub(crate) policy: Policy,
    renewed: bool,
    /// Whether what its steps name is its own: the keys are those of a claimed generation, or of nobody else.
    is_alone: bool,
    is_first: bool,
    lease_until: EpochMillis,
    /// `None` where there is no record.
    record_expires_at: Option<EpochSeconds>,
    staged: Mutex<Staged>,
    steps: Mutex<Steps>,
    earlier: OnceCell<Earlier>,
}

/// The steps of this attempt.
#[derive(Default)]
pub(super) struct Steps {
    names: Vec<String>,
    done: Vec<DoneStep>,
    /// Steps with an undo whose calls were begun, and of which it is not known that they failed or that their outputs are stored.
    open: Vec<(String, u32)>,
}

/// A step that was done, in this attempt or an earlier one, or may have been.
#[derive(Clone)]
pub(crate) struct DoneStep {
    pub(crate) ordinal: u32,
    pub(crate) name: String,
    /// `None` when an attempt was lost while the call was made: nobody knows whether it was.
    pub(crate) output: Option<StepOutput>,
    pub(crate) has_undo: bool,
}

/// A step's output, as it is stored.
#[derive(Clone)]
pub(crate) struct StepOutput {
    pub(crate) type_name: String,
    pub(crate) json: Bytes,
}

/// What earlier attempts of the generation have left.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) steps: Vec<DoneStep>,
    /// Steps whose calls were begun, and their places.
    pub(super) begun: Vec<(String, u32)>,
    /// Name, hash of the input, and output.
    pub(super) memos: Vec<(String, [u8; 32], StepOutput)>,
    /// Names of the steps that were undone.
    pub(super) undone: Vec<String>,
    /// The time from which on the first row may be deleted.
    expires_at: Option<EpochSeconds>,
}

impl Effects {
    /// Of an attempt that owns `record`, or (atomic) would write it.
    pub(crate) fn new(desk: Arc<dyn Desk>, record: &Record, policy: &Policy) -> Self {
        Self {
            desk: Some(desk),
            execution: record.execution,
            policy: *policy,
            renewed: record.renewed,
            is_alone: true,
            is_first: record.attempt == AttemptNumber::FIRST,
            lease_until: record.lease_until,
            record_expires_at: Some(record.expires_at),
            staged: Mutex::default(),
            steps: Mutex::default(),
            earlier: OnceCell::new(),
        }
    }

    /// Of an attempt that nothing protects.
    pub(crate) fn unprotected(policy: Policy, execution: ExecutionId, is_alone: bool) -> Self {
        Self {
            desk: None,
            execution,
            policy,
            renewed: false,
            is_alone,
            is_first: true,
            lease_until: EpochMillis::new(i64::MAX),
            record_expires_at: None,
            staged: Mutex::default(),
            steps: Mutex::default(),
            earlier: OnceCell::new(),
        }
    }

    pub(crate) const fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The generation, if its steps have keys of their own.
    pub(super) fn renewed(&self) -> Option<ExecutionId> {
        self.renewed.then_some(self.execution)
    }

    pub(crate) fn staged(&self) -> MutexGuard<'_, Staged> {
        // Each change is one push or removal.
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until when this attempt's rows are kept.
    pub(super) fn rows_expire_at(&self, now: EpochMillis) -> EpochSeconds {
        Row::expires_beside(self.events_expire_at(now))
    }

    /// Until when this attempt's events are kept, sent or not: as long as its record.
    pub(super) fn events_expire_at(&self, now: EpochMillis) -> EpochSeconds {
        self.record_expires_at.unwrap_or_else(|| (now + self.policy.window().storage_ttl()).ceil_seconds())
    }

    /// Whether a call may be begun: not in an atomic operation, and not when another attempt may be at work.
    pub(super) fn may_begin(&self, name: &str) -> Result<(), StepError> {
        let name = || name.to_owned();
        if !is_plain_name(&name(), StepError::MAX_NAME) {
            return Err(StepError::Name { name: name() });
        }
        if self.policy.is_atomic() {
            return Err(StepError::Atomic { name: name() });
        }
        if self.is_overdue() { Err(StepError::Overdue { name: name() }) } else { Ok(()) }
    }

    /// Whether the lease is over, so that another attempt may be at work.
    pub(crate) fn is_overdue(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.now() >= self.lease_until)
    }

    /// What earlier attempts have left. The first attempt of a generation knows without a read that it is nothing.
    pub(super) async fn earlier(&self, attempt: &super::Attempt) -> Result<&Earlier, StepError> {
        let read = || async {
            let Some(desk) = self.desk.as_ref().filter(|_| !self.is_first) else { return Ok(Earlier::default()) };
            let expires_at = self.events_expire_at(desk.now());
            let rows = desk.rows(&attempt.record_key, self.execution, expires_at, attempt.deadline).await?;
            let mut earlier = Earlier::default();
            for (row, value) in rows {
                earlier.expires_at = Some(earlier.expires_at.map_or(row.expires_at, |first| first.min(row.expires_at)));
                let output = StepOutput { type_name: row.type_name, json: value };
                match row.kind {
                    RowKind::Step { ordinal, has_undo } => {
                        earlier.steps.push(DoneStep { ordinal, name: row.name, output: Some(output), has_undo });
                    }
                    RowKind::Begun { ordinal } => earlier.begun.push((row.name, ordinal)),
                    RowKind::Memo { input } => earlier.memos.push((row.name, input, output)),
                    RowKind::Undone => earlier.undone.push(row.name),
                }
            }
            Ok(earlier)
        };
        self.earlier.get_or_try_init(read).await
    }

    /// Whether a call that would have to be undone may have been made and left nothing that says so.
    pub(crate) fn has_open_steps(&self) -> bool {
        !self.steps().open.is_empty()
    }

    /// Whether rows that told what is to be undone may be gone, once they were read. Where undoing was begun there was one.
    pub(crate) fn has_lost_rows(&self, now: EpochMillis) -> bool {
        let expired = |earlier: &Earlier| earlier.expires_at.is_none_or(|first| first.to_millis() <= now);
        self.earlier.get().is_some_and(expired)
    }

    /// The steps that are to be undone, the last one first. What earlier attempts have left is read for it only if `reads`; else it counts
    /// if it was read already.
    pub(crate) async fn to_undo(&self, attempt: &super::Attempt, reads: bool) -> Result<Vec<DoneStep>, StepError> {
        let nothing = Earlier::default();
        let earlier = if reads { self.earlier(attempt).await? } else { self.earlier.get().unwrap_or(&nothing) };
        let (mut steps, open) = {
            let steps = self.steps();
            (steps.done.clone(), steps.open.clone())
        };
        // A call that an earlier attempt began counts whatever this one's says: its answer may be about this one alone.
        let begun = earlier.begun.iter().cloned().chain(open);
        let begun = begun.map(|(name, ordinal)| DoneStep { ordinal, name, output: None, has_undo: true });
        for step in earlier.steps.iter().cloned().chain(begun) {
            if !steps.iter().any(|done| done.name == step.name) {
                steps.push(step);
            }
        }
        // One that an earlier deployment said is to be undone is, whatever this one says.
        let has_undo = |step: &DoneStep| step.has_undo || earlier.begun.iter().any(|(begun, _)| *begun == step.name);
        steps.retain(|step| has_undo(step) && !earlier.undone.contains(&step.name));
        steps.sort_by_key(|step| std::cmp::Reverse(step.ordinal));
        Ok(steps)
    }
}

impl Steps {
    /// Gives a step its place.
    pub(super) fn place(&mut self, name: &str) -> Result<u32, StepError> {
        if self.names.iter().any(|other| other == name) {
            return Err(StepError::Repeated { name: name.to_owned() });
        }
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        Ok(place)
    }

    pub(super) fn open(&mut self, name: &str, place: u32) {
        self.open.push((name.to_owned(), place));
    }

    pub(super) fn close(&mut self, name: &str) {
        self.open.retain(|(open, _)| open != name);
    }

    pub(super) fn done(&mut self, step: DoneStep) {
        self.done.push(step);
    }
}

impl Earlier {
    /// The step of this name and its output, if an earlier attempt did it, and if steps come in the same order as then.
    pub(super) fn step(&self, name: &str, place: u32) -> Result<Option<(&DoneStep, &StepOutput)>, StepError> {
        let told = || {
            let steps = self.steps.iter().map(|step| (&step.name, step.ordinal));
            steps.chain(self.begun.iter().map(|(name, ordinal)| (name, *ordinal)))
        };
        let order = |earlier: String| Err(StepError::Order { name: name.to_owned(), place, earlier });
        if let Some((_, other)) = told().find(|(other, ordinal)| *other == name && *ordinal != place) {
            return order(format!("it at place {other}"));
        }
        if let Some((other, _)) = told().find(|(other, ordinal)| *other != name && *ordinal == place) {
            return order(format!("the step {other:?}"));
        }
        let step = self.steps.iter().find(|step| step.name == name);
        Ok(step.and_then(|step| Some((step, step.output.as_ref()?))))
    }
}
