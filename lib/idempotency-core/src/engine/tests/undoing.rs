//! What is left of an operation that failed, and of one that came too late.

use crate::{StepError, TableWrite, Undo, Undone};

use super::*;

const POLICY: Policy = Policy::new(Window::http()).undo(true);

type Error = Box<dyn std::error::Error + Send + Sync>;

async fn later(_: Undo) -> Result<Undone, Error> {
    Ok(Undone::Later)
}

async fn never(_: Undo) -> Result<Undone, Error> {
    Err("it cannot be undone".into())
}

async fn charged(world: &World) -> Claim {
    let Claimed::Fresh(claim) = world.engine.claim(&world.request(), &POLICY).await.unwrap() else { panic!() };
    claim.attempt().step_with_undo("charge", async |_| Ok::<_, StepError>(7)).await.unwrap();
    claim
}

async fn resumed(world: &World) -> Claim {
    match world.engine.claim(&world.request(), &POLICY).await.unwrap() {
        Claimed::Compensating(claim) => claim,
        other => panic!("{other:?}"),
    }
}

/// Bytes that do not fit into a record however they are packed.
fn large() -> Bytes {
    let mut bits = 1_u64;
    let next = |_| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 56) as u8
    };
    (0..3 * StoredResult::MAX_INLINE).map(next).collect()
}

#[tokio::test]
async fn a_large_failure_is_replayed_whoever_finished_undoing() {
    let world = World::new();
    let compensated = world.engine.compensate(charged(&world).await, Outcome::new(large()), later).await;
    assert_eq!(compensated, Compensated::Later);
    let done = async |_: Undo| Ok(Undone::Done);
    let compensated = world.engine.resume_compensation(resumed(&world).await, done).await;
    let Compensated::Failed { completion: Completion::Stored, failure: Some(failure) } = compensated else {
        panic!("{compensated:?}")
    };
    assert_eq!(failure.body(), Some(&large()[..]));
    assert_eq!(world.replay().await.body(), Some(&large()[..]));
}

/// How far a step is when it is dropped.
#[derive(Clone, Copy)]
enum Dropped {
    InItsCall,
    BeforeItsOutputIsStored,
    OnceItsOutputIsStored,
}

/// A handler that makes a call which is refused, beside a step that is dropped then.
async fn refused_beside(claim: &Claim, step: impl Future<Output = Result<i32, Error>>) -> Result<(i32, ()), Error> {
    let refused = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Err(format!("attempt {} was declined", claim.attempt().number().get()).into())
    };
    tokio::try_join!(step, refused)
}

#[tokio::test(start_paused = true)]
async fn a_step_dropped_on_its_way_is_undone_when_its_call_cannot_arrive_any_more() {
    for dropped in [Dropped::InItsCall, Dropped::BeforeItsOutputIsStored, Dropped::OnceItsOutputIsStored] {
        let world = World::new();
        let claim = world.fresh_under(POLICY).await;
        // That it is begun is stored.
        world.script([
            Fault::None,
            if let Dropped::OnceItsOutputIsStored = dropped { Fault::HangAfter } else { Fault::HangBefore },
        ]);
        let reserve = claim.attempt().step_with_undo("reserve", async |_| {
            if let Dropped::InItsCall = dropped {
                std::future::pending::<()>().await;
            }
            Ok::<_, Error>(7)
        });
        assert!(refused_beside(&claim, reserve).await.is_err());
        world.script([]);
        let nothing = async |_: Undo| panic!("the call may be on its way");
        assert_eq!(world.engine.compensate(claim, Outcome::new("declined"), nothing).await, Compensated::Later);
        assert_eq!(world.status(), Some(Status::Compensating));
        assert!(matches!(world.claim_under(POLICY).await, Claimed::Conflict { .. }), "the lease runs on");

        world.advance(PAST_THE_LEASE);
        let undone = Mutex::new(vec![]);
        let undo = async |undo: Undo| {
            undone.lock().unwrap().push((undo.step().to_owned(), undo.output::<i32>().ok()));
            Ok(Undone::Done)
        };
        let compensated = world.engine.resume_compensation(resumed(&world).await, undo).await;
        assert!(matches!(compensated, Compensated::Failed { completion: Completion::Stored, .. }), "{compensated:?}");
        let output = matches!(dropped, Dropped::OnceItsOutputIsStored).then_some(7);
        assert_eq!(undone.into_inner().unwrap(), [("reserve".to_owned(), output)]);
        assert_eq!(world.replay().await.body(), Some(&b"declined"[..]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_step_without_an_undo_and_one_whose_call_failed_keep_no_failure_from_being_final() {
    for has_undo in [false, true] {
        let world = World::new();
        let claim = world.fresh_under(POLICY).await;
        let attempt = claim.attempt();
        if has_undo {
            let failed = attempt.step_with_undo("reserve", async |_| Err::<i32, Error>("sold out".into()));
            assert_eq!(failed.await.unwrap_err().to_string(), "sold out");
            // It has its place, and was never begun.
            drop(attempt.step_with_undo("charge", async |_| Ok::<_, Error>(7)));
        } else {
            let hangs = attempt.step("reserve", async |_| std::future::pending::<Result<i32, Error>>().await);
            assert!(refused_beside(&claim, hangs).await.is_err());
        }
        let compensated = world.engine.compensate(claim, Outcome::new("declined"), never).await;
        assert_eq!(compensated, Compensated::Failed { completion: Completion::Stored, failure: None });
        assert_eq!(world.replay().await.body(), Some(&b"declined"[..]));
    }
}

#[tokio::test]
async fn rows_of_a_stuck_record_are_kept_as_long_as_it_is() {
    let world = World::new();
    let compensated = world.engine.compensate(charged(&world).await, Outcome::new("declined"), never).await;
    assert_eq!(compensated, Compensated::Stuck);
    let stuck = world.stored();
    assert_eq!(stuck.status, Status::Stuck);
    let rows = world.engine.store().inner.all_rows();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row.expires_at >= stuck.expires_at), "{rows:?} {stuck:?}");
}

#[tokio::test]
async fn what_an_undo_stages_is_refused_and_not_forgotten() {
    let world = World::new();
    assert_eq!(
        world.engine.compensate(charged(&world).await, Outcome::new("declined"), later).await,
        Compensated::Later
    );
    let claim = resumed(&world).await;
    let stages = async |undo: Undo| {
        let write = TableWrite::put("t", std::collections::BTreeMap::from([("id", "a")]))?;
        undo.attempt().stage(write).map_err(Error::from)?;
        Ok(Undone::Done)
    };
    assert_eq!(world.engine.resume_compensation(claim, stages).await, Compensated::Stuck);
}

#[tokio::test]
async fn an_attempt_that_has_claimed_nothing_commits_nothing_once_its_time_is_over() {
    let world = World::new();
    let policy = Policy::new(Window::http()).atomic(true);
    for late in [false, true] {
        let request = Request { key: IdempotencyKey::new(format!("k{late}")).unwrap(), ..world.request() };
        let Claimed::Fresh(claim) = world.engine.claim(&request, &policy).await.unwrap() else { panic!() };
        claim.attempt().stage(TableWrite::put("t", std::collections::BTreeMap::from([("id", "a")])).unwrap()).unwrap();
        world.advance(if late { PAST_THE_LEASE } else { Duration::from_secs(9) });
        let (expected, records) = if late { (Completion::Uncommitted, 1) } else { (Completion::Stored, 1) };
        assert_eq!(world.engine.complete(claim, Outcome::new("done")).await, expected);
        assert_eq!(world.engine.store().inner.records().len(), records);
        assert_eq!(world.engine.store().inner.effects().len(), records);
    }
}

#[tokio::test]
async fn a_generation_that_follows_an_expired_one_takes_back_what_it_did_itself_and_nothing_else() {
    let (world, keys) = (World::new(), Mutex::new(Vec::new()));
    let charged = async |claim: &Claim| {
        let note = async |key: IdempotencyKey| {
            keys.lock().unwrap().push(key);
            Ok::<_, StepError>(7)
        };
        claim.attempt().step_with_undo("charge", note).await.unwrap();
    };
    let first = world.fresh_under(POLICY).await;
    charged(&first).await;
    assert_eq!(world.engine.complete(first, Outcome::new("placed")).await, Completion::Stored);

    world.advance(Window::http().storage_ttl() + PAST_THE_LEASE);
    let second = world.fresh_under(POLICY).await;
    charged(&second).await;
    // It is lost before it ends, and so is the next: they have the keys of their generation.
    world.advance(PAST_THE_LEASE);
    let third = world.fresh_under(POLICY).await;
    assert_eq!(third.attempt().step_key("charge"), second.attempt().step_key("charge"));
    charged(&third).await;
    let undone = Mutex::new(Vec::new());
    let undo = async |undo: Undo| {
        undone.lock().unwrap().push((undo.step_key(), undo.key()));
        Ok(Undone::Done)
    };
    let compensated = world.engine.compensate(third, Outcome::new("refused"), undo).await;
    assert!(matches!(compensated, Compensated::Failed { completion: Completion::Stored, .. }), "{compensated:?}");
    let (keys, undone) = (keys.into_inner().unwrap(), undone.into_inner().unwrap());
    assert_eq!((keys.len(), undone.len()), (2, 1));
    assert_ne!(keys[0], keys[1]);
    assert_eq!(undone[0].0, keys[1]);
}
