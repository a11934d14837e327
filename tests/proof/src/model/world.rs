//! From one state to the next.

use idempotency_core::{EndConflict, Policy, Record, Status, Version, explain_end};

use super::{
    Action, Model, Network, Phase, Return, Says, Told,
    attempt::{Attempt, Write, WriteKind},
    protocol::RUN,
    seconds,
    state::{State, Stored},
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
                Phase::Claiming(_) | Phase::Ending(_) | Phase::GivingUp(_) => {
                    let act = |network| Action::Network { attempt, network };
                    actions.push(act(Network::Deliver));
                    for again in if it.sent_twice { &[false][..] } else { &[false, true] } {
                        let again = *again;
                        actions.push(act(Network::LoseReply { again }));
                        actions.push(act(Network::Drop { again }));
                        if state.late.is_empty() {
                            actions.push(act(Network::Delay { again }));
                        }
                    }
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
                Phase::Idle | Phase::Told(_) | Phase::Lost => {}
            }
        }
        // The assumption of ADR 6: no write arrives after the record that it wrote has expired.
        let in_time = |write: &Write| state.time() < write.record.expires_at.to_millis();
        let late = state.late.iter().enumerate().filter(|(_, write)| in_time(write));
        actions.extend(late.map(|(write, _)| Action::ArriveLate { write }));
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
                let it = state.attempts.get_mut(attempt)?;
                let Phase::Running { record, .. } = &it.phase else { return None };
                it.phase = ending(attempt, record, returned);
                it.sent_twice = false;
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
                    Mutant::WaiterReleasesTheOwner => ending(attempt, other, Return::Retryable),
                    _ => Phase::Told(Told::Conflict),
                };
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
            it.phase = phase;
            it.sent_twice = false;
        }
    }

    fn network(&self, state: &mut State, attempt: usize, network: Network) -> Option<()> {
        let write = match &state.attempts.get(attempt)?.phase {
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
            (Phase::Claiming(_), _) => match ending(attempt, &write.record, Return::Retryable) {
                Phase::Ending(release) => Phase::GivingUp(release),
                phase => phase,
            },
            (Phase::GivingUp(_), _) => Phase::Told(Told::StoreError),
            _ => Phase::Told(Told::Unconfirmed),
        };
        Some(())
    }

    /// Applies a write if its condition holds. Returns what the sender is shown otherwise.
    fn apply(&self, state: &mut State, write: &Write) -> Option<Stored> {
        let before = state.stored.clone();
        if !self.holds(write, &before) {
            return Some(before);
        }
        self.judge_write(state, write, &before);
        state.stored = Stored::Record(write.record.clone());
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
            (true, None) => Phase::Running { record: write.record.clone(), proven: true },
            (false, None) => Phase::Told(Told::Ended),
            (false, Some(shown)) => {
                let stored = match &shown {
                    Stored::Nothing => None,
                    Stored::Record(record) => Some(record),
                    Stored::Unreadable => return self.told(state, attempt, Told::Unconfirmed),
                };
                Phase::Told(match explain_end(&write.record, stored) {
                    EndConflict::AlreadyStored => Told::Ended,
                    EndConflict::Vanished => Told::Unconfirmed,
                    _ => Told::Superseded,
                })
            }
        };
        if let Some(it) = state.attempts.get_mut(attempt) {
            it.phase = phase;
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
        let old = match before {
            Stored::Record(record) => Some(record),
            _ => None,
        };
        if write.kind != WriteKind::End {
            violations.epoch_not_grown |= old.is_some_and(|old| write.record.epoch <= old.epoch);
            violations.short_lease |= self.is_short(state.attempts.get(write.by), &write.record);
            let expired = old.is_some_and(|old| seconds(state.now + slowest) >= old.expires_at.to_millis());
            violations.mixed_requests |= old.is_some_and(|old| old.fingerprint != write.record.fingerprint) && !expired;
        }
        let rightly_ended = match write.kind {
            WriteKind::Claim => true,
            WriteKind::End => {
                let writer = self.request(write.by, seconds(0)).token;
                old.is_some_and(|old| old.owner == writer && old.status == Status::InFlight)
            }
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

/// How an attempt ends after its handler returned.
fn ending(attempt: usize, record: &Record, returned: Return) -> Phase {
    let status = match returned {
        Return::Result => Status::Completed,
        Return::Retryable => Status::Released,
        Return::Permanent => Status::Failed,
        Return::Unclassified => return Phase::Lost,
    };
    let ended = Record { status, ..record.clone() };
    Phase::Ending(Write { by: attempt, expected: Some(record.version()), record: ended, kind: WriteKind::End })
}
