//! One run: the attempts, the store, and time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;
use idempotency_core::{
    Clock, Engine, EpochMillis, Fingerprint, IdempotencyKey, Namespace, OnAbandoned, Operation, OwnerToken, Policy,
    RecordKey, Request, Scope, TokenError, TokenSource,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use super::{
    Outcome,
    attempt::Attempt,
    clock::SimulatedClock,
    judge::Judge,
    judges::Judges,
    link::Link,
    mutant::Mutant,
    plan::{AttemptPlan, LATEST, Plan, Returns, WINDOW},
    store::FaultyStore,
    timeline::Timeline,
    work::{Ledger, Work},
};

/// One attempt's identities: its number says which. An attempt claims once, so owner and generation may be the same bits; what is
/// drawn after those two differs in its first half.
struct TokensOf {
    identity: [u8; 16],
    drawn: AtomicU64,
}

impl TokenSource for TokensOf {
    fn draw(&self) -> Result<[u8; 16], TokenError> {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut bits = self.identity;
        if drawn > 1 {
            // Spread, for pauses take their length from the first bits.
            bits.iter_mut()
                .zip(drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
                .for_each(|(bit, new)| *bit = new);
        }
        Ok(bits)
    }
}

pub(super) struct World {
    begin: Instant,
    store: Arc<FaultyStore>,
    /// One of each sandbox, and one for the last requests.
    engines: Vec<Engine<Link>>,
    policy: Policy,
    judges: Arc<Judges>,
    work: Work,
    ledger: Arc<Ledger>,
    timeline: Arc<Timeline>,
    namespace: Namespace,
}

/// Longer than any run: what has not ended by then hangs.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

impl World {
    #[expect(clippy::expect_used, reason = "the names are literals")]
    pub(super) fn new(plan: &Plan, traced: bool, mutant: Mutant) -> Self {
        let begin = Instant::now();
        let namespace = Namespace::new("n").expect("a namespace");
        let timeline = Arc::new(Timeline::new(begin, traced));
        let most_ahead = plan.attempts.iter().map(|attempt| attempt.ahead).max().unwrap_or_default();
        let judge = || Judge::new(plan, most_ahead, Arc::clone(&timeline));
        let is_exclusive = !plan.zombies && plan.on_abandoned != OnAbandoned::Reject;
        let ledger = Arc::new(Ledger::new(is_exclusive));
        let judges = Arc::new(Judges::new((0..plan.keys()).map(|key| record_key(&namespace, key)), judge));
        let store = Arc::new(FaultyStore::new(plan.seed, Arc::clone(&judges), Arc::clone(&ledger), mutant));
        let link = |linger| Link::new(Arc::clone(&store), linger, Arc::clone(&judges), mutant);
        let sandboxes = plan.attempts.iter().map(|attempt| attempt.sandbox + 1).max().unwrap_or_default();
        let mut engines: Vec<_> = (0..sandboxes).map(|_| Engine::new(link(plan.linger))).collect();
        engines.push(Engine::new(link(None)));
        let policy = Policy::new(WINDOW).on_abandoned(plan.on_abandoned).wait(plan.waits);
        let policy = policy.atomic(plan.work == Work::Atomic).undo(plan.work == Work::Steps);
        let work = plan.work;
        Self { work, ledger, begin, store, engines, policy, judges, timeline, namespace }
    }

    pub(super) fn say(&self, line: impl FnOnce() -> String) {
        self.timeline.say(line);
    }

    /// Lets everything happen, and asks once more.
    pub(super) async fn play(&self, plan: &Plan) {
        let all = async {
            self.happen(plan).await;
            self.settle(plan).await;
        };
        if timeout(LONGEST, all).await.is_err() {
            self.judges.of_all().violation("something hangs".to_owned());
        }
    }

    async fn happen(&self, plan: &Plan) {
        let mut processes = JoinSet::new();
        for (number, attempt) in plan.attempts.iter().enumerate() {
            if let Some(process) = self.process(number, attempt.clone(), plan.zombies) {
                processes.spawn(process);
            }
        }
        let deletions = self.deletions(plan);
        tokio::pin!(deletions);
        loop {
            tokio::select! {
                ended = processes.join_next() => if ended.is_none() { break },
                () = &mut deletions => {}
            }
        }
    }

    /// A process: it comes, may die, is killed at its deadline unless it is a zombie.
    fn process(
        &self,
        number: usize,
        plan: AttemptPlan,
        zombies: bool,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let comes_at = self.begin + plan.comes_at;
        let deadline = comes_at + plan.may_run;
        let dies_at = plan.dies_after.map(|after| comes_at + after);
        let killed_at = if zombies { dies_at } else { Some(dies_at.map_or(deadline, |dies| dies.min(deadline))) };
        let base = self.request(plan.key);
        let attempt = self.attempt(number, plan)?;
        Some(async move {
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
        })
    }

    fn attempt(&self, number: usize, plan: AttemptPlan) -> Option<Attempt> {
        let clock = SimulatedClock { begin: self.begin, ahead: plan.ahead, behind: plan.behind };
        let identity = (number as u128 + 1).to_be_bytes();
        let engine = self
            .engines
            .get(plan.sandbox)?
            .clone()
            .with_clock(clock)
            .with_tokens(TokensOf { identity, drawn: AtomicU64::new(0) });
        let (owner, key) = (OwnerToken::from_bytes(identity), record_key(&self.namespace, plan.key));
        let (policy, judge) = (self.policy.look_first(plan.looks_first), Arc::clone(self.judges.of(&key)));
        let (work, ledger) = (self.work, Arc::clone(&self.ledger));
        Some(Attempt { work, ledger, number, owner, key, plan, engine, policy, judge })
    }

    fn request(&self, key: u8) -> Request {
        request(&self.namespace, key, self.judges.of_all().now())
    }

    /// The table deletes records at some time after their expiry. It looks a few times.
    async fn deletions(&self, plan: &Plan) {
        let mut rng = Rng::with_seed(!plan.seed);
        let exact = SimulatedClock::exact(self.begin);
        for _ in 0..4 {
            sleep(Duration::from_millis(rng.u64(1_000..60_000))).await;
            for key in (0..plan.keys()).map(|key| record_key(&self.namespace, key)) {
                if self.store.delete_if_expired(&key, |record| exact.now() >= record.expires_at.to_millis()) {
                    self.say(|| format!("the table deletes {key:?}"));
                }
            }
        }
        std::future::pending().await
    }

    /// When every write has arrived and every lease is over, a last request must get an answer other than "come again".
    async fn settle(&self, plan: &Plan) {
        let skew = plan.attempts.iter().map(|attempt| attempt.ahead).max().unwrap_or_default();
        sleep(LATEST + WINDOW.longest_run() + Policy::MARGIN * 2 + skew).await;
        self.store.heal();
        for key in 0..plan.keys() {
            self.ask_once_more(plan, key).await;
        }
    }

    async fn ask_once_more(&self, plan: &Plan, key: u8) {
        let last = AttemptPlan {
            comes_at: Duration::ZERO,
            may_run: Duration::from_secs(10),
            ahead: Duration::ZERO,
            behind: Duration::ZERO,
            sandbox: self.engines.len() - 1,
            key,
            request: 0,
            looks_first: plan.seed.is_multiple_of(2),
            before_effect: Duration::ZERO,
            after_effect: Duration::ZERO,
            returns: Returns::Result,
            can_probe: true,
            dies_after: None,
        };
        let before = self.judges.counts();
        let Some(attempt) = self.attempt(plan.attempts.len() + usize::from(key), last) else { return };
        let request = self.request(key);
        attempt.run(Request { deadline: request.deadline + Duration::from_secs(10), ..request }).await;
        let after = self.judges.counts();
        if after.conflicts > before.conflicts || after.errors > before.errors {
            self.judges.of_all().violation(format!("the key {key} is blocked although nothing runs"));
        }
    }

    pub(super) fn judged(&self, seed: u64) -> Outcome {
        let (mut violations, counts) = self.judges.finish();
        violations.extend(self.ledger.finish(self.work != Work::Effect));
        Outcome { seed, violations, timeline: self.timeline.take(), counts }
    }
}

/// Asks for what a key is for.
#[expect(clippy::expect_used, reason = "the key is made of a digit")]
fn request(namespace: &Namespace, key: u8, deadline: EpochMillis) -> Request {
    Request {
        namespace: namespace.clone(),
        operation: Operation::declare("o", 1),
        scope: Scope::none(),
        key: IdempotencyKey::new(format!("k{key}")).expect("a key"),
        fingerprint: Fingerprint::from_bytes([0; 32]),
        deadline,
    }
}

fn record_key(namespace: &Namespace, key: u8) -> RecordKey {
    request(namespace, key, EpochMillis::new(0)).record_key()
}
