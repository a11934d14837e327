//! Undoing, and requests, deployments and attempts that know nothing of it.

use super::{super::events_in_log::Errors, *};

fn other(world: &World) -> Request {
    Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() }
}

async fn beside(world: &World, shop: &Shop, policy: Policy) {
    world.engine.undo_beside(&other(world), &policy, |undo| shop.undo(undo)).await;
}

#[tokio::test]
async fn a_request_that_is_another_one_now_goes_on_undoing_for_the_one_that_failed() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Done, Says::Later]);
    assert_eq!(asked(&world, &shop).await, Answer::Later);
    beside(&world, &shop, UNDOES).await;
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
    let failed = world.stored();
    assert_eq!((failed.status, failed.fingerprint), (Status::Failed, world.request().fingerprint));
    // The failure is its own request's, and stays a mismatch for the other one.
    assert!(matches!(world.engine.claim(&other(&world), &UNDOES).await, Ok(Claimed::Mismatch)));
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_somebody_is_at_or_is_not_being_undone_is_left_alone_by_other_requests() {
    let (world, shop) = (World::new(), Shop::default());
    beside(&world, &shop, UNDOES).await;
    let claim = world.fresh_under(UNDOES).await;
    let _ = shop.handler(claim.attempt()).await;
    world.calls();
    let left_alone = async |calls: &[&str]| {
        let before = world.stored();
        beside(&world, &shop, UNDOES).await;
        assert_eq!((world.stored(), world.calls()), (before, calls.to_vec()));
    };
    left_alone(&["get"]).await;
    shop.says([Says::Hangs]);
    let hangs = tokio::time::timeout(Duration::from_millis(20), compensate(&world, &shop, claim, failure()));
    assert!(hangs.await.is_err());
    world.calls();
    left_alone(&["get"]).await;
    world.advance(PAST_THE_LEASE);
    // An operation that has lost its undo asks nothing, and a request that is lost on its way changes nothing.
    beside(&world, &shop, Policy::new(Window::http())).await;
    assert_eq!(world.calls(), Vec::<&str>::new());
    world.script([Fault::DropBefore]);
    left_alone(&["get"]).await;
    shop.says([Says::Error]);
    beside(&world, &shop, UNDOES).await;
    assert_eq!(world.stored().status, Status::Stuck);
    world.calls();
    left_alone(&["get"]).await;
}

#[tokio::test]
async fn an_operation_without_its_undo_is_stuck_where_a_lost_attempt_has_done_what_is_to_be_undone() {
    // The output is stored, or only that the call was begun.
    for is_stored in [true, false] {
        let (world, shop) = (World::new(), Shop::default());
        let lost = world.fresh_under(UNDOES).await;
        let charge = lost.attempt().step_with_undo("charge", async |_| match is_stored {
            true => Ok::<_, StepError>(7),
            false => std::future::pending().await,
        });
        let _ = tokio::time::timeout(Duration::from_millis(20), charge).await;
        world.advance(PAST_THE_LEASE);

        let without = Policy::new(Window::http());
        let next = world.fresh_under(without).await;
        assert_eq!(next.attempt().step("charge", async |_| Ok::<_, StepError>(7)).await.unwrap(), 7);
        let gone = |_: Undo| async { Err("nothing undoes it any more".into()) };
        assert_eq!(world.engine.compensate(next, failure(), gone).await, Compensated::Stuck, "{is_stored}");
        assert_eq!(world.stored().status, Status::Stuck);
        assert_eq!(asked(&world, &shop).await, Answer::Stuck);
    }
}

#[tokio::test]
async fn an_operation_without_an_undo_fails_with_one_write_whatever_attempt_it_is() {
    let world = World::new();
    let policy = Policy::new(Window::http());
    drop(world.fresh_under(policy).await);
    world.advance(PAST_THE_LEASE);
    let next = world.fresh_under(policy).await;
    world.calls();
    let compensated = compensate(&world, &Shop::default(), next, failure()).await;
    assert_eq!(compensated, Compensated::Failed { completion: Completion::Stored, failure: None });
    assert_eq!(world.calls(), ["replace"]);
}

#[tokio::test]
async fn a_call_that_lands_after_its_operation_was_undone_is_an_error_in_the_log() {
    let errors = Errors::default();
    let _guard = tracing::subscriber::set_default(errors.clone());
    for is_undone in [false, true] {
        let (world, shop) = (World::new(), Shop::default());
        let slow = world.fresh_under(UNDOES).await;
        let charge = slow.attempt().step_with_undo("charge", async |key| {
            world.advance(PAST_THE_LEASE);
            let next = world.fresh_under(UNDOES).await;
            match is_undone {
                // It finds that nothing was charged.
                true => {
                    let undone = world.engine.compensate(next, failure(), async |_| Ok(Undone::Done)).await;
                    assert!(matches!(undone, Compensated::Failed { completion: Completion::Stored, .. }));
                }
                // It goes on with the same key, and one charge is all there is.
                false => assert_eq!(world.engine.release(next).await, Completion::Stored),
            }
            shop.happens("charge", &key);
            Ok::<_, StepError>("charged".to_owned())
        });
        assert_eq!(charge.await.unwrap(), "charged");
        assert_eq!(errors.named("CompensationLost: "), usize::from(is_undone));
    }
}

#[tokio::test]
async fn parts_of_a_large_failure_are_kept_as_long_as_its_record() {
    let (world, shop) = (World::new(), Shop::default());
    let store = world.engine.store();
    let large = Outcome::new(noise(100_000));
    shop.says([Says::Later, Says::Error]);
    assert_eq!(request(&world, &shop, large).await.unwrap(), Answer::Later);
    let kept = |count: usize| {
        let kept = store.parts_expire_at.lock().unwrap().clone();
        assert_eq!(kept.len(), count);
        *kept.last().unwrap()
    };
    assert!(kept(1) >= world.stored().expires_at);
    // An hour later somebody goes on, in vain: the record is kept for a year from then on.
    world.advance(Duration::from_secs(3600));
    assert_eq!(asked(&world, &shop).await, Answer::Stuck);
    assert_eq!(world.stored().expires_at, (world.engine.now() + Window::MAX_STORAGE_TTL).ceil_seconds());
    assert!(kept(2) >= world.stored().expires_at);
}

#[test]
fn what_results_say_of_themselves_in_logs_has_no_bytes_of_them() {
    let outcome = Outcome::new("a secret").or_reduced("secret");
    assert_eq!(format!("{outcome:?}"), "Outcome { bytes: 8, reduced_bytes: Some(6) }");
}

#[tokio::test]
async fn what_a_replay_says_of_itself_in_logs_has_no_bytes_of_it() {
    let world = World::new();
    let _ = world.engine.complete(world.fresh().await, Outcome::new("a secret")).await;
    assert_eq!(format!("{:?}", world.replay().await), "Replay { bytes: Some(8), failed: false }");
}
