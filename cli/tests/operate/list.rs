use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_core::{EpochMillis, Outcome, Record, Status};
use idempotency_testkit::dynamodb::create_table;
use serde_json::Value;

use crate::world::{TABLE, Told, World, command, run_plain};

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
        let told = world.run(&[&["list", "--json"][..], options].concat()).await;
        let error: Value = serde_json::from_str(&told.error).unwrap();
        assert_eq!((told.exit, error["exit"].as_u64()), (2, Some(2)));
        assert!(error["error"].as_str().unwrap().contains(said), "{error}");
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_in_every_list_of_its_operation_and_in_no_other() {
    let world = World::start().await;
    let (newer, nameless) = (world.lost("newer").await, world.lost("nameless").await);
    let client = world.dynamodb.client();
    for (key, change) in [(newer, "SET #status = :paused"), (nameless, "REMOVE #status")] {
        let update = client.update_item().table_name(TABLE).update_expression(change);
        let update = update.key("pk", AttributeValue::S(key.to_string())).key("sk", AttributeValue::S("claim".into()));
        let update = update.expression_attribute_names("#status", "status");
        let update = match change.contains(':') {
            true => update.expression_attribute_values(":paused", AttributeValue::S("paused".into())),
            false => update,
        };
        update.send().await.unwrap();
    }
    for options in [&[][..], &["--stuck"], &["--in-flight"], &["--all"], &["--operation", "charge"]] {
        let told = world.run(&[&["list", "--json"][..], options].concat()).await;
        assert_eq!((states(&told), told.exit), (vec!["unreadable".into(), "unreadable".into()], 1), "{options:?}");
    }
    for arguments in
        [&["list", "--json", "--all", "--operation", "refund"][..], &["watch", "--once", "--operation", "refund"]]
    {
        let url = world.dynamodb.endpoint_url().to_owned();
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        let told = tokio::task::spawn_blocking(move || {
            let without_namespace = ["--table", TABLE, "--endpoint-url", &url];
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(without_namespace).collect();
            run_plain(&arguments)
        });
        assert_eq!(told.await.unwrap().exit, 0, "another operation's");
    }
}

#[tokio::test]
async fn a_table_of_something_else_is_not_taken_for_an_empty_one() {
    let world = World::start().await;
    create_table(&world.dynamodb.client(), "charges", "charge_id", None).await.unwrap();
    for command in [&["list"][..], &["watch", "--once"]] {
        let url = world.dynamodb.endpoint_url().to_owned();
        let arguments = [command, &["--table", "charges"]].concat().join(" ");
        let told = tokio::task::spawn_blocking(move || {
            // By the environment: on loopback that needs no region and no credentials either.
            let mut command = self::command(&arguments.split(' ').collect::<Vec<_>>());
            Told::of(command.env("AWS_ENDPOINT_URL_DYNAMODB", url).output().unwrap())
        });
        told.await.unwrap().assert_refused(3, "charges is no table of records: its keys are charge_id");
    }
}
