//! A key that belongs to another region.

use super::*;
use crate::HomeRegion;

fn elsewhere(world: &World) -> Engine<Faulty> {
    world.engine.clone().with_home_region(HomeRegion::new("us-east-1", "eu-west-1"))
}

#[tokio::test]
async fn a_key_of_another_region_is_not_claimed_and_the_store_is_not_asked() {
    let world = World::new();
    let policies = [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe]
        .into_iter()
        .flat_map(|on_abandoned| [false, true].map(|other| (on_abandoned, other)))
        .map(|(on_abandoned, other)| {
            Policy::new(Window::http()).on_abandoned(on_abandoned).atomic(other).look_first(other)
        });
    for policy in policies {
        let refused = elsewhere(&world).claim(&world.request(), &policy).await;
        let Err(ClaimError::NotHome(not_home)) = refused else { panic!("{refused:?}") };
        assert_eq!((not_home.here(), not_home.home()), ("us-east-1", Some("eu-west-1")));
    }
    assert!(world.calls().is_empty());
    assert!(matches!(world.claim().await, Claimed::Fresh(_)), "without a home every region claims");
}

#[tokio::test]
async fn a_batch_of_another_regions_keys_is_not_claimed_either() {
    let world = World::new();
    let batched = elsewhere(&world).batched(Duration::ZERO);
    let refused = batched.claim(&world.request(), &Policy::new(Window::http())).await;
    assert!(matches!(refused, Err(ClaimError::NotHome(_))), "{refused:?}");
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn at_home_a_key_is_claimed_as_ever() {
    let world = World::new();
    let home = world.engine.clone().with_home_region(HomeRegion::new("eu-west-1", "eu-west-1"));
    let claimed = home.claim(&world.request(), &Policy::new(Window::http())).await.unwrap();
    assert!(matches!(claimed, Claimed::Fresh(_)), "{claimed:?}");
    assert_eq!(world.calls(), ["insert"]);
}

#[tokio::test]
async fn what_another_region_is_undoing_is_left_to_it() {
    let world = World::new();
    elsewhere(&world)
        .undo_beside(&world.request(), &Policy::new(Window::http()).undo(true), async |_| {
            panic!("nothing is undone here")
        })
        .await;
    assert!(world.calls().is_empty());
}
