//! What the copies of one attempt share: what it has staged, which steps it has done, and the way to its store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::{StepError, desk::Desk};
use crate::{
    AttemptNumber, EpochMillis, EpochSeconds, ExecutionId, Policy, Record, RowKind, operation::is_plain_name,
    staged::Staged,
};

/// How much longer rows are kept than the record that they were written under, so that a takeover, which keeps its record for longer,
/// finds them without writing them anew. One that comes later than this keeps them for longer itself.
const LONGER_SECONDS: i64 = 24 * 3600;

/// What the copies of one attempt share.
pub(crate) struct Effects {
    /// The way to the store; `None` for an attempt that nothing protects.
    pub(super) desk: Option<Arc<dyn Desk>>,
    pub(crate) execution: ExecutionId,
    pub(crate) policy: Policy,
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
    open: Vec<String>,
}

/// A step that was done, in this attempt or an earlier one.
#[derive(Clone, Debug)]
pub(crate) struct DoneStep {
    pub(crate) ordinal: u32,
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) value: Bytes,
    pub(crate) has_undo: bool,
}

/// What earlier attempts of the generation have left.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) steps: Vec<DoneStep>,
    /// Name, hash of the input, type and value.
    pub(super) memos: Vec<(String, [u8; 32], String, Bytes)>,
    /// Names of the steps that were undone.
    pub(super) undone: Vec<String>,
}

impl Effects {
    /// Of an attempt that owns `record`, or (atomic) would write it.
    pub(crate) fn new(desk: Arc<dyn Desk>, record: &Record, policy: &Policy) -> Self {
        Self {
            desk: Some(desk),
            execution: record.execution,
            policy: *policy,
            is_first: record.attempt == AttemptNumber::FIRST,
            lease_until: record.lease_until,
            record_expires_at: Some(record.expires_at),
            staged: Mutex::default(),
            steps: Mutex::default(),
            earlier: OnceCell::new(),
        }
    }

    /// Of an attempt that nothing protects.
    pub(crate) fn unprotected(policy: Policy, execution: ExecutionId) -> Self {
        Self {
            desk: None,
            execution,
            policy,
            is_first: true,
            lease_until: EpochMillis::new(i64::MAX),
            record_expires_at: None,
            staged: Mutex::default(),
            steps: Mutex::default(),
            earlier: OnceCell::new(),
        }
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
        EpochSeconds::new(self.events_expire_at(now).get().saturating_add(LONGER_SECONDS))
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
                match row.kind {
                    RowKind::Step { ordinal, has_undo } => {
                        let (name, type_name) = (row.name, row.type_name);
                        earlier.steps.push(DoneStep { ordinal, name, type_name, value, has_undo });
                    }
                    RowKind::Memo { input } => earlier.memos.push((row.name, input, row.type_name, value)),
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

    /// The steps that are to be undone, the last one first.
    pub(crate) async fn to_undo(&self, attempt: &super::Attempt) -> Result<Vec<DoneStep>, StepError> {
        let earlier = self.earlier(attempt).await?;
        let mut steps = self.steps().done.clone();
        for step in &earlier.steps {
            if !steps.iter().any(|done| done.name == step.name) {
                steps.push(step.clone());
            }
        }
        steps.retain(|step| step.has_undo && !earlier.undone.contains(&step.name));
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

    pub(super) fn open(&mut self, name: &str) {
        self.open.push(name.to_owned());
    }

    pub(super) fn close(&mut self, name: &str) {
        self.open.retain(|open| open != name);
    }

    pub(super) fn done(&mut self, step: DoneStep) {
        self.done.push(step);
    }
}

impl Earlier {
    /// The step of this name, if an earlier attempt did it, and if steps come in the same order as then.
    pub(super) fn step(&self, name: &str, place: u32) -> Result<Option<&DoneStep>, StepError> {
        let order = |earlier: String| Err(StepError::Order { name: name.to_owned(), place, earlier });
        let step = self.steps.iter().find(|step| step.name == name);
        match step {
            Some(step) if step.ordinal != place => order(format!("it at place {}", step.ordinal)),
            Some(step) => Ok(Some(step)),
            None => match self.steps.iter().find(|step| step.ordinal == place) {
                Some(other) => order(format!("the step {:?}", other.name)),
                None => Ok(None),
            },
        }
    }
}
