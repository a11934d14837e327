//! What must always hold, and what must be reachable.

use idempotency_core::{ExecutionId, Status};
use stateright::Property;

use super::{
    Action, Attempt, Model, Phase, State, Told,
    state::{Stored, Violations},
};

impl stateright::Model for Model {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self.attempts)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.possible(state, actions);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        self.after(last, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = self.invariants();
        properties.extend(self.witnesses());
        properties
    }
}

fn always(name: &'static str, holds: fn(&Model, &State) -> bool) -> Property<Model> {
    Property::always(name, holds)
}

fn sometimes(name: &'static str, is: fn(&Model, &State) -> bool) -> Property<Model> {
    Property::sometimes(name, is)
}

/// Whether an attempt has told its caller this.
fn has_told(state: &State, told: Told) -> bool {
    state.attempts.iter().any(|attempt| attempt.phase == Phase::Told(told))
}

fn stored(state: &State) -> Option<&idempotency_core::Record> {
    match &state.stored {
        Stored::Record(record) => Some(record),
        _ => None,
    }
}

fn never(violation: fn(&Violations) -> bool, state: &State) -> bool {
    !violation(&state.violations)
}

impl Model {
    /// What must hold in every state.
    fn invariants(&self) -> Vec<Property<Self>> {
        vec![
            always("I1 at most one handler runs", |model, state| !model.is_exclusive() || running(state) <= 1),
            always("I2 effects as promised", |model, state| model.keeps_its_promise(state)),
            always("I3 an effect only after evidence", |_, state| {
                state.attempts.iter().all(|attempt| !matches!(&attempt.phase, Phase::Running { proven: false, .. }))
            }),
            always("I4 an end does not change", |_, state| never(|v| v.changed_after_end, state)),
            always("I5 only the owner ends", |_, state| never(|v| v.ended_foreign, state)),
            always("I6 never blocked by one's own claim", |_, state| never(|v| v.blocked_by_itself, state)),
            always("I7 who does not own writes nothing", |_, state| never(|v| v.wrote_in_silence, state)),
            always("I8 leases and expiries are long enough", |_, state| never(|v| v.short_lease, state)),
            always("I9 epochs grow", |_, state| never(|v| v.epoch_not_grown, state)),
            always("I11 an unreadable record stays", |_, state| never(|v| v.unreadable_lost, state)),
            always("one record, one request", |_, state| never(|v| v.mixed_requests, state)),
        ]
    }

    /// What must be reachable; without it the invariants would say nothing.
    fn witnesses(&self) -> Vec<Property<Self>> {
        let mut witnesses = vec![
            sometimes("an effect is stored", |_, state| {
                !state.effects.is_empty() && stored(state).is_some_and(|record| record.status == Status::Completed)
            }),
            sometimes("store error", |_, state| has_told(state, Told::StoreError)),
            sometimes("unconfirmed", |_, state| has_told(state, Told::Unconfirmed)),
        ];
        if self.until > 7 {
            witnesses.push(sometimes("expiry starts a new generation", |_, state| generations(state) > 1));
        }
        if self.attempts > 2 || !self.other_request {
            witnesses.extend(self.witnesses_of_duplicates());
        }
        if self.other_request {
            witnesses.push(sometimes("mismatch", |_, state| has_told(state, Told::Mismatch)));
        }
        witnesses
    }

    /// What must be reachable where two attempts send the same request.
    fn witnesses_of_duplicates(&self) -> Vec<Property<Self>> {
        let mut witnesses = vec![
            sometimes("replay", |_, state| has_told(state, Told::Replay)),
            sometimes("conflict", |_, state| has_told(state, Told::Conflict)),
            sometimes("a release or an abandoned claim is resumed", |_, state| {
                stored(state).is_some_and(|record| record.attempt.get() > 1 && record.status == Status::InFlight)
            }),
        ];
        if self.probes() {
            witnesses.extend([
                sometimes("a lost effect is found and stored", |_, state| {
                    let found = |record: &idempotency_core::Record| {
                        record.status == Status::Completed
                            && state.attempts.iter().any(|it| it.effect && it.phase == Phase::Lost)
                    };
                    state.effects.len() == 1 && stored(state).is_some_and(found)
                }),
                sometimes("a lost attempt without an effect is run again", |_, state| {
                    state.attempts.iter().any(|it| it.phase == Phase::Lost && !it.effect)
                        && state
                            .attempts
                            .iter()
                            .any(|it| matches!(&it.phase, Phase::Running { record, .. } if record.attempt.get() > 1))
                }),
            ]);
        }
        if self.waits {
            witnesses.push(sometimes("a waiter is told the result", |_, state| {
                state.attempts.iter().any(|it| it.waited && it.phase == Phase::Told(Told::Replay))
            }));
            witnesses.push(sometimes("a waiter takes its turn", |_, state| {
                state.attempts.iter().any(|it| it.waited && matches!(it.phase, Phase::Running { .. }))
            }));
        }
        if self.looks {
            witnesses.push(sometimes("a look is answered by the result", |_, state| {
                state.attempts.iter().any(|it| it.looked && !it.wrote && it.phase == Phase::Told(Told::Replay))
            }));
            witnesses.push(sometimes("a look leads to the next attempt", |_, state| {
                let next =
                    |it: &Attempt| matches!(&it.phase, Phase::Running { record, .. } if record.attempt.get() > 1);
                state.attempts.iter().any(|it| it.looked && next(it))
            }));
        }
        if self.reruns() {
            witnesses.push(sometimes("a lost attempt is run again", |_, state| state.effects.len() > 1));
        } else {
            witnesses.push(sometimes("uncertain", |_, state| has_told(state, Told::Uncertain)));
        }
        if self.zombies && self.reruns() {
            witnesses.push(sometimes("superseded", |_, state| has_told(state, Told::Superseded)));
        }
        witnesses
    }

    /// Whether clocks and platform are as I1 assumes: killed at the deadline, and two clocks differ by the margin at most.
    fn is_exclusive(&self) -> bool {
        let (least, most) = (self.skews.iter().min(), self.skews.iter().max());
        let spread = least.zip(most).map_or(0, |(least, most)| most - least);
        !self.zombies && u64::try_from(spread).is_ok_and(|spread| spread <= idempotency_core::Policy::MARGIN.as_secs())
    }

    /// `rerun`: in each generation at most one effect more than attempts were lost. `reject`: at most one effect. `probe`: at
    /// most one, if no lost attempt acts after it was asked about; else as `rerun`.
    fn keeps_its_promise(&self, state: &State) -> bool {
        state.effects.iter().all(|&generation| {
            let effects = state.effects.iter().filter(|&&other| other == generation).count();
            let repeats = self.reruns() || (self.probes() && !self.is_exclusive());
            effects <= 1 || (repeats && effects <= 1 + lost(state))
        })
    }
}

/// Attempts that ran and whose end is not known to be stored. (Which generation they belong to is not told apart: one more
/// effect is allowed for each.)
fn lost(state: &State) -> usize {
    let lost = |phase: &Phase| {
        matches!(
            phase,
            Phase::Lost | Phase::Told(Told::Unconfirmed | Told::Superseded) | Phase::Running { .. } | Phase::Ending(_)
        )
    };
    state.attempts.iter().filter(|attempt| attempt.effect && lost(&attempt.phase)).count()
}

fn running(state: &State) -> usize {
    state.attempts.iter().filter(|attempt| matches!(attempt.phase, Phase::Running { .. })).count()
}

fn generations(state: &State) -> usize {
    let mut seen: Vec<ExecutionId> = state.effects.clone();
    seen.sort();
    seen.dedup();
    seen.len()
}
