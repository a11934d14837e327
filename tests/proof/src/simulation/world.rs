//! One run: the attempts, the store, and time.

use std::{sync::Arc, time::Duration};

use fastrand::Rng;
use idempotency_core::{
    Clock, Engine, Fingerprint, IdempotencyKey, Namespace, Operation, OwnerToken, Policy, RecordKey, Request, Scope,
    TokenError, TokenSource,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::{
    Outcome,
    attempt::Attempt,
    clock::SimulatedClock,
    judge::Judge,
    plan::{AttemptPlan, LATEST, Plan, Returns, WINDOW},
    store::FaultyStore,
};

/// One attempt's identities: its number says which. An attempt claims once, so owner and generation may be the same bits.
struct TokensOf([u8; 16]);

impl TokenSource for TokensOf {
    fn draw(&self) -> Result<[u8; 16], TokenError> {
        Ok(self.0)
    }
}

pub(super) struct World {
    begin: Instant,
    engine: Engine<FaultyStore>,
    policy: Policy,
    judge: Arc<Judge>,
    key: IdempotencyKey,
    namespace: Namespace,
}

impl World {
    #[expect(clippy::expect_used, reason = "the names are literals")]
    pub(super) fn new(plan: &Plan, traced: bool) -> Self {
        let begin = Instant::now();
        let most_ahead = plan.attempts.iter().map(|attempt| attempt.ahead).max().unwrap_or_default();
        let judge = Arc::new(Judge::new(plan.on_abandoned, plan.zombies, most_ahead, begin, traced));
        let engine = Engine::new(FaultyStore::new(plan.seed, Arc::clone(&judge)));
        Self {
            begin,
            engine,
            policy: Policy::new(WINDOW).on_abandoned(plan.on_abandoned).wait(plan.waits),
            judge,
            key: IdempotencyKey::new("k").expect("a key"),
            namespace: Namespace::new("n").expect("a namespace"),
        }
    }

    pub(super) fn say(&self, line: impl FnOnce() -> String) {
        self.judge.say(line);
    }

    /// Lets everything happen, and then asks once more.
    pub(super) async fn play(&self, plan: &Plan) {
        let mut processes = JoinSet::new();
        for (number, attempt) in plan.attempts.iter().enumerate() {
            processes.spawn(self.process(number, attempt.clone(), plan.zombies));
        }
        let deletions = self.deletions(plan.seed);
        tokio::pin!(deletions);
        loop {
            tokio::select! {
                ended = processes.join_next() => if ended.is_none() { break },
                () = &mut deletions => {}
            }
        }
        self.settle(plan).await;
    }

    /// A process: it comes, may die, is killed at its deadline unless it is a zombie.
    fn process(&self, number: usize, plan: AttemptPlan, zombies: bool) -> impl Future<Output = ()> + Send + 'static {
        let comes_at = self.begin + plan.comes_at;
        let deadline = comes_at + plan.may_run;
        let dies_at = plan.dies_after.map(|after| comes_at + after);
        let killed_at = if zombies { dies_at } else { Some(dies_at.map_or(deadline, |dies| dies.min(deadline))) };
        let (attempt, base) = (self.attempt(number, plan), self.request());
        async move {
            sleep_until(comes_at).await;
            let request = Request {
                fingerprint: Fingerprint::from_bytes([attempt.plan.request; 32]),
                deadline: attempt.engine.now() + attempt.plan.may_run,
                ..base
            };
            match killed_at {
                Some(killed_at) => drop(timeout_at(killed_at, attempt.run(request)).await),
                None => attempt.run(request).await,
            }
        }
    }

    fn attempt(&self, number: usize, plan: AttemptPlan) -> Attempt {
        let clock = SimulatedClock { begin: self.begin, ahead: plan.ahead, behind: plan.behind };
        let identity = (number as u128 + 1).to_be_bytes();
        let engine = self.engine.clone().with_clock(clock).with_tokens(TokensOf(identity));
        let (owner, key) = (OwnerToken::from_bytes(identity), self.record_key());
        Attempt { number, owner, key, plan, engine, policy: self.policy, judge: Arc::clone(&self.judge) }
    }

    fn request(&self) -> Request {
        Request {
            namespace: self.namespace.clone(),
            operation: Operation::declare("o", 1),
            scope: Scope::none(),
            key: self.key.clone(),
            fingerprint: Fingerprint::from_bytes([0; 32]),
            deadline: self.judge.now(),
        }
    }

    fn record_key(&self) -> RecordKey {
        let request = self.request();
        RecordKey::new(&request.namespace, &request.operation, &request.scope, &request.key)
    }

    /// The table deletes the record at some time after its expiry. It looks a few times.
    async fn deletions(&self, seed: u64) {
        let mut rng = Rng::with_seed(!seed);
        let (exact, key) = (SimulatedClock::exact(self.begin), self.record_key());
        for _ in 0..4 {
            sleep(Duration::from_millis(rng.u64(1_000..60_000))).await;
            if self.engine.store().delete_if_expired(&key, |record| exact.now() >= record.expires_at.to_millis()) {
                self.say(|| "the table deletes the record".to_owned());
            }
        }
        std::future::pending().await
    }

    /// When every write has arrived and every lease is over, a last request must get an answer other than "come again".
    async fn settle(&self, plan: &Plan) {
        let skew = plan.attempts.iter().map(|attempt| attempt.ahead).max().unwrap_or_default();
        sleep(LATEST + WINDOW.longest_run() + Policy::MARGIN * 2 + skew).await;
        self.engine.store().heal();
        let last = AttemptPlan {
            comes_at: Duration::ZERO,
            may_run: Duration::from_secs(10),
            ahead: Duration::ZERO,
            behind: Duration::ZERO,
            request: 0,
            before_effect: Duration::ZERO,
            after_effect: Duration::ZERO,
            returns: Returns::Result,
            can_probe: true,
            dies_after: None,
        };
        let before = self.judge.counts();
        let attempt = self.attempt(plan.attempts.len(), last);
        let request = Request { deadline: self.judge.now() + Duration::from_secs(10), ..self.request() };
        attempt.run(request).await;
        let after = self.judge.counts();
        if after.conflicts > before.conflicts || after.errors > before.errors {
            self.judge.violation("the key is blocked although nothing runs".to_owned());
        }
    }

    pub(super) fn judged(&self, seed: u64) -> Outcome {
        let (violations, timeline, counts) = self.judge.finish();
        Outcome { seed, violations, timeline, counts }
    }
}
