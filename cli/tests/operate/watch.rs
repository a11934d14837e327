use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::Duration,
};

use idempotency_core::Outcome;
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{TABLE, World, command};

#[tokio::test]
async fn counts_are_by_state_and_operation_and_their_cost_is_told() {
    let world = World::start().await;
    let done = world.claim("done", Duration::ZERO).await;
    let _ = world.engine.complete(done, Outcome::new("done")).await;
    let quiet = world.run(&["watch", "--once", "--json"]).await;
    assert_eq!((quiet.exit, quiet.json()["states"]["completed"].as_u64()), (0, Some(1)));
    world.lost("lost").await;
    let told = world.run(&["watch", "--once", "--json"]).await;
    let json = told.json();
    assert_eq!(
        (told.exit, json["states"]["uncertain"].as_u64(), json["waiting_for_somebody"].as_u64()),
        (1, Some(1), Some(1))
    );
    assert_eq!(json["by_operation"][0]["operation"], "charge#v1");
    assert!(json["read_units"].as_f64().unwrap() > 0.0);
    let words = world.run(&["watch", "--once"]).await;
    assert!(words.out.contains("2 records, 1 wait for somebody") && words.out.contains("read units"), "{}", words.out);
}

#[tokio::test]
async fn it_stops_when_the_read_units_are_used_up() {
    let world = World::start().await;
    world.lost("lost").await;
    let told = world.run(&["watch", "--interval", "1ms", "--json", "--segments", "1", "--max-read-units", "2"]).await;
    let rounds = told.out.lines().count();
    // Half a unit for each round.
    assert_eq!((told.exit, rounds), (1, 4), "{}{}", told.out, told.error);
    assert!(told.error.contains("--max-read-units"));
}

#[tokio::test]
async fn it_goes_on_until_it_is_stopped_which_is_no_failure() {
    let world = World::start().await;
    let url = world.dynamodb.endpoint_url().to_owned();
    let stopped = tokio::task::spawn_blocking(move || {
        let mut watch = command(&["watch", "--interval", "1ms", "--json", "--table", TABLE, "--endpoint-url", &url]);
        let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
        let mut rounds = BufReader::new(watch.stdout.take().unwrap()).lines();
        assert!(rounds.next().is_some() && rounds.next().is_some());
        kill_process(Pid::from_child(&watch), Signal::TERM).unwrap();
        // What it has still to say must not be in its way.
        rounds.for_each(drop);
        watch.wait().unwrap().code()
    });
    assert_eq!(stopped.await.unwrap(), Some(0));
}

#[tokio::test]
async fn an_interval_that_is_none_is_refused() {
    let world = World::start().await;
    world.run(&["watch", "--interval", "soon"]).await.assert_refused(2, "expected a duration");
}

#[tokio::test]
async fn it_ends_when_nobody_reads_it_any_more() {
    let world = World::start().await;
    let url = world.dynamodb.endpoint_url().to_owned();
    let ended = tokio::task::spawn_blocking(move || {
        let mut watch = command(&["watch", "--interval", "1ms", "--table", TABLE, "--endpoint-url", &url]);
        let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut rounds = BufReader::new(watch.stdout.take().unwrap()).lines();
        assert!(rounds.next().is_some());
        drop(rounds);
        watch.wait_with_output().unwrap()
    });
    let ended = ended.await.unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(1), &b""[..]), "and says nothing to nobody");
}
