use std::{sync::atomic::Ordering, time::Duration};

use idempotency_testkit::fault_proxy::{Fault, Rule};
use lambda_http::Body;
use lambda_idempotency::{
    OnAbandoned, Operation,
    http::{HttpOperation, Probed, Reply, scope},
    migration::PowertoolsFlavour::{JsonText, Native},
};
use serde_json::Value;

use crate::support::{PYTHON, TYPESCRIPT, World, row};

/// Beyond the time of the old invocation and the margin.
const OLD_TIME_IS_OVER: Duration = Duration::from_secs(29);

/// Beyond the lease of an attempt here.
const LEASE_IS_OVER: Duration = Duration::from_secs(16 * 60);

const POLICIES: [OnAbandoned; 3] = [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe];

async fn python(name: &str) -> (World, Value) {
    let row = row(PYTHON, name);
    (World::after(&row, JsonText).await, row)
}

fn problem(reply: &Reply) -> String {
    let problem: Value = serde_json::from_slice(reply.body()).unwrap();
    problem["type"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned()
}

fn assert_is_the_old_response(reply: &Reply) {
    assert_eq!(reply.status(), 201);
    assert_eq!(reply.headers()["content-type"], "application/json");
    assert_eq!(reply.headers()["location"], "/charges/ch_old");
    assert_eq!(reply.headers()["idempotent-replayed"], "true");
    assert!(matches!(reply.body(), Body::Text(text) if text == r#"{"id": "ch_old"}"#), "{reply:?}");
}

#[tokio::test]
async fn what_the_old_function_did_is_replayed_now_and_from_then_on() {
    for (rows, flavour) in [(PYTHON, JsonText), (TYPESCRIPT, Native)] {
        for name in ["http by header", "http by body", "composite", "prefix"] {
            for on_abandoned in POLICIES {
                let row = row(rows, name);
                let world = World::after(&row, flavour).await;
                world.put(&row["completed"]).await;
                assert_is_the_old_response(&world.charge(on_abandoned).await);
                assert_eq!(world.asked(), ["PutItem own", "GetItem old", "PutItem own", "GetItem own"], "{name}");
                // The old row may expire now.
                world.advance(Duration::from_secs(2 * 3600));
                assert_is_the_old_response(&world.charge(on_abandoned).await);
                assert_eq!(world.asked(), ["PutItem own"], "{name}");
                assert_eq!(world.so_far(), 0);
            }
        }
    }
}

#[tokio::test]
async fn without_an_old_row_the_handler_runs_after_one_look_and_replays_do_not_look() {
    let (world, _) = python("http by header").await;
    for replayed in [false, true] {
        let reply = world.charge(OnAbandoned::Rerun).await;
        assert_eq!(reply.body().as_ref(), b"new");
        assert_eq!(reply.headers().contains_key("idempotent-replayed"), replayed);
    }
    // The claim comes before the look: an old function that had begun before the claim is seen.
    assert_eq!(world.asked(), ["PutItem own", "GetItem old", "PutItem own", "PutItem own"]);
    assert_eq!(world.so_far(), 1);
}

#[tokio::test]
async fn an_operation_that_takes_no_old_functions_place_does_not_look() {
    let (world, row) = python("http by header").await;
    world.put(&row["completed"]).await;
    for operation in ["another", "keyless"] {
        assert_eq!(world.charge_as(operation, OnAbandoned::Rerun, None).await.body().as_ref(), b"new");
        assert_eq!(world.asked(), ["PutItem own", "PutItem own"], "{operation}");
    }
}

#[tokio::test]
async fn while_the_old_function_is_at_it_there_is_a_conflict_and_then_its_result() {
    for on_abandoned in POLICIES {
        let (world, row) = python("http by header").await;
        world.put(&row["in_progress"]).await;
        for _ in 0..2 {
            let reply = world.charge(on_abandoned).await;
            assert_eq!((reply.status().as_u16(), problem(&reply).as_str()), (409, "conflict"));
            assert!(reply.headers().contains_key("retry-after"));
        }
        world.put(&row["completed"]).await;
        assert_is_the_old_response(&world.charge(on_abandoned).await);
        assert_eq!(world.so_far(), 0);
    }
}

#[tokio::test]
async fn what_the_old_function_lost_runs_again_under_rerun() {
    let (world, row) = python("http by header").await;
    world.put(&row["in_progress"]).await;
    world.advance(OLD_TIME_IS_OVER);
    assert_eq!(world.charge(OnAbandoned::Rerun).await.body().as_ref(), b"new");
    assert_eq!(world.so_far(), 1);
}

#[tokio::test]
async fn what_the_old_function_lost_stays_unknown_under_reject_longer_than_its_row() {
    let (world, row) = python("http by header").await;
    world.put(&row["in_progress"]).await;
    world.advance(OLD_TIME_IS_OVER);
    assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
    world.advance(LEASE_IS_OVER);
    assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
    world.advance(Duration::from_secs(2 * 3600));
    assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn what_the_old_function_lost_is_asked_about_under_probe() {
    let operation = HttpOperation::new(Operation::declare("create-charge", 1), scope::none());
    let operation = operation.on_abandoned(OnAbandoned::Probe);
    for (said, body, runs) in [
        (Probed::Happened("there".to_owned()), &b"there"[..], 0),
        (Probed::DidNotHappen, &b"new"[..], 1),
        (Probed::Unknown, &b""[..], 0),
    ] {
        let (world, row) = python("http by header").await;
        world.put(&row["in_progress"]).await;
        world.advance(OLD_TIME_IS_OVER);
        let is_known = !matches!(said, Probed::Unknown);
        let reply = world.send(&operation, None, Ok(said)).await.unwrap();
        match is_known {
            true => assert_eq!(reply.body().as_ref(), body),
            false => assert_eq!(problem(&reply), "outcome-unknown"),
        }
        assert_eq!((world.probes.load(Ordering::SeqCst), world.so_far()), (1, runs));
    }
}

#[tokio::test]
async fn an_expired_row_counts_for_nothing() {
    for state in ["completed", "in_progress"] {
        let (world, row) = python("http by header").await;
        world.put(&row[state]).await;
        world.advance(Duration::from_secs(3600));
        assert_eq!(world.charge(OnAbandoned::Reject).await.body().as_ref(), b"new");
    }
}

#[tokio::test]
async fn another_validation_hash_is_a_mismatch_and_does_not_keep_the_key_from_the_right_request() {
    let (world, row) = python("http by body").await;
    world.put(&row["completed"]).await;
    let right = row["completed"]["validation"]["S"].as_str().unwrap();
    let reply = world.charge_as("create-charge", OnAbandoned::Reject, Some("another")).await;
    assert_eq!((reply.status().as_u16(), problem(&reply).as_str()), (422, "mismatch"));
    assert_is_the_old_response(&world.charge_as("create-charge", OnAbandoned::Reject, Some(right)).await);
    assert_eq!(problem(&world.charge_as("create-charge", OnAbandoned::Reject, Some("another")).await), "mismatch");
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn an_old_table_that_does_not_answer_refuses_the_request_and_keeps_no_key() {
    for fault in [Fault::ErrorBefore, Fault::Throttle, Fault::DropBefore] {
        let (world, row) = python("http by header").await;
        world.put(&row["completed"]).await;
        world.table.proxy().inject(Rule::on("GetItem").table(crate::support::OLD).forever().fault(fault.clone()));
        let reply = world.charge(OnAbandoned::Reject).await;
        assert_eq!((reply.status().as_u16(), problem(&reply).as_str()), (503, "store-unavailable"), "{fault:?}");
        world.table.proxy().clear_rules();
        assert_is_the_old_response(&world.charge(OnAbandoned::Reject).await);
        assert_eq!(world.so_far(), 0);
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_and_an_id_that_cannot_be_computed_refuse_the_request() {
    let (world, row) = python("http by header").await;
    let mut odd = row["completed"].clone();
    odd["status"]["S"] = "PENDING".into();
    world.put(&odd).await;
    assert_eq!(problem(&world.charge(OnAbandoned::Rerun).await), "store-unavailable");
    let refused = world.charge_as("refused", OnAbandoned::Rerun, None).await;
    assert_eq!(problem(&refused), "store-unavailable");
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn an_old_result_that_is_no_response_ends_the_operation_all_the_same() {
    let (world, row) = python("http by header").await;
    let mut odd = row["completed"].clone();
    odd["data"]["S"] = r#"{"statusCode": "never"}"#.into();
    world.put(&odd).await;
    for _ in 0..2 {
        assert_eq!(problem(&world.charge(OnAbandoned::Rerun).await), "result-unreadable");
    }
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn an_attempt_that_died_before_it_looked_is_followed_by_one_that_looks() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Probe] {
        let (world, row) = python("http by header").await;
        world.put(&row["completed"]).await;
        // It dies: its claim is stored, its look never ends.
        world.table.proxy().inject(
            Rule::on("GetItem")
                .table(crate::support::OLD)
                .fault(Fault::Hold(idempotency_testkit::fault_proxy::Gate::new())),
        );
        let operation = HttpOperation::new(Operation::declare("create-charge", 1), scope::none());
        let operation = operation.on_abandoned(on_abandoned);
        let dies = world.send(&operation, None, Ok(Probed::DidNotHappen));
        assert!(tokio::time::timeout(Duration::from_millis(300), dies).await.is_err());
        world.advance(LEASE_IS_OVER);
        let reply = world.send(&operation, None, Ok(Probed::DidNotHappen)).await.unwrap();
        assert_is_the_old_response(&reply);
        assert_eq!(world.so_far(), 0);
    }
}

#[tokio::test]
async fn an_atomic_operation_looks_too() {
    let operation = HttpOperation::new(Operation::declare("create-charge", 1), scope::none()).atomic();
    let (world, row) = python("http by header").await;
    world.put(&row["in_progress"]).await;
    assert_eq!(problem(&world.send(&operation, None, Ok(Probed::Unknown)).await.unwrap()), "conflict");
    world.put(&row["completed"]).await;
    for _ in 0..2 {
        assert_is_the_old_response(&world.send(&operation, None, Ok(Probed::Unknown)).await.unwrap());
    }
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn of_many_at_once_one_looks_and_nobody_runs() {
    let (world, row) = python("http by header").await;
    world.put(&row["completed"]).await;
    let replies = futures::future::join_all((0..8).map(|_| world.charge(OnAbandoned::Rerun))).await;
    for reply in &replies {
        match reply.status().as_u16() {
            201 => assert_is_the_old_response(reply),
            _ => assert_eq!(problem(reply), "conflict"),
        }
    }
    assert_eq!(world.asked().iter().filter(|asked| *asked == "GetItem old").count(), 1);
    assert_eq!(world.so_far(), 0);
}

#[tokio::test]
async fn what_is_unknown_is_unknown_from_the_first_request_on_and_may_be_resolved_at_once() {
    let (world, row) = python("http by header").await;
    world.put(&row["in_progress"]).await;
    world.advance(OLD_TIME_IS_OVER);
    for _ in 0..3 {
        assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
    }
    // One look: after it the record says what is known.
    assert_eq!(world.asked().iter().filter(|asked| *asked == "GetItem old").count(), 1);
    world.operator_says_rerun().await;
    assert_eq!(world.charge(OnAbandoned::Reject).await.body().as_ref(), b"new");
    assert_eq!(world.so_far(), 1);
}

#[tokio::test]
async fn a_probe_that_cannot_say_is_asked_again_by_the_next_request() {
    let operation = HttpOperation::new(Operation::declare("create-charge", 1), scope::none());
    let operation = operation.on_abandoned(OnAbandoned::Probe);
    let (world, row) = python("http by header").await;
    world.put(&row["in_progress"]).await;
    world.advance(OLD_TIME_IS_OVER);
    for asked in 1..=3 {
        let reply = world.send(&operation, None, Ok(Probed::Unknown)).await.unwrap();
        assert_eq!((problem(&reply).as_str(), world.probes.load(Ordering::SeqCst)), ("outcome-unknown", asked));
    }
    let reply = world.send(&operation, None, Ok(Probed::DidNotHappen)).await.unwrap();
    assert_eq!((reply.body().as_ref(), world.so_far()), (&b"new"[..], 1));
}

#[tokio::test]
async fn an_operators_word_is_not_overruled_by_what_was_lost_before_it() {
    for on_abandoned in POLICIES {
        let (world, row) = python("http by header").await;
        world.put(&row["in_progress"]).await;
        world.advance(OLD_TIME_IS_OVER);
        assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
        world.advance(LEASE_IS_OVER);
        world.operator_says_rerun().await;
        // Nor by a look that fails in between.
        world.table.proxy().inject(Rule::on("GetItem").table(crate::support::OLD).forever().fault(Fault::ErrorBefore));
        assert_eq!(problem(&world.charge(on_abandoned).await), "store-unavailable");
        world.table.proxy().clear_rules();
        for _ in 0..2 {
            assert_eq!(world.charge(on_abandoned).await.body().as_ref(), b"new", "{on_abandoned:?}");
        }
        assert_eq!((world.so_far(), world.probes.load(Ordering::SeqCst)), (1, 0));
    }
}

#[tokio::test]
async fn what_the_old_function_did_counts_after_an_operators_word_too() {
    for (state, expected) in [("completed", "replay"), ("in_progress", "conflict")] {
        let (world, row) = python("http by header").await;
        let mut late = row["in_progress"].clone();
        world.put(&late).await;
        world.advance(OLD_TIME_IS_OVER);
        assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
        world.operator_says_rerun().await;
        // An old invocation that was begun later than anybody thought.
        let ends = world.now().get() + 10_000;
        late["in_progress_expiration"]["N"] = ends.to_string().into();
        world.put(if state == "completed" { &row["completed"] } else { &late }).await;
        let reply = world.charge(OnAbandoned::Reject).await;
        if expected == "replay" {
            assert_is_the_old_response(&reply);
        } else {
            assert_eq!(problem(&reply), "conflict");
            // The word was said before this one was lost.
            world.advance(Duration::from_secs(13));
            assert_eq!(problem(&world.charge(OnAbandoned::Reject).await), "outcome-unknown");
            world.operator_says_rerun().await;
            assert_eq!(world.charge(OnAbandoned::Reject).await.body().as_ref(), b"new");
        }
    }
}

#[tokio::test]
async fn a_handler_that_failed_says_nothing_of_an_old_attempt_whose_row_came_later() {
    for (state, on_abandoned, expected) in [
        ("in_progress", OnAbandoned::Reject, "outcome-unknown"),
        ("in_progress", OnAbandoned::Probe, "outcome-unknown"),
        ("in_progress", OnAbandoned::Rerun, "new"),
        ("completed", OnAbandoned::Reject, "replay"),
    ] {
        let (world, row) = python("http by header").await;
        world.fails_retryably.store(true, Ordering::SeqCst);
        assert_eq!(problem(&world.charge(on_abandoned).await), "retryable");
        world.fails_retryably.store(false, Ordering::SeqCst);
        world.put(&row[state]).await;
        world.advance(OLD_TIME_IS_OVER);
        let reply = world.charge(on_abandoned).await;
        match expected {
            "new" => assert_eq!(reply.body().as_ref(), b"new"),
            "replay" => assert_is_the_old_response(&reply),
            _ => assert_eq!(problem(&reply), expected),
        }
        assert_eq!(world.so_far(), if expected == "new" { 2 } else { 1 });
    }
}

#[tokio::test]
async fn an_old_body_keeps_every_byte() {
    let whole = r#"{"id": 123456789012345678901234567890, "at": 0.12345678901234567890, "a": 1.50}"#;
    let (world, row) = python("http by header").await;
    let mut odd = row["completed"].clone();
    odd["data"]["S"] = whole.into();
    world.put(&odd).await;
    for _ in 0..2 {
        assert_eq!(str::from_utf8(world.charge(OnAbandoned::Rerun).await.body().as_ref()).unwrap(), whole);
    }
}
