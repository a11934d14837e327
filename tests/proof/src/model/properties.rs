//! What must always hold, and what must be reachable.

use idempotency_core::{ExecutionId, Status};
use stateright::Property;

use super::{
    Action, Attempt, Model, Phase, State, Told,
    state::{Stored, Violations},
    work::{STEPS, Work},
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
        if self.work.stages() {
            properties.extend(self.invariants_of_staging());
        }
        if self.work.has_steps() {
            properties.extend(self.invariants_of_steps());
        }
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

    /// What must hold in every state of an operation that stages its effect.
    fn invariants_of_staging(&self) -> Vec<Property<Self>> {
        vec![
            always("E1 a staged effect and its record are one", |_, state| {
                let completed: Vec<ExecutionId> =
                    state.beside.completed.iter().map(|(execution, _)| *execution).collect();
                state.beside.committed == completed
            }),
            always("E2 a generation completes once", |_, state| is_set(&state.beside.committed)),
            always("E3 who is told of success has stored it", |model, state| {
                state.attempts.iter().enumerate().all(|(number, it)| {
                    let token = model.request(number, state.time()).token;
                    let is_stored = || state.beside.completed.iter().any(|(_, owner)| *owner == token);
                    !it.effect || it.phase != Phase::Told(Told::Ended) || is_stored()
                })
            }),
        ]
    }

    /// What must hold in every state of an operation with steps.
    fn invariants_of_steps(&self) -> Vec<Property<Self>> {
        vec![
            always("S1 all who see a step's output see the same", |_, state| {
                let steps: Vec<_> = state.beside.seen.iter().map(|(execution, step, _)| (*execution, *step)).collect();
                is_set(&steps)
            }),
            always("S2 an output is its own generation's", |_, state| {
                state.beside.seen.iter().all(|seen| state.beside.calls.contains(seen))
            }),
            always("S3 a step whose output is known is not called again", |model, state| {
                !model.is_exclusive() || never(|v| v.called_again, state)
            }),
            always("S4 a step is called once more for each lost attempt", |model, state| {
                !model.is_exclusive() || calls_as_promised(state)
            }),
            always("U1 no handler begins once its failure is stored", |_, state| never(|v| v.ran_after_failure, state)),
            always("U2 no step is called once the failure is stored", |model, state| {
                !model.is_exclusive() || never(|v| v.called_after_failure, state)
            }),
            always("U3 nothing is undone before the failure is stored", |_, state| {
                never(|v| v.undone_in_silence, state)
            }),
            always("U4 what is known to be undone is not undone again", |model, state| {
                !model.is_exclusive() || never(|v| v.undone_again, state)
            }),
            always("U5 steps are undone in reverse", |model, state| {
                !model.is_exclusive() || never(|v| v.undone_out_of_order, state)
            }),
            always("U6 what failed has undone all that is known to be done", |model, state| {
                !model.is_exclusive() || failed_is_undone(state)
            }),
            always("U7 a stuck record stays", |_, state| never(|v| v.stuck_left, state)),
            always("U8 what was compensating never completes", |_, state| {
                let compensated = |execution| state.beside.compensated.contains(execution);
                state.beside.completed.iter().all(|(execution, _)| !compensated(execution))
            }),
        ]
    }

    /// What must be reachable; without it the invariants would say nothing.
    fn witnesses(&self) -> Vec<Property<Self>> {
        match self.work {
            Work::Effect => {}
            Work::Steps => return self.witnesses_of_steps(),
            Work::Staged | Work::Atomic | Work::AtomicAfterClaim => return self.witnesses_of_staging(),
        }
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

    fn witnesses_of_staging(&self) -> Vec<Property<Self>> {
        let mut witnesses = vec![
            sometimes("a staged effect is stored", |_, state| !state.beside.committed.is_empty()),
            sometimes("replay", |_, state| has_told(state, Told::Replay)),
            sometimes("unconfirmed", |_, state| has_told(state, Told::Unconfirmed)),
        ];
        if self.until > 7 {
            witnesses
                .push(sometimes("a second generation has its own effect", |_, state| state.beside.committed.len() > 1));
        }
        if self.other_request {
            witnesses.push(sometimes("mismatch", |_, state| has_told(state, Told::Mismatch)));
        }
        if self.work == Work::Staged {
            witnesses.push(sometimes("a lost attempt is followed by one that commits", |_, state| {
                let follows = |record: &idempotency_core::Record| record.attempt.get() > 1;
                !state.beside.committed.is_empty() && stored(state).is_some_and(follows)
            }));
        } else {
            witnesses.push(sometimes("two handlers run, and the slower one is told the result", |_, state| {
                state.attempts.iter().any(|it| it.effect && it.phase == Phase::Told(Told::Replay))
            }));
        }
        witnesses
    }

    fn witnesses_of_steps(&self) -> Vec<Property<Self>> {
        let mut witnesses = vec![
            sometimes("a failure has all undone", |_, state| {
                let undone = state.beside.rows.iter().filter(|(row, _)| row.undone).count();
                undone == usize::from(STEPS) && stored(state).is_some_and(|record| record.status == Status::Failed)
            }),
            sometimes("a step is read instead of called", |_, state| {
                let has_read = |it: &Attempt| it.rows.iter().flatten().any(|row| !row.undone) && it.place > 0;
                state.attempts.iter().any(has_read)
            }),
            sometimes("a step is called again", |_, state| state.beside.calls.iter().any(|call| call.2 > 0)),
            sometimes("an operation is stuck", |_, state| {
                stored(state).is_some_and(|record| record.status == Status::Stuck)
            }),
            sometimes("later", |_, state| has_told(state, Told::Later)),
            sometimes("undoing is gone on with", |_, state| {
                let goes_on = |it: &Attempt| {
                    matches!(&it.phase, Phase::Undoing(record) if record.attempt.get() > 1)
                        && it.rows.iter().flatten().any(|row| row.undone)
                };
                state.attempts.iter().any(goes_on)
            }),
            sometimes("a step is undone twice because an attempt was lost", |_, state| {
                let mut steps: Vec<_> = state.beside.undos.iter().map(|undo| (undo.0, undo.1)).collect();
                steps.dedup();
                steps.len() < state.beside.undos.len()
            }),
        ];
        if self.until > 7 {
            witnesses.push(sometimes("a second generation calls its own steps", |_, state| {
                state.beside.calls.first().map(|call| call.0) != state.beside.calls.last().map(|call| call.0)
            }));
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

/// Attempts at work for which a claim counts.
fn running(state: &State) -> usize {
    let is_at_work = |phase: &Phase| matches!(phase, Phase::Running { .. } | Phase::Keeping { .. } | Phase::Undoing(_));
    state.attempts.iter().filter(|attempt| is_at_work(&attempt.phase)).count()
}

/// Whether no two neighbours of a sorted list are the same.
fn is_set<T: PartialEq>(sorted: &[T]) -> bool {
    sorted.windows(2).all(|pair| pair.first() != pair.last())
}

/// In each generation a step is called once, and once more for each attempt that was lost after its call.
fn calls_as_promised(state: &State) -> bool {
    let calls = &state.beside.calls;
    calls.iter().all(|(execution, step, _)| {
        let callers = || calls.iter().filter(|call| (call.0, call.1) == (*execution, *step)).map(|call| call.2);
        let is_lost = |caller: &usize| state.attempts.get(*caller).is_some_and(|it| it.phase == Phase::Lost);
        let mut lost: Vec<usize> = callers().filter(is_lost).collect();
        lost.dedup();
        callers().count() <= 1 + lost.len()
    })
}

/// Of a generation that failed, each step that somebody knows to be done is undone.
fn failed_is_undone(state: &State) -> bool {
    let Some(failed) = stored(state).filter(|record| record.status == Status::Failed) else { return true };
    let beside = &state.beside;
    (0..STEPS).all(|step| {
        !beside.is_known(failed.execution, step, false) || beside.row(failed.execution, step, true).is_some()
    })
}

fn generations(state: &State) -> usize {
    let mut seen: Vec<ExecutionId> = state.effects.clone();
    seen.sort();
    seen.dedup();
    seen.len()
}
