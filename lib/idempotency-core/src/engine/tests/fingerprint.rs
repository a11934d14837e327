//! The same key with another request is a mismatch on every path that ends with what is stored, and is told nothing of it.

use super::*;

const OTHER: Fingerprint = Fingerprint::from_bytes([8; 32]);

impl World {
    /// A claim of the same key by another request.
    async fn claim_by_another_request(&self, on_abandoned: OnAbandoned) -> Claimed {
        let request = Request { fingerprint: OTHER, ..self.request() };
        self.engine.claim(&request, &Policy::new(Window::http()).on_abandoned(on_abandoned)).await.unwrap()
    }

    async fn assert_mismatch(&self, path: &str, on_abandoned: OnAbandoned) {
        let before = self.stored();
        let claimed = self.claim_by_another_request(on_abandoned).await;
        assert!(matches!(claimed, Claimed::Mismatch), "{path} under {on_abandoned:?}: {claimed:?}");
        assert_eq!(self.stored(), before, "{path}");
    }
}

#[tokio::test]
async fn another_request_is_a_mismatch_whatever_is_stored_and_however_it_is_shown() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe] {
        // The old record comes with the refused insert.
        let world = World::new();
        drop(world.fresh().await);
        world.assert_mismatch("in flight", on_abandoned).await;
        world.advance(PAST_THE_LEASE);
        world.assert_mismatch("abandoned", on_abandoned).await;

        let world = World::new();
        let _ = world.engine.complete(world.fresh().await, Outcome::new("done")).await;
        world.assert_mismatch("completed", on_abandoned).await;

        let world = World::new();
        let _ = world.engine.fail(world.fresh().await, Outcome::new("failed")).await;
        world.assert_mismatch("failed", on_abandoned).await;

        let world = World::new();
        let _ = world.engine.release(world.fresh().await).await;
        world.assert_mismatch("released", on_abandoned).await;

        // The same with a claim whose first transmission was refused and whose reply was lost.
        let world = World::new();
        let _ = world.engine.complete(world.fresh().await, Outcome::new("done")).await;
        world.script([Fault::RepeatAfterLostReply]);
        world.assert_mismatch("repeated", on_abandoned).await;
    }
}

#[tokio::test]
async fn another_request_that_was_quicker_is_a_mismatch_for_a_takeover_after_a_probe() {
    let world = World::new();
    drop(world.fresh().await);
    world.advance(PAST_THE_LEASE);
    let probe = Policy::new(Window::http()).on_abandoned(OnAbandoned::Probe);
    let claimed = world.engine.claim(&world.request(), &probe).await.unwrap();
    let Claimed::Abandoned(abandoned) = claimed else { panic!("{claimed:?}") };
    // While the outside world is asked, the record is deleted and the key used for something else.
    world.engine.store().inner.delete(&world.stored().key);
    let Claimed::Fresh(_other) = world.claim_by_another_request(OnAbandoned::Probe).await else { panic!() };
    let before = world.stored();
    let claimed = world.engine.take_over(abandoned, &world.request(), &probe).await.unwrap();
    assert!(matches!(claimed, Claimed::Mismatch), "{claimed:?}");
    assert_eq!(world.stored(), before);
}
