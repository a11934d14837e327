//! Asking what became of a request.

use super::*;

async fn look_up(world: &World, on_abandoned: OnAbandoned) -> LookedUp {
    let (request, policy) = (world.request(), Policy::new(Window::http()).on_abandoned(on_abandoned));
    let before = world.engine.store().inner.records();
    world.calls();
    let looked_up = world.engine.look_up(&request.record_key(), request.deadline, &policy).await.unwrap();
    assert_eq!(world.calls(), ["get"]);
    assert_eq!(world.engine.store().inner.records(), before, "looking writes nothing");
    looked_up
}

#[tokio::test]
async fn a_request_is_nothing_then_in_flight_then_its_result_and_nothing_again() {
    let world = World::new();
    assert_eq!(look_up(&world, OnAbandoned::Rerun).await, LookedUp::Nothing);
    let claim = world.fresh().await;
    assert!(matches!(look_up(&world, OnAbandoned::Rerun).await, LookedUp::InFlight { .. }));
    assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, Completion::Stored);
    let LookedUp::Ended(replay) = look_up(&world, OnAbandoned::Rerun).await else { panic!() };
    assert_eq!(replay.body(), Some(&b"done"[..]));
    world.advance(Window::http().storage_ttl());
    assert_eq!(look_up(&world, OnAbandoned::Rerun).await, LookedUp::Nothing);
}

#[tokio::test]
async fn a_lost_attempt_is_uncertain_under_reject_and_nothing_where_repeating_helps() {
    let world = World::new();
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    assert_eq!(look_up(&world, OnAbandoned::Reject).await, LookedUp::Uncertain);
    assert_eq!(look_up(&world, OnAbandoned::Rerun).await, LookedUp::Nothing);
    assert_eq!(look_up(&world, OnAbandoned::Probe).await, LookedUp::Nothing);
}

#[tokio::test]
async fn a_released_key_has_no_result() {
    let world = World::new();
    assert_eq!(world.engine.release(world.fresh().await).await, Completion::Stored);
    assert_eq!(look_up(&world, OnAbandoned::Reject).await, LookedUp::Nothing);
}

#[tokio::test]
async fn steps_that_are_being_undone_are_in_flight_until_their_attempt_is_lost_and_stuck_ones_stay_so() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject] {
        let world = World::new();
        let claim = world.fresh().await;
        let compensating = Record { status: Status::Compensating, ..claim.record().clone() };
        let replaced =
            world.engine.store().inner.replace(claim.record().version(), &compensating, Duration::ZERO).await;
        assert_eq!(replaced.unwrap(), Replaced::Replaced);
        assert!(matches!(look_up(&world, on_abandoned).await, LookedUp::InFlight { .. }));
        // Repeating the request goes on with it, whatever the policy: nothing is uncertain about it.
        world.advance(PAST_THE_LEASE);
        assert_eq!(look_up(&world, on_abandoned).await, LookedUp::Nothing);
        let stuck = Record { status: Status::Stuck, ..compensating.clone() };
        let replaced = world.engine.store().inner.replace(compensating.version(), &stuck, Duration::ZERO).await;
        assert_eq!(replaced.unwrap(), Replaced::Replaced);
        for _ in 0..2 {
            assert_eq!(look_up(&world, on_abandoned).await, LookedUp::Stuck);
        }
    }
}
