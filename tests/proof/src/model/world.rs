//! From one state to the next.

use idempotency_core::{EndConflict, EpochMillis, Policy, Record, Status, Version, explain_end};

use super::{
    Action, Model, Network, Phase, Return, Says, Told, Undone,
    attempt::{Attempt, Write, WriteKind},
    protocol::RUN,
    seconds,
    state::{State, Stored},
    work::{STEPS, add, note},
};
use crate::Mutant;

impl Model {
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now < self.until {
            actions.push(Action::Tick);
        }
        // Attempts are alike, so only the first idle one needs to begin. The last may ask for something else.
        let idle = |attempt: &Attempt| attempt.phase == Phase::Idle;
        let mut next: Vec<usize> = state.attempts.iter().position(idle).into_iter().collect();
        if self.other_request && state.attempts.last().is_some_and(idle) {
            next.push(self.attempts - 1);
        }
        next.dedup();
        for attempt in next {
            let looks: &[bool] = if self.looks { &[false, true] } else { &[false] };
            let begins = self.skews.iter().flat_map(|&skew| looks.iter().map(move |&looks| (skew, looks)));
            actions.extend(begins.map(|(skew, looks)| Action::Begin { attempt, skew, looks }));
        }
        for (attempt, it) in state.attempts.iter().enumerate() {
            if it.is_alive() {
                actions.push(Action::Crash { attempt });
            }
            match &it.phase {
                Phase::Claiming(_) | Phase::Ending(_) | Phase::GivingUp(_) | Phase::Keeping { .. } => {
                    possible_of_network(state, attempt, self.calm, actions);
                }
                Phase::Running { record, .. } if self.work.has_steps() => {
                    let returns = |returned| Action::Return { attempt, returned };
                    if it.place == STEPS {
                        actions.push(returns(Return::Result));
                    }
                    actions.extend([returns(Return::Retryable), returns(Return::Permanent)]);
                    self.possible_steps(state, attempt, record, actions);
                }
                Phase::Running { .. } | Phase::Drafting { .. } if self.work.stages() => {
                    let returned = [Return::Result, Return::Retryable, Return::Permanent, Return::Unclassified];
                    actions.extend(returned.map(|returned| Action::Return { attempt, returned }));
                }
                Phase::Looking(_) => actions.push(Action::ReadRows { attempt }),
                Phase::Undoing(_) => {
                    let undo = |undone| Action::Undo { attempt, undone };
                    actions.extend([Undone::Done, Undone::Later, Undone::Never].map(undo));
                }
                Phase::Running { .. } => {
                    let returns = |returned| Action::Return { attempt, returned };
                    if it.effect {
                        actions.push(returns(Return::Result));
                    } else {
                        actions.push(Action::Effect { attempt });
                        actions.extend([returns(Return::Retryable), returns(Return::Permanent)]);
                    }
                    actions.push(returns(Return::Unclassified));
                }
                Phase::Waiting(_) => actions.extend([Action::Look { attempt }, Action::StopWaiting { attempt }]),
                Phase::Probing { record, .. } => {
                    let happened = state.effects.contains(&record.execution);
                    let truth = if happened { Says::Happened } else { Says::DidNotHappen };
                    actions.extend([truth, Says::Unknown].map(|says| Action::Probe { attempt, says }));
                }
                Phase::Drafting { .. } | Phase::Idle | Phase::Told(_) | Phase::Lost => {}
            }
        }
        // The assumption of ADR 6: no write arrives after the record that it wrote has expired.
        let is_forgotten = |by: usize| state.attempts.get(by).is_some_and(|it| it.is_forgotten(state.time()));
        let in_time = |write: &Write| state.time() < write.record.expires_at.to_millis() && !is_forgotten(write.by);
        let late = state.late.iter().enumerate().filter(|(_, write)| in_time(write));
        actions.extend(late.map(|(write, _)| Action::ArriveLate { write }));
        actions.extend((0..state.beside.late.len()).map(|row| Action::RowArrivesLate { row }));
        if let Stored::Record(record) = &state.stored {
            if state.time() >= record.expires_at.to_millis() {
                actions.push(Action::Delete);
            }
            if self.corruption {
                actions.push(Action::Corrupt);
            }
        }
    }

    pub(super) fn after(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Tick => self.tick(&mut state),
            Action::Begin { attempt, skew, looks } => {
                let it = state.attempts.get_mut(attempt)?;
                (it.skew, it.deadline, it.looked) = (skew, last.now + RUN, looks);
                let shown = if looks { last.stored.clone() } else { Stored::Nothing };
                self.claim_next(&mut state, attempt, &shown);
                let it = state.attempts.get_mut(attempt)?;
                if let (Mutant::LookAdmits, true, Phase::Claiming(write)) = (self.mutant, looks, &it.phase) {
                    it.phase = Phase::Running { record: write.record.clone(), proven: false };
                }
            }
            Action::Network { attempt, network } => self.network(&mut state, attempt, network)?,
            Action::Effect { attempt } => {
                let it = state.attempts.get_mut(attempt)?;
                let Phase::Running { record, .. } = &it.phase else { return None };
                state.effects.push(record.execution);
                it.effect = true;
            }
            Action::Return { attempt, returned } => {
                self.returns(&mut state, attempt, returned)?;
            }
            Action::Probe { attempt, says } => {
                let it = state.attempts.get_mut(attempt)?;
                let Phase::Probing { observed, record } = &it.phase else { return None };
                it.phase = self.probed(attempt, *observed, record, says);
                it.sent_twice = false;
            }
            Action::Look { attempt } => {
                state.attempts.get_mut(attempt)?.waited = true;
                let shown = state.stored.clone();
                self.claim_next(&mut state, attempt, &shown);
            }
            Action::StopWaiting { attempt } => {
                let it = state.attempts.get_mut(attempt)?;
                let Phase::Waiting(other) = &it.phase else { return None };
                it.phase = match self.mutant {
                    Mutant::WaiterReleasesTheOwner => end_of(attempt, other, Status::Released),
                    _ => Phase::Told(Told::Conflict),
                };
            }
            Action::ReadRows { attempt } => self.read_rows(&mut state, attempt)?,
            Action::Step { attempt } => self.step(&mut state, attempt)?,
            Action::Undo { attempt, undone } => self.undo(&mut state, attempt, undone)?,
            Action::RowArrivesLate { row } => {
                let row = state.beside.late.remove(row);
                self.insert_row(&mut state, row);
            }
            Action::Crash { attempt } => state.attempts.get_mut(attempt)?.phase = Phase::Lost,
            Action::ArriveLate { write } => {
                let write = state.late.remove(write);
                self.apply(&mut state, &write);
            }
            Action::Delete => {
                state.stored = Stored::Nothing;
                state.ended = None;
            }
            Action::Corrupt => {
                state.stored = Stored::Unreadable;
                state.ended = None;
            }
        }
        Some(state)
    }

    /// What an attempt does about a lost one, given what the outside world says.
    fn probed(&self, attempt: usize, observed: Version, record: &Record, says: Says) -> Phase {
        let write = |record, kind| Write { by: attempt, expected: Some(observed), record, kind };
        let run = Phase::Claiming(write(record.clone(), WriteKind::Claim));
        match says {
            Says::DidNotHappen => run,
            Says::Unknown if self.mutant == Mutant::ProbeUnknownReruns => run,
            Says::Unknown => Phase::Told(Told::Uncertain),
            Says::Happened => {
                let ended = Record { status: Status::Completed, ..record.clone() };
                Phase::Ending(write(ended, WriteKind::FoundEnd))
            }
        }
    }

    /// An attempt's handler returns.
    fn returns(&self, state: &mut State, attempt: usize, returned: Return) -> Option<()> {
        let now = state.local_time(attempt);
        let it = state.attempts.get_mut(attempt)?;
        it.sent_twice = false;
        it.effect |= self.work.stages() && returned == Return::Result;
        let status = match returned {
            Return::Result => Status::Completed,
            Return::Retryable => Status::Released,
            Return::Permanent => Status::Failed,
            Return::Unclassified => {
                it.phase = Phase::Lost;
                return Some(());
            }
        };
        match it.phase.clone() {
            Phase::Running { record, .. } if self.work.has_steps() && returned == Return::Permanent => {
                self.fail_for_good(state, attempt, &record);
            }
            Phase::Running { record, .. } => {
                it.phase = end_of(attempt, &record, status);
                if self.mutant == Mutant::StagedBeforeItsRecord && self.work.stages() && returned == Return::Result {
                    add(&mut state.beside.committed, record.execution);
                }
            }
            Phase::Drafting { .. } if it.is_forgotten(now) => it.phase = Phase::Told(Told::Unconfirmed),
            Phase::Drafting { record, observed } => {
                it.phase = commit(attempt, &record, observed, status);
                if returned == Return::Retryable {
                    let shown = state.stored.clone();
                    self.decide_again(state, attempt, &shown, Status::Released);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Lets an attempt that has claimed nothing act on the record that it has been shown at its end.
    fn decide_again(&self, state: &mut State, attempt: usize, shown: &Stored, status: Status) {
        self.claim_next(state, attempt, shown);
        let now = state.local_time(attempt);
        let Some(it) = state.attempts.get_mut(attempt) else { return };
        if let Phase::Drafting { .. } = it.phase
            && it.is_forgotten(now)
        {
            it.phase = Phase::Told(Told::Unconfirmed);
        } else if let Phase::Drafting { record, observed } = it.phase.clone() {
            // What is released was not claimed, so there is nothing to write.
            it.phase = match status {
                Status::Released => Phase::Told(Told::NotDone),
                _ => commit(attempt, &record, observed, status),
            };
        }
    }

    fn tick(&self, state: &mut State) {
        state.now += 1;
        if self.zombies {
            return;
        }
        for attempt in &mut state.attempts {
            if attempt.is_alive() && state.now >= attempt.deadline {
                attempt.phase = Phase::Lost;
            }
        }
    }

    /// Lets an attempt act on what a reply has shown it.
    fn claim_next(&self, state: &mut State, attempt: usize, shown: &Stored) {
        let Some(it) = state.attempts.get(attempt) else { return };
        let deadline = seconds(it.deadline + it.skew);
        let phase = self.claim_step(state, attempt, shown, deadline);
        self.judge_claim(state, attempt, &phase, shown);
        if let Some(it) = state.attempts.get_mut(attempt) {
            it.sent_twice = false;
        }
        if let (Phase::Drafting { record, .. }, Some(it)) = (&phase, state.attempts.get_mut(attempt)) {
            it.forgotten_at.get_or_insert(record.expires_at);
        }
        match (phase, state.attempts.get_mut(attempt)) {
            (Phase::Running { record, proven: true }, _) => self.owns(state, attempt, record),
            (phase, Some(it)) => it.phase = phase,
            (_, None) => {}
        }
    }

    fn network(&self, state: &mut State, attempt: usize, network: Network) -> Option<()> {
        let write = match &state.attempts.get(attempt)?.phase {
            Phase::Keeping { .. } => return self.row_network(state, attempt, network),
            Phase::Claiming(write) | Phase::Ending(write) | Phase::GivingUp(write) => write.clone(),
            _ => return None,
        };
        let again = match network {
            Network::Deliver => {
                let shown = self.apply(state, &write);
                self.answered(state, attempt, &write, shown);
                return Some(());
            }
            Network::LoseReply { again } => {
                self.apply(state, &write);
                again
            }
            Network::Drop { again } => again,
            Network::Delay { again } => {
                state.late.push(write.clone());
                again
            }
        };
        let now = state.local_time(attempt);
        let it = state.attempts.get_mut(attempt)?;
        if again {
            it.sent_twice = true;
            return Some(());
        }
        it.sent_twice = false;
        it.phase = match (&it.phase, self.mutant) {
            (Phase::Claiming(_), Mutant::EffectAfterUnansweredClaim) => {
                Phase::Running { record: write.record, proven: false }
            }
            (Phase::Claiming(_), _) => match leave(attempt, &write.record, now) {
                Phase::Ending(release) => Phase::GivingUp(release),
                phase => phase,
            },
            (Phase::GivingUp(_), _) => Phase::Told(Told::StoreError),
            _ if matches!(write.kind, WriteKind::Start | WriteKind::Leave) || write.record.status == Status::Stuck => {
                Phase::Told(Told::Later)
            }
            (_, Mutant::UnansweredEndToldAsStored) => Phase::Told(Told::Ended),
            _ => Phase::Told(Told::Unconfirmed),
        };
        Some(())
    }

    /// Applies a write if its condition holds. Returns what the sender is shown otherwise.
    fn apply(&self, state: &mut State, write: &Write) -> Option<Stored> {
        let before = state.stored.clone();
        let commits = self.work.stages() && write.record.status == Status::Completed;
        if !self.holds(write, &before) {
            if commits && self.mutant == Mutant::StagedWithoutItsRecord {
                add(&mut state.beside.committed, write.record.execution);
            }
            return Some(before);
        }
        self.judge_write(state, write, &before);
        state.stored = Stored::Record(write.record.clone());
        let (execution, beside) = (write.record.execution, &mut state.beside);
        match write.record.status {
            Status::Completed => add(&mut beside.completed, (execution, write.record.owner)),
            Status::Compensating => drop(note(&mut beside.compensated, execution)),
            _ => {}
        }
        if commits && !matches!(self.mutant, Mutant::StagedBeforeItsRecord | Mutant::StagedAfterItsRecord) {
            add(&mut beside.committed, execution);
        }
        state.ended = write.record.status.is_terminal().then(|| write.record.clone());
        if let Some(it) = state.attempts.get_mut(write.by) {
            it.wrote = true;
        }
        None
    }

    fn answered(&self, state: &mut State, attempt: usize, write: &Write, shown: Option<Stored>) {
        if state.attempts.get(attempt).is_some_and(|it| matches!(it.phase, Phase::GivingUp(_))) {
            return self.told(state, attempt, Told::StoreError);
        }
        let phase = match (write.kind == WriteKind::Claim, shown) {
            (true, Some(shown)) => return self.claim_next(state, attempt, &shown),
            (true, None) => return self.owns(state, attempt, write.record.clone()),
            (false, None) => return self.ended(state, attempt, write),
            (false, Some(shown)) if write.kind == WriteKind::Commit => {
                return match &shown {
                    Stored::Record(record) if record.version() == write.record.version() => {
                        self.ended(state, attempt, write);
                    }
                    _ => self.decide_again(state, attempt, &shown, write.record.status),
                };
            }
            (false, Some(shown)) => {
                let stored = match &shown {
                    Stored::Nothing => None,
                    Stored::Record(record) => Some(record),
                    Stored::Unreadable => return self.told(state, attempt, Told::Unconfirmed),
                };
                Phase::Told(match explain_end(&write.record, stored) {
                    EndConflict::AlreadyStored => return self.ended(state, attempt, write),
                    EndConflict::Vanished => Told::Unconfirmed,
                    _ => Told::Superseded,
                })
            }
        };
        if let Some(it) = state.attempts.get_mut(attempt) {
            it.phase = phase;
        }
    }

    /// An attempt has had the answer that its end is stored.
    fn ended(&self, state: &mut State, attempt: usize, write: &Write) {
        self.changed(state, attempt, write);
        if self.mutant == Mutant::StagedAfterItsRecord && write.record.status == Status::Completed {
            add(&mut state.beside.committed, write.record.execution);
        }
    }

    fn told(&self, state: &mut State, attempt: usize, told: Told) {
        if let Some(it) = state.attempts.get_mut(attempt) {
            it.phase = Phase::Told(told);
        }
    }

    /// Notes what a write breaks.
    fn judge_write(&self, state: &mut State, write: &Write, before: &Stored) {
        let violations = &mut state.violations;
        violations.unreadable_lost |= *before == Stored::Unreadable;
        let slowest = self.skews.iter().copied().max().unwrap_or(0).max(0);
        if let Some(ended) = &state.ended {
            // A clock that is ahead sees the expiry that much earlier.
            let expired = seconds(state.now + slowest) >= ended.expires_at.to_millis();
            violations.changed_after_end |= !expired && *ended != write.record;
        }
        if let Stored::Record(old) = before {
            let expired = seconds(state.now + slowest) >= old.expires_at.to_millis();
            violations.stuck_left |= old.status == Status::Stuck && !expired;
        }
        let old = match before {
            Stored::Record(record) => Some(record),
            _ => None,
        };
        if !write.kind.is_change() {
            violations.epoch_not_grown |= old.is_some_and(|old| write.record.epoch <= old.epoch);
            violations.short_lease |= self.is_short(state.attempts.get(write.by), &write.record);
            let expired = old.is_some_and(|old| seconds(state.now + slowest) >= old.expires_at.to_millis());
            violations.mixed_requests |= old.is_some_and(|old| old.fingerprint != write.record.fingerprint) && !expired;
        }
        let rightly_ended = match write.kind {
            WriteKind::Claim => true,
            WriteKind::End | WriteKind::Start | WriteKind::Leave => {
                let writer = self.request(write.by, seconds(0)).token;
                old.is_some_and(|old| old.owner == writer && may_become(old.status, write.record.status))
            }
            WriteKind::Commit => old.map(Record::version) == write.expected,
            // A lost attempt's end is written over exactly the record that was observed.
            WriteKind::FoundEnd => old.is_some_and(|old| Some(old.version()) == write.expected),
        };
        violations.ended_foreign |= !rightly_ended;
    }

    fn is_short(&self, attempt: Option<&Attempt>, record: &Record) -> bool {
        let Some(it) = attempt else { return true };
        let deadline = seconds(it.deadline + it.skew);
        record.lease_until < deadline + Policy::MARGIN
            || record.expires_at.to_millis() < record.lease_until + Policy::MARGIN
    }

    /// Notes what an answer to a claim breaks.
    fn judge_claim(&self, state: &mut State, attempt: usize, phase: &Phase, shown: &Stored) {
        let Phase::Told(told) = phase else { return };
        let (Some(it), Stored::Record(shown)) = (state.attempts.get(attempt), shown) else { return };
        let own = shown.owner == self.request(attempt, state.time()).token && shown.status == Status::InFlight;
        let refused = matches!(told, Told::Replay | Told::Conflict | Told::Mismatch | Told::Uncertain);
        state.violations.blocked_by_itself |= own && refused;
        // A delayed write of this attempt may have been applied and taken over since; only what it did by itself counts.
        state.violations.wrote_in_silence |= refused && it.wrote && own;
        let mixed = shown.fingerprint != self.fingerprint(attempt);
        state.violations.mixed_requests |= mixed && matches!(told, Told::Replay | Told::Conflict | Told::Uncertain);
    }
}

/// What the network can do to what an attempt has sent.
fn possible_of_network(state: &State, attempt: usize, is_calm: bool, actions: &mut Vec<Action>) {
    let Some(it) = state.attempts.get(attempt) else { return };
    let mut act = |network| actions.push(Action::Network { attempt, network });
    let is_row = matches!(it.phase, Phase::Keeping { .. });
    // The assumption of ADR 6, for attempts that have claimed nothing: what they send arrives before it is forgotten.
    let arrives =
        !matches!(&it.phase, Phase::Ending(write) if write.kind == WriteKind::Commit && it.is_forgotten(state.time()));
    if arrives {
        act(Network::Deliver);
    }
    if is_calm && arrives {
        return;
    }
    for again in if it.sent_twice { &[false][..] } else { &[false, true] } {
        let again = *again;
        if arrives {
            act(Network::LoseReply { again });
        }
        // A row that is lost and sent again is as if it were sent now; rows are many.
        if !(is_row && again) {
            act(Network::Drop { again });
        }
        if state.late.is_empty() && state.beside.late.is_empty() {
            act(Network::Delay { again });
        }
    }
}

/// What a claim's own record may become.
const fn may_become(old: Status, new: Status) -> bool {
    match old {
        Status::InFlight => !matches!(new, Status::InFlight | Status::Stuck),
        Status::Compensating => matches!(new, Status::Compensating | Status::Failed | Status::Stuck),
        _ => false,
    }
}

/// The end of a claim.
pub(super) fn end_of(attempt: usize, record: &Record, status: Status) -> Phase {
    let ended = Record { status, ..record.clone() };
    Phase::Ending(Write { by: attempt, expected: Some(record.version()), record: ended, kind: WriteKind::End })
}

/// The end of an operation that nobody has claimed.
fn commit(attempt: usize, record: &Record, observed: Option<Version>, status: Status) -> Phase {
    let ended = Record { status, ..record.clone() };
    Phase::Ending(Write { by: attempt, expected: observed, record: ended, kind: WriteKind::Commit })
}

/// The end of a claim whose owner has done nothing, or no more: the next one goes on at once.
pub(super) fn leave(attempt: usize, record: &Record, now: EpochMillis) -> Phase {
    if record.status != Status::Compensating {
        return end_of(attempt, record, Status::Released);
    }
    let left = Record { lease_until: now.min(record.lease_until), ..record.clone() };
    Phase::Ending(Write { by: attempt, expected: Some(record.version()), record: left, kind: WriteKind::Leave })
}

impl WriteKind {
    /// Whether its writer owns the record that it changes.
    const fn is_change(self) -> bool {
        matches!(self, Self::End | Self::Start | Self::Leave)
    }
}
