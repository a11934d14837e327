//! Goal: the protocol keeps its invariants in every order of steps and faults, and the search would notice if it did not.
//!
//! Method: exhaustive search of small models in `cargo test`; the long runs are commands of `proof`.

use std::collections::BTreeSet;

use idempotency_core::OnAbandoned;
use proof::{
    Mutant,
    model::{Model, Work},
};
use stateright::{Checker, Expectation, HasDiscoveries, Model as _};

fn check(model: Model) {
    let name = model.to_string();
    let checker = model.checker().threads(2).spawn_bfs().join();
    eprintln!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

#[test]
fn rerun_keeps_its_invariants() {
    check(Model::new(OnAbandoned::Rerun));
}

#[test]
fn reject_keeps_its_invariants() {
    check(Model::new(OnAbandoned::Reject));
}

#[test]
fn probe_keeps_its_invariants() {
    check(Model { until: 5, ..Model::new(OnAbandoned::Probe) });
}

#[test]
fn probe_keeps_its_invariants_among_zombies() {
    check(Model { zombies: true, until: 4, ..Model::new(OnAbandoned::Probe) });
}

#[test]
fn waiting_keeps_the_invariants() {
    check(Model { waits: true, until: 5, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn looking_first_keeps_the_invariants() {
    check(Model { looks: true, until: 4, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn looking_first_keeps_the_invariants_of_probes() {
    check(Model { looks: true, until: 4, ..Model::new(OnAbandoned::Probe) });
}

#[test]
fn rerun_keeps_its_invariants_among_zombies() {
    check(Model { zombies: true, until: 4, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn reject_keeps_its_invariants_among_zombies_with_clocks_beyond_the_margin() {
    // Five seconds are beyond run and margin together: such a clock sees a lease as over at once.
    check(Model { zombies: true, until: 1, skews: vec![0, 5], ..Model::new(OnAbandoned::Reject) });
}

#[test]
fn rerun_keeps_its_invariants_with_clocks_within_the_margin() {
    check(Model { until: 5, skews: vec![0, 3], ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn another_request_and_an_unreadable_record_are_never_mixed_up() {
    check(Model { other_request: true, corruption: true, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn what_is_staged_commits_with_the_end_of_its_claim() {
    check(Model { work: Work::Staged, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn what_is_staged_commits_with_the_end_of_its_claim_among_zombies() {
    check(Model { work: Work::Staged, zombies: true, until: 4, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn an_operation_that_claims_nothing_commits_once() {
    check(Model { work: Work::Atomic, attempts: 3, zombies: true, until: 1, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn an_operation_that_claims_nothing_commits_once_in_each_generation() {
    check(Model { work: Work::Atomic, zombies: true, looks: true, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn an_operation_that_claims_nothing_commits_for_one_request_only() {
    check(Model {
        work: Work::Atomic,
        attempts: 3,
        other_request: true,
        corruption: true,
        until: 0,
        ..Model::new(OnAbandoned::Rerun)
    });
}

#[test]
fn an_operation_that_claims_nothing_takes_over_from_one_that_claimed() {
    check(Model { work: Work::AtomicAfterClaim, zombies: true, until: 5, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn steps_are_kept_and_undone_as_promised() {
    check(Model { work: Work::Steps, until: 4, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn steps_are_kept_and_undone_as_promised_among_zombies() {
    check(Model { work: Work::Steps, zombies: true, calm: true, until: 5, ..Model::new(OnAbandoned::Rerun) });
}

#[test]
fn steps_are_kept_and_undone_as_promised_over_lost_attempts_and_expiry() {
    check(Model { work: Work::Steps, attempts: 2, calm: true, until: 9, ..Model::new(OnAbandoned::Rerun) });
}

/// The models that show a mutant. The production protocol passes each of them above.
fn models(mutant: Mutant) -> Vec<Model> {
    let rerun = Model { mutant, ..Model::new(OnAbandoned::Rerun) };
    let steps = Model { work: Work::Steps, calm: true, ..rerun.clone() };
    match mutant {
        Mutant::LookAdmits => vec![Model { looks: true, until: 4, ..rerun }],
        Mutant::CommitWithoutCondition => {
            vec![Model { work: Work::Atomic, zombies: true, until: 1, attempts: 3, ..rerun }]
        }
        Mutant::UnkeptStepReleases => vec![Model { calm: false, until: 4, ..steps }],
        Mutant::StagedBeforeItsRecord
        | Mutant::StagedAfterItsRecord
        | Mutant::StagedWithoutItsRecord
        | Mutant::UnansweredEndToldAsStored => {
            vec![Model { work: Work::Staged, zombies: true, until: 4, ..rerun }]
        }
        Mutant::CompensatingLeaseIgnored
        | Mutant::CompensatingRunsTheHandler
        | Mutant::UndoneInSilence
        | Mutant::UndoForward
        | Mutant::ResumeWithoutUndone
        | Mutant::FailedIsUndoneAgain
        | Mutant::RowsOfAnyGeneration
        | Mutant::RowOverwrites
        | Mutant::EarlierStepsNotRead
        | Mutant::HandlerGoesOnAfterFailure
        | Mutant::FailureForgetsEarlierSteps
        | Mutant::StuckIsUndoneAgain
        | Mutant::UndoneIsCompleted => {
            vec![Model { until: 9, ..steps.clone() }, Model { zombies: true, until: 5, ..steps }]
        }
        Mutant::VersionWithoutEpoch => vec![Model { zombies: true, until: 4, ..rerun }],
        Mutant::FingerprintNotComparedInFlight | Mutant::UndecodableTakenForAbsent => {
            vec![Model { other_request: true, corruption: true, ..rerun }]
        }
        Mutant::ProbeUnknownReruns => vec![Model { mutant, until: 5, ..Model::new(OnAbandoned::Probe) }],
        Mutant::WaiterReleasesTheOwner => vec![Model { waits: true, until: 5, ..rerun }],
        _ => vec![rerun],
    }
}

#[test]
fn every_mutant_is_killed() {
    for mutant in Mutant::ALL {
        let killed_by = models(mutant).into_iter().find_map(|model| {
            let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
            let found = checker.discoveries().into_iter();
            found
                .map(|(name, path)| (name, path.into_actions().len()))
                .find(|(name, _)| name.starts_with(['I', 'E', 'S', 'U']) || *name == "one record, one request")
        });
        eprintln!("{mutant:?}: {killed_by:?}");
        assert!(killed_by.is_some(), "{mutant:?} survives");
    }
}

/// A mutant that breaks each invariant. No single one breaks U8 alone: what was compensating completes only over its own record as it is
/// undone (I5 too), or after another handler has begun (U1 too).
const BROKEN_BY: [(&str, Mutant); 15] = [
    ("E1", Mutant::StagedAfterItsRecord),
    ("E2", Mutant::CommitWithoutCondition),
    ("E3", Mutant::UnansweredEndToldAsStored),
    ("S1", Mutant::RowOverwrites),
    ("S2", Mutant::RowsOfAnyGeneration),
    ("S3", Mutant::EarlierStepsNotRead),
    ("S4", Mutant::UnkeptStepReleases),
    ("U1", Mutant::CompensatingRunsTheHandler),
    ("U2", Mutant::HandlerGoesOnAfterFailure),
    ("U3", Mutant::UndoneInSilence),
    ("U4", Mutant::ResumeWithoutUndone),
    ("U5", Mutant::UndoForward),
    ("U6", Mutant::FailureForgetsEarlierSteps),
    ("U7", Mutant::StuckIsUndoneAgain),
    ("U8", Mutant::UndoneIsCompleted),
];

#[test]
fn every_invariant_of_effects_is_broken_by_a_mutant() {
    let names = [Work::Staged, Work::Steps].map(|work| Model { work, ..Model::new(OnAbandoned::Rerun) }.properties());
    let always = names.into_iter().flatten().filter(|property| property.expectation == Expectation::Always);
    let names: BTreeSet<&str> =
        always.map(|property| property.name).filter(|name| name.starts_with(['E', 'S', 'U'])).collect();
    assert_eq!(names.iter().map(|name| &name[..2]).collect::<Vec<_>>(), BROKEN_BY.map(|(invariant, _)| invariant));
    for (name, (_, mutant)) in names.into_iter().zip(BROKEN_BY) {
        let broken = models(mutant).into_iter().find_map(|model| {
            let finish = HasDiscoveries::AnyOf([name].into());
            let checker = model.checker().threads(2).finish_when(finish).spawn_bfs().join();
            let path = checker.discovery(name)?;
            let together: Vec<_> =
                checker.discoveries().into_keys().filter(|other| other.starts_with(['I', 'E', 'S', 'U'])).collect();
            Some((path.into_actions().len(), together))
        });
        eprintln!("{name}: {mutant:?}: {broken:?}");
        assert!(broken.is_some(), "{mutant:?} does not break {name}");
    }
}
