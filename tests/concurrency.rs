//! Duplicates at the same time, in sandboxes of their own.

use std::time::Duration;

use futures::future::join_all;
use idempotency_core::Status;
use idempotency_testkit::{eventually, payment_provider::Behaviour};

use crate::world::{Charge, PATIENCE, World};

#[tokio::test]
async fn fifty_concurrent_duplicates_have_one_effect() {
    let world = World::start().await;
    world.provider(Behaviour { delay_before_charging: Duration::from_millis(300), ..Behaviour::default() });
    let charge = Charge::new("order-42");
    let answers = join_all((0..50).map(|_| world.charge(&charge))).await;
    assert!(world.charges() <= 1);

    let fresh: Vec<_> = answers.iter().filter(|answer| answer.status == 201 && !answer.is_replay()).collect();
    assert!(fresh.len() <= 1);
    for answer in &answers {
        match (answer.status, answer.is_replay()) {
            (201, false) => {}
            (201, true) => fresh[0].assert_replayed_by(answer),
            (409, _) => {
                assert_eq!(answer.problem(), "conflict");
                let seconds: u64 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
                assert!((1..=5).contains(&seconds));
            }
            // Fifty processes can keep a small machine too busy for a claim's answer to arrive in time.
            (503, _) => assert_eq!(answer.problem(), "store-unavailable"),
            other => panic!("{other:?}: {answer:?}"),
        }
    }
    // Whoever was told to come again comes again.
    let last = eventually(PATIENCE, async || {
        let answer = world.charge(&charge).await;
        (answer.status == 201).then_some(answer)
    })
    .await
    .unwrap();
    if let Some(fresh) = fresh.first() {
        fresh.assert_replayed_by(&last);
    }
    assert_eq!(world.charges(), 1);
    assert_eq!(world.record().await.status, Status::Completed);
    world.stop().await;
}

#[tokio::test]
async fn a_conflict_changes_nothing_and_a_mismatch_is_told_while_in_flight() {
    let world = World::start().await;
    let gate = world.hold(Status::Completed, 1);
    let charge = Charge::new("order-42");
    let first = world.charge(&charge);
    let meanwhile = async {
        gate.reached().await;
        let record = world.record().await;
        let conflict = world.charge(&charge).await;
        assert_eq!((conflict.status, conflict.problem().as_str()), (409, "conflict"));
        let mismatch = world.charge(&charge.clone().amount(1)).await;
        assert_eq!((mismatch.status, mismatch.problem().as_str()), (422, "mismatch"));
        assert_eq!(world.record().await, record);
        gate.open();
    };
    let (first, ()) = futures::future::join(first, meanwhile).await;
    assert_eq!((first.status, first.is_replay()), (201, false));
    assert_eq!(world.charges(), 1);
    world.stop().await;
}
