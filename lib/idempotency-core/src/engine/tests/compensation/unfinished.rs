//! A step whose attempt was lost while its call was made, in an operation that fails for good afterwards.

use super::*;

/// The first attempt reserves a seat and is lost while it charges: the callee has charged, or not.
async fn lost_while_charging(world: &World, shop: &Shop) {
    let claim = world.fresh_under(UNDOES).await;
    let attempt = claim.attempt();
    seat(shop, attempt).await;
    let charge = attempt.step_with_undo("charge", async |key| {
        shop.happens("charge", &key);
        std::future::pending::<Result<String, StepError>>().await
    });
    assert!(tokio::time::timeout(Duration::from_millis(20), charge).await.is_err());
    world.advance(PAST_THE_LEASE);
    world.calls();
}

async fn seat(shop: &Shop, attempt: &Attempt) {
    let seat = attempt.step_with_undo("seat", async |key| {
        shop.happens("seat", &key);
        Ok::<_, StepError>("seat is done".to_owned())
    });
    assert_eq!(seat.await.unwrap(), "seat is done");
}

/// What is undone, in order, and whether its output is known.
async fn undone(world: &World, claim: Claim) -> Vec<(String, bool)> {
    let undone = Mutex::new(Vec::new());
    let undo = async |undo: Undo| {
        let is_known = match undo.output::<String>() {
            Ok(_) => true,
            Err(StepError::Unfinished { .. }) => false,
            Err(other) => panic!("{other}"),
        };
        undone.lock().unwrap().push((undo.step().to_owned(), is_known));
        Ok(Undone::Done)
    };
    let compensated = world.engine.compensate(claim, failure(), undo).await;
    assert!(matches!(compensated, Compensated::Failed { completion: Completion::Stored, .. }), "{compensated:?}");
    undone.into_inner().unwrap()
}

#[tokio::test]
async fn it_is_undone_although_the_next_attempt_fails_before_it_comes_there() {
    let (world, shop) = (World::new(), Shop::default());
    lost_while_charging(&world, &shop).await;
    let next = world.fresh_under(UNDOES).await;
    assert_eq!(undone(&world, next).await, [("charge".to_owned(), false), ("seat".to_owned(), true)]);
    assert_eq!(world.stored().status, Status::Failed);
}

#[tokio::test]
async fn an_undo_that_asks_for_its_output_leaves_the_operation_stuck() {
    let (world, shop) = (World::new(), Shop::default());
    lost_while_charging(&world, &shop).await;
    let next = world.fresh_under(UNDOES).await;
    let undo = async |undo: Undo| {
        undo.output::<String>()?;
        Ok(Undone::Done)
    };
    assert_eq!(world.engine.compensate(next, failure(), undo).await, Compensated::Stuck);
    assert_eq!(world.stored().status, Status::Stuck);
}

#[tokio::test]
async fn it_is_undone_although_a_later_attempts_call_has_failed() {
    // The answer may be about the later call alone: the callee refuses the key for another body, or the account is gone.
    let (world, shop) = (World::new(), Shop::default());
    lost_while_charging(&world, &shop).await;
    let next = world.fresh_under(UNDOES).await;
    seat(&shop, next.attempt()).await;
    let declined = next.attempt().step_with_undo::<String, BoxError, _>("charge", async |_| Err("declined".into()));
    assert_eq!(declined.await.unwrap_err().to_string(), "declined");
    assert_eq!(undone(&world, next).await, [("charge".to_owned(), false), ("seat".to_owned(), true)]);
}

#[tokio::test]
async fn one_that_is_named_otherwise_now_is_refused_before_its_call() {
    let (world, shop) = (World::new(), Shop::default());
    lost_while_charging(&world, &shop).await;
    let next = world.fresh_under(UNDOES).await;
    seat(&shop, next.attempt()).await;
    let charge = next.attempt().step_with_undo::<String, StepError, _>("charge-card", async |_| panic!("called"));
    assert!(matches!(charge.await, Err(StepError::Order { earlier, .. }) if earlier.contains("charge")));
}

#[tokio::test]
async fn an_output_that_is_no_json_leaves_a_step_to_be_undone_without_it() {
    struct NoJson;
    impl serde::Serialize for NoJson {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no JSON"))
        }
    }
    impl<'de> serde::Deserialize<'de> for NoJson {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Err(serde::de::Error::custom("no JSON"))
        }
    }
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    let charge = claim.attempt().step_with_undo("charge", async |_| Ok::<_, StepError>(NoJson));
    assert!(matches!(charge.await, Err(StepError::Json { .. })));
    let never = async |_: Undo| panic!("not before the lease is over");
    assert_eq!(world.engine.compensate(claim, failure(), never).await, Compensated::Later);
    world.advance(PAST_THE_LEASE);
    let Claimed::Compensating(claim) = world.claim_under(UNDOES).await else { panic!() };
    let undo = async |undo: Undo| {
        assert!(matches!(undo.output::<NoJson>(), Err(StepError::Unfinished { .. })));
        Ok(Undone::Done)
    };
    assert!(matches!(world.engine.resume_compensation(claim, undo).await, Compensated::Failed { .. }));
}

#[tokio::test]
async fn a_step_that_was_stored_without_an_undo_and_has_one_now_is_undone() {
    let world = World::new();
    let first = world.fresh_under(UNDOES).await;
    first.attempt().step("charge", async |_| Ok::<_, StepError>("done".to_owned())).await.unwrap();
    world.advance(PAST_THE_LEASE);
    let next = world.fresh_under(UNDOES).await;
    let read = next.attempt().step_with_undo("charge", async |_| panic!("called"));
    let read: Result<String, StepError> = read.await;
    assert_eq!(read.unwrap(), "done");
    assert_eq!(undone(&world, next).await, [("charge".to_owned(), true)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_made_when_the_lease_is_over_by_then() {
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    let charge = claim.attempt().step_with_undo::<String, StepError, _>("charge", async |_| panic!("called"));
    // Storing that it is begun takes long.
    world.script([Fault::Throttle]);
    let late = async {
        tokio::task::yield_now().await;
        world.advance(PAST_THE_LEASE);
    };
    let (charge, ()) = tokio::join!(charge, late);
    assert!(matches!(charge, Err(StepError::Overdue { .. })), "{charge:?}");
}

#[tokio::test]
async fn its_call_is_made_again_with_the_same_key_and_then_it_has_an_output() {
    let (world, shop) = (World::new(), Shop::default());
    lost_while_charging(&world, &shop).await;
    let next = world.fresh_under(UNDOES).await;
    seat(&shop, next.attempt()).await;
    let charged = next.attempt().step_with_undo("charge", async |key| {
        shop.happens("charge", &key);
        Ok::<_, StepError>("charge is done".to_owned())
    });
    assert_eq!(charged.await.unwrap(), "charge is done");
    assert_eq!(world.calls(), ["insert", "replace", "rows", "insert row"], "that it was begun is stored once");
    assert_eq!(undone(&world, next).await, [("charge".to_owned(), true), ("seat".to_owned(), true)]);
    let effects = shop.effects.lock().unwrap();
    assert_eq!(effects[1], effects[2]);
}

#[tokio::test]
async fn a_call_is_not_made_where_it_cannot_be_stored_that_it_is_begun() {
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    world.script([Fault::Refuse]);
    let charge = claim.attempt().step_with_undo::<String, StepError, _>("charge", async |_| panic!("called"));
    assert!(matches!(charge.await, Err(StepError::Store(_))));
}

#[tokio::test]
async fn a_step_without_an_undo_and_one_without_protection_are_not_stored_as_begun() {
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    claim.attempt().step("mail", async |_| Ok::<_, StepError>(1)).await.unwrap();
    assert_eq!(world.calls(), ["insert", "insert row"]);
    let unprotected = world.engine.unprotected_attempt(&world.request(), &UNDOES).unwrap();
    unprotected.step_with_undo("charge", async |_| Ok::<_, StepError>(1)).await.unwrap();
    assert_eq!(world.calls(), <[&str; 0]>::default());
}
