use std::time::Duration;

use idempotency_core::{EpochMillis, Outcome, Record, Status};
use serde_json::Value;

use crate::world::{Told, World};

/// One record of each kind.
async fn world() -> World {
    let world = World::start().await;
    world.lost("lost").await;
    let running = world.claim("running", Duration::ZERO).await;
    let done = world.claim("done", Duration::ZERO).await;
    let _ = (running, world.engine.complete(done, Outcome::new("done")).await);
    world.left("stuck", Status::Stuck, |record| record).await;
    world.left("left", Status::Compensating, |record| record).await;
    // Left a moment ago: its caller may be about to come back.
    let soon =
        |record: Record| Record { lease_until: EpochMillis::new(record.lease_until.get() + 7_100_000), ..record };
    world.left("undoing", Status::Compensating, soon).await;
    world
}

fn states(told: &Told) -> Vec<String> {
    let state = |line: &str| serde_json::from_str::<Value>(line).unwrap()["state"].as_str().unwrap().to_owned();
    let mut states: Vec<_> = told.out.lines().map(state).collect();
    states.sort();
    states
}

#[tokio::test]
async fn each_list_has_what_it_is_called_and_says_by_its_exit_code_whether_somebody_waits() {
    let world = world().await;
    let overdue = "compensating-overdue";
    let rows: [(&[&str], &[&str], i32); 8] = [
        (&[], &[overdue, overdue, "stuck", "uncertain"], 1),
        (&["--stuck"], &[overdue, "stuck"], 1),
        (&["--uncertain"], &["uncertain"], 1),
        (&["--in-flight"], &["in-flight"], 0),
        (&["--overdue"], &[overdue, overdue, "uncertain"], 1),
        (&["--compensating"], &[overdue, overdue], 1),
        (&["--stuck", "--uncertain"], &[overdue, "stuck", "uncertain"], 1),
        (&["--all", "--segments", "3"], &[overdue, overdue, "completed", "in-flight", "stuck", "uncertain"], 1),
    ];
    for (options, expected, exit) in rows {
        let told = world.run(&[&["list", "--json"][..], options].concat()).await;
        assert_eq!(
            (states(&told), told.exit),
            (expected.iter().map(|state| (*state).to_owned()).collect(), exit),
            "{options:?}"
        );
    }
    let told = world.run(&["list", "--stuck"]).await;
    assert!(
        told.out.contains("charge#v1") && told.error.contains("2 shown, 2 of them wait for somebody"),
        "{}{}",
        told.out,
        told.error
    );
}

#[tokio::test]
async fn a_list_is_narrowed_by_operation_and_ends_at_its_limit() {
    let world = world().await;
    let count =
        async |options: &[&str]| world.run(&[&["list", "--json"][..], options].concat()).await.out.lines().count();
    assert_eq!(count(&["--all", "--operation", "charge"]).await, 6);
    assert_eq!(count(&["--all", "--operation", "char"]).await, 0);
    assert_eq!(count(&["--all", "--limit", "2"]).await, 2);
}

#[tokio::test]
async fn what_is_no_list_is_refused_before_anything_is_read() {
    let world = World::start().await;
    for (options, said) in [
        (&["--segments", "0"][..], "0 is not in 1..=256"),
        (&["--operation", "a#b"], "operation name"),
        (&["--limit", "0"], "expected a number from 1"),
        (&["--lost"], "unexpected argument '--lost'"),
    ] {
        world.run(&[&["list"][..], options].concat()).await.assert_refused(2, said);
    }
}
