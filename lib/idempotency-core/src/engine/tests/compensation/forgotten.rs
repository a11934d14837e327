//! What is left to be undone is not forgotten with the window, nor with a record that somebody deletes.

use super::*;

const WINDOW: Duration = Duration::from_secs(48 * 3600);

#[tokio::test]
async fn undoing_goes_on_when_the_window_is_over_and_then_the_failure_is_kept_for_a_window() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Later]);
    assert_eq!(asked(&world, &shop).await, Answer::Later);
    for _ in 0..3 {
        world.advance(WINDOW * 2);
        shop.says([Says::Later]);
        assert_eq!(asked(&world, &shop).await, Answer::Later);
        assert_eq!(world.stored().status, Status::Compensating);
    }
    world.advance(WINDOW * 2);
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
    assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
    let ordinary = (world.engine.now() + Window::http().storage_ttl()).ceil_seconds();
    assert_eq!((world.stored().status, world.stored().expires_at), (Status::Failed, ordinary));
}

#[tokio::test]
async fn an_attempt_that_is_lost_while_it_undoes_is_followed_within_a_window_and_a_day_or_the_operation_is_stuck() {
    let day = Duration::from_secs(24 * 3600);
    for (time, expected) in [
        (WINDOW + day - PAST_THE_LEASE, Answer::Failed(Some("sold out".into()))),
        (WINDOW + day + PAST_THE_LEASE, Answer::Stuck),
    ] {
        let (world, shop) = (World::new(), Shop::default());
        let claim = world.fresh_under(UNDOES).await;
        let _ = shop.handler(claim.attempt()).await;
        shop.says([Says::Hangs]);
        let lost = tokio::time::timeout(Duration::from_millis(20), compensate(&world, &shop, claim, failure()));
        assert!(lost.await.is_err());
        world.advance(time);
        assert_eq!(asked(&world, &shop).await, expected);
        assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_record_without_its_rows_is_stuck_and_not_taken_for_undone() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Later]);
    assert_eq!(asked(&world, &shop).await, Answer::Later);
    // Its rows are another generation's.
    let stored = world.stored();
    let other = Record { execution: ExecutionId::from_bytes([9; 16]), ..stored.clone() };
    let replaced = world.engine.store().inner.replace(stored.version(), &other, Duration::ZERO).await.unwrap();
    assert_eq!(replaced, Replaced::Replaced);
    assert_eq!(asked(&world, &shop).await, Answer::Stuck);
    assert_eq!(world.stored().status, Status::Stuck);
}

#[tokio::test]
async fn where_the_record_was_deleted_it_is_written_anew_and_everything_undone() {
    let (world, shop) = (World::new(), Shop::default());
    let claim = world.fresh_under(UNDOES).await;
    let _ = shop.handler(claim.attempt()).await;
    world.engine.store().inner.delete(&claim.record().key);
    let compensated = compensate(&world, &shop, claim, failure()).await;
    assert!(matches!(compensated, Compensated::Failed { completion: Completion::Stored, .. }), "{compensated:?}");
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
}

#[tokio::test]
async fn nothing_is_undone_where_another_generation_has_begun() {
    let (world, shop) = (World::new(), Shop::default());
    let claim = world.fresh_under(UNDOES).await;
    let _ = shop.handler(claim.attempt()).await;
    world.engine.store().inner.delete(&claim.record().key);
    let other = world.fresh_under(UNDOES).await;
    let compensated = compensate(&world, &shop, claim, failure()).await;
    assert_eq!(compensated, Compensated::Ended(Completion::Vanished));
    assert_eq!(shop.names(), ["seat", "mail", "charge"]);
    assert_eq!(world.stored(), *other.record());
}

#[tokio::test]
async fn an_atomic_operation_finds_one_that_was_being_undone_to_be_stuck() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Later]);
    assert_eq!(asked(&world, &shop).await, Answer::Later);
    let before = world.stored();
    let Claimed::Fresh(claim) = world.claim_under(Policy::new(Window::http()).atomic(true)).await else { panic!() };
    world.stage(&claim);
    let completion = world.engine.complete(claim, Outcome::new("done")).await;
    assert_eq!(completion, Completion::Instead(Box::new(Claimed::Stuck)));
    assert_eq!((world.stored(), world.effects()), (before, 0));
}

#[tokio::test]
async fn a_resume_that_finds_a_part_of_the_rows_is_stuck() {
    let (world, hour) = (World::new(), Duration::from_secs(3600));
    let seat = async |claim: &Claim| {
        claim.attempt().step_with_undo("seat", async |_| Ok::<_, StepError>(1)).await.unwrap();
    };
    let first = world.fresh_under(UNDOES).await;
    seat(&first).await;
    assert_eq!(world.engine.release(first).await, Completion::Stored);
    world.advance(20 * hour);
    let second = world.fresh_under(UNDOES).await;
    seat(&second).await;
    second.attempt().step_with_undo("charge", async |_| Ok::<_, StepError>(1)).await.unwrap();
    let hangs = async |_: Undo| std::future::pending::<Result<Undone, BoxError>>().await;
    let lost = tokio::time::timeout(Duration::from_millis(20), world.engine.compensate(second, failure(), hangs));
    assert!(lost.await.is_err());
    // One by one the rows go; as long as not all are sure to be there, and some are not, nothing is taken for undone.
    let rows = world.engine.store().inner.all_rows();
    assert!(rows.iter().all(|row| row.expires_at == rows[0].expires_at), "{rows:?}");
    world.advance(WINDOW + 25 * hour);
    world.engine.store().inner.delete_rows(|row| row.name == "seat");
    let Claimed::Compensating(third) = world.claim_under(UNDOES).await else { panic!() };
    let never = async |_: Undo| panic!("nobody knows what else is to be undone");
    assert_eq!(world.engine.resume_compensation(third, never).await, Compensated::Stuck);
}

#[tokio::test]
async fn a_record_that_is_deleted_while_its_steps_are_undone_hides_nothing() {
    for (says, expected) in [(Undone::Later, Status::Compensating), (Undone::Done, Status::Failed)] {
        let (world, shop) = (World::new(), Shop::default());
        let claim = world.fresh_under(UNDOES).await;
        let _ = shop.handler(claim.attempt()).await;
        let undo = async |_: Undo| {
            world.engine.store().inner.delete(&world.request().record_key());
            Ok::<_, BoxError>(says)
        };
        let compensated = world.engine.compensate(claim, failure(), undo).await;
        assert_eq!(world.status(), Some(expected), "{compensated:?}");
        let answer = asked(&world, &shop).await;
        assert_eq!(answer, Answer::Failed(Some("sold out".into())));
        assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_failure_whose_text_is_lost_stays_a_failure() {
    let world = World::new();
    let claim = world.fresh().await;
    assert_eq!(world.engine.fail(claim, Outcome::new(noise(100_000))).await, Completion::Stored);
    let record = world.stored();
    let store = &world.engine.store().inner;
    store.put_parts(&record.key, record.owner, &[], record.expires_at, Duration::ZERO).await.unwrap();
    let replay = world.replay().await;
    assert!(replay.is_failure() && replay.body().is_none());
}
