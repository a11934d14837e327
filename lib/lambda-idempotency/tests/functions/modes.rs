//! Shadow and off.

use idempotency_core::Status;
use lambda_idempotency::{Mode, function::Error};

use crate::{
    failures::troubled,
    support::{Runs, World, archive_invoice, invoice, missing_parts},
};

#[tokio::test]
async fn in_shadow_mode_every_call_runs_and_records_are_kept() {
    let (world, runs) = (World::new().mode(Mode::Shadow), Runs::default());
    for run in 1..=2 {
        let done = archive_invoice(&world.idempotency, &runs, invoice(42), 1).await.unwrap();
        assert_eq!((done.value, done.replayed), (run, false));
    }
    assert_eq!(archive_invoice(&world.idempotency, &runs, invoice(42), 2).await.unwrap().value, 3, "a mismatch runs");
    assert_eq!(missing_parts(&world.idempotency, &runs, None, "c".into()).await.unwrap().value, 4, "no key runs");
    assert_eq!(world.record().status, Status::Completed);
}

#[tokio::test]
async fn in_mode_off_every_call_runs_and_the_store_is_not_used() {
    let (world, runs) = (World::new().mode(Mode::Off), Runs::default());
    for run in 1..=2 {
        assert_eq!(archive_invoice(&world.idempotency, &runs, invoice(42), 1).await.unwrap().value, run);
    }
    assert!(matches!(troubled(&world.idempotency, &runs, 1, "never").await, Err(Error::Failed(_))));
    assert!(matches!(troubled(&world.idempotency, &runs, 1, "nothing happened").await, Err(Error::Retryable { .. })));
    assert!(matches!(missing_parts(&world.idempotency, &runs, None, "c".into()).await, Err(Error::Key(_))));
    assert!(world.records().is_empty());
}
