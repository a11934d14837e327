//! Duplicates that wait for the attempt in flight. Tokio's clock stands still until everybody waits.

use tokio::time::sleep;

use super::*;

const MAX: Duration = Duration::from_secs(5);

fn waits(on_abandoned: OnAbandoned) -> Policy {
    Policy::new(Window::http()).on_abandoned(on_abandoned).wait(Some(MAX))
}

/// Lets the world's clock go on with tokio's, in small steps, until `act` has happened and for good.
async fn time_goes_on(world: &World, after: Duration, act: impl Future<Output = ()>) {
    let step = Duration::from_millis(10);
    let mut gone = Duration::ZERO;
    let mut act = Some(act);
    loop {
        if gone >= after
            && let Some(act) = act.take()
        {
            act.await;
        }
        sleep(step).await;
        world.advance(step);
        gone += step;
    }
}

async fn wait(
    world: &World,
    policy: Policy,
    request: Request,
    after: Duration,
    act: impl Future<Output = ()>,
) -> Claimed {
    tokio::select! {
        claimed = world.engine.claim(&request, &policy) => claimed.unwrap(),
        () = time_goes_on(world, after, act) => unreachable!(),
    }
}

fn reads_only(world: &World) -> usize {
    let calls = world.calls();
    assert_eq!(calls.iter().filter(|call| **call != "get").count(), 1, "one attempt to claim: {calls:?}");
    calls.len() - 1
}

#[tokio::test(start_paused = true)]
async fn a_waiter_gets_the_result_and_writes_nothing() {
    let world = World::new();
    let claim = world.fresh().await;
    world.calls();
    let completes = async {
        let _ = world.engine.complete(claim, Outcome::new("done")).await;
        assert!(world.engine.store().calls.lock().unwrap().contains(&"replace"));
    };
    let claimed = wait(&world, waits(OnAbandoned::Rerun), world.request(), Duration::from_secs(2), completes).await;
    let Claimed::Replay(replay) = claimed else { panic!("{claimed:?}") };
    assert_eq!(replay.body(), Some(&b"done"[..]));
    let calls = world.calls();
    assert_eq!(calls.iter().filter(|call| **call == "insert").count(), 1);
    assert_eq!(calls.iter().filter(|call| **call == "replace").count(), 1, "the owner's");
}

#[tokio::test(start_paused = true)]
async fn a_waiter_whose_time_is_over_is_told_to_come_again_and_has_read_a_bounded_number_of_times() {
    let world = World::new();
    let _owner = world.fresh().await;
    let before = world.stored();
    world.calls();
    let begin = tokio::time::Instant::now();
    let claimed = wait(&world, waits(OnAbandoned::Rerun), world.request(), MAX * 9, async {}).await;
    assert!(matches!(claimed, Claimed::Conflict { .. }), "{claimed:?}");
    assert_eq!(begin.elapsed(), MAX);
    // 50, 100, 200, 400 ms, and then every half second.
    assert_eq!(reads_only(&world), 13);
    assert_eq!(world.stored(), before);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_never_outlives_its_own_invocation() {
    let world = World::new();
    let _owner = world.fresh().await;
    let request = Request { deadline: world.engine.now() + Duration::from_secs(1), ..world.request() };
    let begin = tokio::time::Instant::now();
    let claimed = wait(&world, waits(OnAbandoned::Rerun), request, MAX * 9, async {}).await;
    assert!(matches!(claimed, Claimed::Conflict { .. }));
    assert_eq!(begin.elapsed(), Duration::from_millis(750), "a quarter second is kept for the answer");
}

/// A store whose reads never answer: it uses all the time that it is given.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_makes_no_wait_longer() {
    for (max, longest) in [(Duration::from_millis(1), 130), (Duration::from_secs(1), 1130), (Duration::MAX, 9_900)] {
        let world = World::new();
        let _owner = world.fresh().await;
        world.engine.store().reads_hang.store(true, Ordering::SeqCst);
        let policy = Policy::new(Window::http()).wait(Some(max));
        let begin = tokio::time::Instant::now();
        let claimed = wait(&world, policy, world.request(), MAX * 9, async {}).await;
        assert!(matches!(claimed, Claimed::Conflict { .. }), "{claimed:?}");
        assert!(begin.elapsed() <= Duration::from_millis(longest), "{max:?}: {:?}", begin.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_no_longer_than_asked_for_where_the_deadline_has_passed() {
    let world = World::new();
    let _owner = world.fresh().await;
    let request = Request { deadline: EpochMillis::new(600_000), ..world.request() };
    let policy = Policy::new(Window::http()).wait(Some(Duration::from_millis(100)));
    let begin = tokio::time::Instant::now();
    let claimed = wait(&world, policy, request, MAX * 9, async {}).await;
    assert!(matches!(claimed, Claimed::Conflict { .. }), "{claimed:?}");
    assert_eq!(begin.elapsed(), Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_whose_sandbox_was_frozen_past_its_deadline_waits_no_more() {
    let world = World::new();
    let _owner = world.fresh().await;
    let request = world.request();
    let thaw = async { world.advance(Duration::from_secs(60)) };
    let begin = tokio::time::Instant::now();
    let claimed = wait(&world, waits(OnAbandoned::Reject), request, Duration::from_millis(200), thaw).await;
    // The owner's lease is over too by then.
    assert!(matches!(claimed, Claimed::Uncertain), "{claimed:?}");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_takes_its_turn_when_the_key_is_released() {
    let world = World::new();
    let claim = world.fresh().await;
    let releases = async { drop(world.engine.release(claim).await) };
    let claimed = wait(&world, waits(OnAbandoned::Rerun), world.request(), Duration::from_secs(1), releases).await;
    let Claimed::Fresh(claim) = claimed else { panic!("{claimed:?}") };
    assert_eq!(claim.attempt().number().get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_with_less_than_half_of_its_time_left_does_not_begin() {
    let world = World::new();
    let claim = world.fresh().await;
    let request = Request { deadline: world.engine.now() + Duration::from_secs(4), ..world.request() };
    let releases = async { drop(world.engine.release(claim).await) };
    let claimed = wait(&world, waits(OnAbandoned::Rerun), request, Duration::from_millis(2500), releases).await;
    assert!(matches!(claimed, Claimed::Conflict { .. }), "{claimed:?}");
    assert_eq!(world.stored().status, Status::Released, "nothing was claimed");
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_gets_no_answer_waits_on() {
    let world = World::new();
    let claim = world.fresh().await;
    // The insert, and then reads without an answer.
    world.script([Fault::None, Fault::DropBefore, Fault::DropBefore]);
    let completes = async { drop(world.engine.complete(claim, Outcome::new("done")).await) };
    let claimed = wait(&world, waits(OnAbandoned::Rerun), world.request(), Duration::from_secs(1), completes).await;
    assert!(matches!(claimed, Claimed::Replay(_)), "{claimed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_attempt_ends_the_wait_as_its_policy_says() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe] {
        let world = World::new();
        let short = Request { deadline: world.engine.now() + Duration::from_millis(100), ..world.request() };
        drop(world.engine.claim(&short, &waits(on_abandoned)).await.unwrap());
        // The lease is over 3.1 s later.
        let claimed = wait(&world, waits(on_abandoned), world.request(), MAX * 9, async {}).await;
        match on_abandoned {
            OnAbandoned::Rerun => assert!(matches!(claimed, Claimed::Fresh(_))),
            OnAbandoned::Reject => assert!(matches!(claimed, Claimed::Uncertain)),
            OnAbandoned::Probe => assert!(matches!(claimed, Claimed::Abandoned(_))),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_request_never_waits_and_one_that_a_waiter_finds_is_a_mismatch() {
    let world = World::new();
    let claim = world.fresh().await;
    world.calls();
    let other = || Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
    let claimed = world.engine.claim(&other(), &waits(OnAbandoned::Rerun)).await.unwrap();
    assert!(matches!(claimed, Claimed::Mismatch), "{claimed:?}");
    assert_eq!(world.calls(), ["insert"]);
    // The record is deleted while somebody waits, and the key used for something else: the extra reads show another request's
    // result.
    let is_used_for_something_else = async {
        world.engine.store().inner.delete(&claim.record().key);
        let claimed = world.engine.claim(&other(), &Policy::new(Window::http())).await.unwrap();
        let Claimed::Fresh(claim) = claimed else { panic!("{claimed:?}") };
        let _ = world.engine.complete(claim, Outcome::new("other")).await;
    };
    let after = Duration::from_millis(400);
    let claimed = wait(&world, waits(OnAbandoned::Rerun), world.request(), after, is_used_for_something_else).await;
    assert!(matches!(claimed, Claimed::Mismatch), "{claimed:?}");
}
