//! An operation that fails for good after two steps that can be undone and one that cannot.

use super::*;
use crate::{Attempt, StepError, TableWrite, Undo, Undone};

mod beside;
mod forgotten;
mod sweep;
mod unfinished;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const UNDOES: Policy = Policy::new(Window::http()).undo(true);

/// What became of one request.
#[derive(Debug, PartialEq)]
enum Answer {
    /// This failure, now or before.
    Failed(Option<Bytes>),
    Later,
    Stuck,
    Conflict,
    Ended,
}

/// The outside world: what was done and undone there, by which keys, in order.
#[derive(Default)]
struct Shop {
    effects: Mutex<Vec<(String, IdempotencyKey)>>,
    /// How often the handler ran.
    runs: AtomicU64,
    /// What undoing says, from the first on; then that it is done.
    undo_says: Mutex<VecDeque<Says>>,
}

#[derive(Clone, Copy)]
enum Says {
    Done,
    Later,
    Error,
    /// It is done, and then the attempt is lost.
    Hangs,
}

impl Shop {
    fn happens(&self, what: &str, key: &IdempotencyKey) {
        self.effects.lock().unwrap().push((what.to_owned(), key.clone()));
    }

    /// What happened, by name, in order.
    fn names(&self) -> Vec<String> {
        self.effects.lock().unwrap().iter().map(|(what, _)| what.clone()).collect()
    }

    async fn handler(&self, attempt: &Attempt) -> Result<(), BoxError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        for (name, has_undo) in [("seat", true), ("mail", false), ("charge", true)] {
            let call = async |key: IdempotencyKey| {
                self.happens(name, &key);
                Ok::<_, StepError>(format!("{name} is done"))
            };
            match has_undo {
                true => attempt.step_with_undo(name, call).await?,
                false => attempt.step(name, call).await?,
            };
        }
        Err("sold out".into())
    }

    async fn undo(&self, undo: Undo) -> Result<Undone, BoxError> {
        assert_eq!(undo.output::<String>().unwrap(), format!("{} is done", undo.step()));
        assert_ne!(undo.key(), undo.step_key());
        let says = self.undo_says.lock().unwrap().pop_front().unwrap_or(Says::Done);
        match says {
            Says::Later => return Ok(Undone::Later),
            Says::Error => return Err("the service has forgotten it".into()),
            Says::Done | Says::Hangs => self.happens(&format!("undo {}", undo.step()), &undo.key()),
        }
        if let Says::Hangs = says {
            std::future::pending::<()>().await;
        }
        Ok(Undone::Done)
    }

    fn says(&self, says: impl IntoIterator<Item = Says>) {
        *self.undo_says.lock().unwrap() = says.into_iter().collect();
    }
}

fn failure() -> Outcome {
    Outcome::new("sold out")
}

async fn compensate(world: &World, shop: &Shop, claim: Claim, failure: Outcome) -> Compensated {
    world.engine.compensate(claim, failure, |undo| shop.undo(undo)).await
}

/// One request, as a wrapper carries it out.
async fn request(world: &World, shop: &Shop, failure: Outcome) -> Result<Answer, ClaimError> {
    let compensated = match world.engine.claim(&world.request(), &UNDOES).await? {
        Claimed::Fresh(claim) => {
            // A step that could not be stored: the attempt counts as lost.
            match shop.handler(&claim.attempt().clone()).await {
                Err(error) if error.is::<StepError>() => return Ok(Answer::Ended),
                _ => compensate(world, shop, claim, failure).await,
            }
        }
        Claimed::Compensating(claim) => world.engine.resume_compensation(claim, |undo| shop.undo(undo)).await,
        Claimed::Replay(replay) => {
            assert!(replay.is_failure());
            return Ok(Answer::Failed(replay.into_body()));
        }
        Claimed::Stuck => return Ok(Answer::Stuck),
        Claimed::Conflict { .. } => return Ok(Answer::Conflict),
        other => panic!("{other:?}"),
    };
    Ok(match compensated {
        Compensated::Failed { failure, .. } => Answer::Failed(failure.and_then(Replay::into_body)),
        Compensated::Later => Answer::Later,
        Compensated::Stuck => Answer::Stuck,
        Compensated::Ended(_) => Answer::Ended,
    })
}

async fn asked(world: &World, shop: &Shop) -> Answer {
    request(world, shop, failure()).await.unwrap()
}

#[tokio::test]
async fn steps_are_undone_in_reverse_each_is_stored_and_then_the_failure_is() {
    let (world, shop) = (World::new(), Shop::default());
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
    // Two of the three steps are told before their calls are made.
    let steps = ["insert", "insert row", "insert row", "insert row", "insert row", "insert row"];
    let undoing = ["replace", "insert row", "insert row", "replace"];
    assert_eq!(world.calls(), [steps.as_slice(), &undoing].concat());
    let undone = world.engine.store().inner.all_rows().into_iter().filter(|row| row.kind == crate::RowKind::Undone);
    let mut undone: Vec<_> = undone.map(|row| row.name).collect();
    undone.sort();
    assert_eq!(undone, ["charge", "seat"]);
    assert_eq!(world.stored().status, Status::Failed);
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(world.calls(), ["insert"]);
    assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn that_it_is_being_undone_is_stored_with_the_failure_before_anything_is() {
    let (world, shop) = (World::new(), Shop::default());
    let claim = world.fresh_under(UNDOES).await;
    let _ = shop.handler(claim.attempt()).await;
    let seen = Mutex::default();
    let undo = async |_: Undo| {
        *seen.lock().unwrap() = Some(world.stored());
        Ok(Undone::Later)
    };
    assert_eq!(world.engine.compensate(claim, failure(), undo).await, Compensated::Later);
    let seen = seen.into_inner().unwrap().unwrap();
    assert_eq!(seen.status, Status::Compensating);
    assert!(seen.result.is_some() && seen.lease_until > world.engine.now());
}

#[tokio::test]
async fn without_a_step_that_can_be_undone_a_failure_is_one_write() {
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    let done = claim.attempt().step("mail", async |_| Ok::<_, StepError>(1)).await;
    assert_eq!(done.unwrap(), 1);
    world.calls();
    let compensated = compensate(&world, &Shop::default(), claim, failure()).await;
    assert_eq!(compensated, Compensated::Failed { completion: Completion::Stored, failure: None });
    assert_eq!(world.calls(), ["replace"]);
}

#[tokio::test]
async fn what_was_staged_is_forgotten_when_the_operation_fails() {
    for has_steps in [false, true] {
        let (world, shop) = (World::new(), Shop::default());
        let claim = world.fresh_under(UNDOES).await;
        let attempt = claim.attempt().clone();
        attempt.stage(TableWrite::put("t", serde_json::json!({ "id": 1 })).unwrap()).unwrap();
        if has_steps {
            let _ = shop.handler(&attempt).await;
        }
        assert!(matches!(compensate(&world, &shop, claim, failure()).await, Compensated::Failed { .. }));
        assert_eq!(world.engine.store().inner.effects(), []);
        let late = attempt.stage(TableWrite::put("t", serde_json::json!({ "id": 2 })).unwrap());
        assert_eq!(late, Err(crate::StageError::Ended));
    }
}

#[tokio::test]
async fn later_ends_the_lease_at_once_and_the_next_request_goes_on_without_the_handler() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Done, Says::Later]);
    assert_eq!(asked(&world, &shop).await, Answer::Later);
    let left = world.stored();
    assert_eq!((left.status, left.lease_until), (Status::Compensating, world.engine.now()));
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
    assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
    assert_eq!(world.stored().attempt.get(), 2);
}

#[tokio::test]
async fn while_one_attempt_undoes_the_next_is_a_conflict_and_afterwards_goes_on_whatever_the_policy() {
    for on_abandoned in [OnAbandoned::Rerun, OnAbandoned::Reject, OnAbandoned::Probe] {
        let (world, shop) = (World::new(), Shop::default());
        let policy = UNDOES.on_abandoned(on_abandoned);
        let claim = world.fresh_under(policy).await;
        let _ = shop.handler(claim.attempt()).await;
        shop.says([Says::Hangs]);
        let lost = tokio::time::timeout(Duration::from_millis(20), compensate(&world, &shop, claim, failure()));
        assert!(lost.await.is_err());
        assert!(matches!(world.claim_under(policy).await, Claimed::Conflict { .. }));
        world.advance(PAST_THE_LEASE);
        let claimed = world.claim_under(policy).await;
        assert!(matches!(claimed, Claimed::Compensating(_)), "{on_abandoned:?}: {claimed:?}");
    }
}

#[tokio::test]
async fn an_undo_that_fails_is_stuck_beyond_the_window_and_answered_so() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Done, Says::Error]);
    assert_eq!(asked(&world, &shop).await, Answer::Stuck);
    let stuck = world.stored();
    assert_eq!(stuck.status, Status::Stuck);
    assert_eq!(stuck.expires_at, (world.engine.now() + Window::MAX_STORAGE_TTL).ceil_seconds());
    // Beyond lease and window: nothing is undone or run or written any more.
    world.calls();
    for time in [Duration::ZERO, PAST_THE_LEASE, Window::http().storage_ttl() * 2] {
        world.advance(time);
        assert_eq!(asked(&world, &shop).await, Answer::Stuck);
        assert_eq!(world.stored(), stuck);
    }
    assert_eq!(world.calls(), ["insert"; 3]);
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge"]);
}

#[tokio::test]
async fn another_request_under_the_key_is_a_mismatch_while_undoing_and_when_stuck() {
    let (world, shop) = (World::new(), Shop::default());
    let other = Request { fingerprint: Fingerprint::from_bytes([8; 32]), ..world.request() };
    for says in [Says::Later, Says::Error] {
        shop.says([says]);
        asked(&world, &shop).await;
        assert!(matches!(world.engine.claim(&other, &UNDOES).await, Ok(Claimed::Mismatch)));
    }
    assert_eq!(world.stored().status, Status::Stuck);
}

#[tokio::test]
async fn an_attempt_that_was_taken_over_undoes_nothing() {
    let (world, shop) = (World::new(), Shop::default());
    let slow = world.fresh_under(UNDOES).await;
    let _ = shop.handler(slow.attempt()).await;
    world.advance(PAST_THE_LEASE);
    let newer = world.fresh_under(UNDOES).await;
    let before = shop.names();
    let compensated = compensate(&world, &shop, slow, failure()).await;
    assert_eq!(compensated, Compensated::Ended(Completion::Superseded(None)));
    assert_eq!(shop.names(), before);
    assert_eq!(world.stored(), *newer.record());
}

#[tokio::test]
async fn an_attempt_whose_lease_is_over_leaves_the_rest_to_the_next() {
    let (world, shop) = (World::new(), Shop::default());
    let claim = world.fresh_under(UNDOES).await;
    let _ = shop.handler(claim.attempt()).await;
    let undo = async |undo: Undo| {
        // The sandbox is frozen, and thawed when another attempt may be at work.
        world.advance(PAST_THE_LEASE);
        shop.undo(undo).await
    };
    assert_eq!(world.engine.compensate(claim, failure(), undo).await, Compensated::Later);
    assert_eq!(shop.names().last().unwrap(), "undo charge");
    assert_eq!(asked(&world, &shop).await, Answer::Failed(Some("sold out".into())));
    assert_eq!(shop.names(), ["seat", "mail", "charge", "undo charge", "undo seat"]);
}

#[tokio::test]
async fn a_large_failure_is_replayed_whoever_has_undone_the_steps() {
    let (world, shop) = (World::new(), Shop::default());
    let body = noise(100_000);
    shop.says([Says::Later, Says::Later]);
    for _ in 0..2 {
        assert_eq!(request(&world, &shop, Outcome::new(body.clone())).await.unwrap(), Answer::Later);
    }
    for _ in 0..2 {
        assert_eq!(asked(&world, &shop).await, Answer::Failed(Some(body.clone())));
    }
}

#[tokio::test]
async fn a_failure_whose_parts_are_lost_keeps_nothing_from_being_undone() {
    let (world, shop) = (World::new(), Shop::default());
    shop.says([Says::Later]);
    assert_eq!(request(&world, &shop, Outcome::new(noise(100_000))).await.unwrap(), Answer::Later);
    let record = world.stored();
    let store = &world.engine.store().inner;
    store.put_parts(&record.key, record.owner, &[], record.expires_at, Duration::ZERO).await.unwrap();
    assert_eq!(asked(&world, &shop).await, Answer::Failed(None));
    assert_eq!(shop.names().last().unwrap(), "undo seat");
}

#[tokio::test]
async fn a_step_whose_output_cannot_be_read_back_is_undone_all_the_same() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Lopsided {
        #[serde(skip_serializing)]
        _id: u32,
    }
    let world = World::new();
    let claim = world.fresh_under(UNDOES).await;
    let charged = claim.attempt().step_with_undo("charge", async |_| Ok::<_, StepError>(Lopsided { _id: 1 })).await;
    assert!(matches!(charged, Err(StepError::Json { .. })));
    let undone = Mutex::new(Vec::new());
    let undo = async |undo: Undo| {
        undone.lock().unwrap().push(undo.step().to_owned());
        Ok(Undone::Done)
    };
    assert!(matches!(world.engine.compensate(claim, failure(), undo).await, Compensated::Failed { .. }));
    assert_eq!(undone.into_inner().unwrap(), ["charge"]);
}
