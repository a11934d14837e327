//! Goal: the real engine keeps the promises among faults, and a seed always gives the same run.
//!
//! Method: a slice of the seeds that `proof simulate` runs.

use proof::simulation::{Counts, Mutant, Simulator};

#[test]
fn every_seed_keeps_the_promises_and_every_outcome_occurs() {
    let simulator = Simulator::new().unwrap();
    let mut counts = Counts::default();
    for seed in 0..10_000 {
        let outcome = simulator.run(seed, false);
        assert!(outcome.violations.is_empty(), "{outcome}");
        counts.add(&outcome.counts);
    }
    let Counts {
        fresh,
        replays,
        conflicts,
        mismatches,
        uncertain,
        errors,
        superseded,
        unconfirmed,
        taken_over,
        expired,
        found,
        looked,
        batches,
        unanswered,
        refused,
        instead,
        undone,
        resumed,
        stuck,
        told_stuck,
        commits,
        rows_read,
    } = counts;
    let of_attempts = [fresh, replays, conflicts, mismatches, uncertain, errors, superseded, unconfirmed];
    let of_keys = [taken_over, expired, found, looked, batches, unanswered];
    let of_work = [refused, instead, undone, resumed, stuck, told_stuck, commits, rows_read];
    assert!(of_attempts.iter().chain(&of_keys).chain(&of_work).all(|count| *count > 0), "{counts:?}");
}

#[test]
fn every_mutant_of_the_way_to_the_store_is_killed() {
    for mutant in Mutant::ALL {
        let simulator = Simulator::new().unwrap().with_mutant(mutant);
        let killed_by =
            (0..20_000).map(|seed| simulator.run(seed, false)).find(|outcome| !outcome.violations.is_empty());
        let killed_by = killed_by.map(|outcome| (outcome.seed, outcome.violations));
        eprintln!("{mutant:?}: {killed_by:?}");
        assert!(killed_by.is_some(), "{mutant:?} survives");
    }
}

#[test]
fn a_seed_always_gives_the_same_run() {
    let (one, other) = (Simulator::new().unwrap(), Simulator::new().unwrap());
    other.run(7, false);
    for seed in 0..50 {
        assert_eq!(one.run(seed, true).timeline, other.run(seed, true).timeline, "{seed}");
    }
}
