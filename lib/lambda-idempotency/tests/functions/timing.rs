//! Waiting, leases and deadlines.

use std::time::Duration;

use idempotency_core::Record;
use lambda_idempotency::{Attempt, Window, function::BoxError, idempotent};

use crate::support::{Runs, World};

#[idempotent(operation = "slow", version = 1, scope = none, key = [id], in_flight = wait(Duration::from_secs(30)))]
async fn slow(runs: &Runs, id: u32) -> Result<u32, BoxError> {
    let _ = id;
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(runs.count())
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_may_wait_for_the_value() {
    let (world, runs) = (World::new(), Runs::default());
    let call = || slow(&world.idempotency, &runs, 1);
    let (first, second, third) = tokio::join!(call(), call(), call());
    let all: Vec<_> = [first, second, third].into_iter().map(|done| done.unwrap()).collect();
    assert_eq!(all.iter().map(|done| done.value).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(all.iter().filter(|done| done.replayed).count(), 2);
}

const MINUTE: Window = Window::declare(Duration::from_secs(3600), Duration::from_secs(7200), Duration::from_secs(60));

#[idempotent(operation = "timed", version = 1, scope = none, key = [id], window = MINUTE)]
async fn timed(id: u32, attempt: Attempt) -> Result<Duration, BoxError> {
    let _ = id;
    Ok(attempt.remaining())
}

#[idempotent(
    operation = "timed", version = 1, scope = none, key = [id],
    deadline = idempotency_core::EpochMillis::new(*ends_at)
)]
async fn timed_by_deadline(id: u32, #[shared] ends_at: &i64, attempt: Attempt) -> Result<Duration, BoxError> {
    let _ = (id, ends_at);
    Ok(attempt.remaining())
}

#[tokio::test]
async fn the_lease_is_the_deadline_or_the_longest_run_and_its_margin() {
    let world = World::new();
    let lease = |record: &Record| record.lease_until.saturating_since(world.now());
    assert_eq!(timed(&world.idempotency, 1).await.unwrap().value, Duration::from_secs(60));
    assert_eq!(lease(&world.record()), Duration::from_secs(63));
    let world = World::new();
    let ends_at = (world.now() + Duration::from_secs(7)).get();
    assert_eq!(timed_by_deadline(&world.idempotency, 1, &ends_at).await.unwrap().value, Duration::from_secs(7));
    assert_eq!(world.record().lease_until.saturating_since(world.now()), Duration::from_secs(10));
}
