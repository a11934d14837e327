use std::time::Duration;

use idempotency_core::{Claimed, Event, Outcome, Status, StepError};
use idempotency_dynamodb::StoredItem;

use crate::world::{WORD, World, about};

const WITHIN: Duration = Duration::from_secs(30);

#[tokio::test]
async fn an_evicted_key_is_new_and_who_evicted_it_and_what_was_published_stays() {
    let world = World::start().await;
    let claim = world.claim("order-1", Duration::ZERO).await;
    let record = claim.record().clone();
    claim.attempt().step("reserve", async |_| Ok::<_, StepError>(1)).await.unwrap();
    claim.attempt().publish(Event::queue("receipts", &1).unwrap()).unwrap();
    let _ = world.engine.complete(claim, Outcome::new("done")).await;
    let told = world.run(&about("evict", "order-1", &[&WORD[..], &["--json"]].concat())).await;
    let json = told.json();
    assert_eq!((told.exit, json["done"].as_str(), json["rows_removed"].as_u64()), (0, Some("evicted"), Some(1)));
    let left = world.engine.store().partition(&record.key, WITHIN).await.unwrap();
    assert!(
        matches!(&left[..], [StoredItem::Audit(audit), StoredItem::Event { .. }] if audit.by == "ops" && audit.now.is_none()),
        "{left:?}"
    );
    let absent = world.run(&about("inspect", "order-1", &["--json"])).await;
    assert_eq!((absent.exit, absent.json()["beside"]["audit"][0]["action"].as_str()), (1, Some("evicted")));
    let Claimed::Fresh(claim) = world.ask("order-1").await else { panic!("the key is new") };
    assert_ne!(claim.record().execution, record.execution);
}

#[tokio::test]
async fn what_it_means_is_said_before_and_a_dry_run_removes_nothing() {
    let world = World::start().await;
    let claim = world.claim("order-1", Duration::ZERO).await;
    let record = claim.record().key.clone();
    let _ = world.engine.complete(claim, Outcome::new("done")).await;
    let dry = world.run(&about("evict", "order-1", &["--reason", "r", "--by", "ops", "--dry-run"])).await;
    assert!(dry.exit == 0 && dry.out.contains("Its effect HAPPENED"), "{}", dry.out);
    world.run(&about("evict", "order-1", &["--reason", "r", "--by", "ops"])).await.assert_refused(2, "say --yes");
    assert_eq!(world.record(&record).await.unwrap().status, Status::Completed);
}

#[tokio::test]
async fn a_running_attempts_record_and_one_that_is_not_there_are_not_evicted() {
    let world = World::start().await;
    let running = world.claim("running", Duration::ZERO).await.record().clone();
    world.run(&about("evict", "running", &WORD)).await.assert_refused(1, "an attempt may still be running");
    assert_eq!(world.record(&running.key).await, Some(running));
    world.run(&about("evict", "nobody", &WORD)).await.assert_refused(1, "the key is new already");
    world.run(&about("evict", "running", &["--yes"])).await.assert_refused(2, "--reason");
}
