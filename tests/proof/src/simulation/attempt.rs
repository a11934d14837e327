//! One attempt, from its request to its answer.

use std::{sync::Arc, time::Duration};

use idempotency_core::{
    Abandoned, Claim, ClaimError, Claimed, Completion, Engine, Epoch, ExecutionId, Outcome, OwnerToken, Record,
    RecordKey, Request, Status,
};
use tokio::time::sleep;

use super::{
    judge::Judge,
    link::Link,
    plan::{AttemptPlan, Returns},
    work::{Ledger, Work},
};

/// One attempt.
pub(super) struct Attempt {
    pub(super) number: usize,
    pub(super) owner: OwnerToken,
    pub(super) key: RecordKey,
    pub(super) plan: AttemptPlan,
    pub(super) engine: Engine<Link>,
    pub(super) policy: idempotency_core::Policy,
    pub(super) judge: Arc<Judge>,
    pub(super) work: Work,
    pub(super) ledger: Arc<Ledger>,
}

/// A handler at work. When it is dropped, whatever for, it works no more.
pub(super) struct AtWork {
    judge: Arc<Judge>,
    owner: OwnerToken,
    epoch: Epoch,
    execution: ExecutionId,
    returned: bool,
    effect: bool,
    ended: bool,
}

impl AtWork {
    fn of(record: &Record, judge: &Arc<Judge>) -> Self {
        Self {
            judge: Arc::clone(judge),
            owner: record.owner,
            epoch: record.epoch,
            execution: record.execution,
            returned: false,
            effect: false,
            ended: false,
        }
    }

    /// The handler has returned: what is left is to store its end.
    fn returns(&mut self) {
        self.returned = true;
        self.judge.leaves(self.owner, self.epoch);
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if !self.returned {
            self.judge.leaves(self.owner, self.epoch);
        }
        if self.effect && !self.ended {
            self.judge.lost(self.execution);
        }
    }
}

impl Attempt {
    /// Claims, runs and ends. Dropping the future is the death of its process.
    pub(super) async fn run(self, request: Request) {
        let Self { number, judge, .. } = &self;
        let _flow = self.engine.store().flow();
        let mut claimed = self.engine.claim(&request, &self.policy).await;
        if let Ok(Claimed::Abandoned(abandoned)) = claimed {
            match self.probe(abandoned, &request).await {
                Some(decided) => claimed = decided,
                None => return,
            }
        }
        match claimed {
            Ok(Claimed::Fresh(claim)) => {
                judge.say(|| format!("attempt {number} runs as {}", claim.record().owner));
                match self.work {
                    Work::Effect => self.handle(claim).await,
                    work => self.handle_work(claim, work).await,
                }
            }
            Ok(Claimed::Replay(replay)) => {
                judge.say(|| format!("attempt {number} is told the stored result"));
                judge.count(|counts| &mut counts.replays);
                if !replay.is_failure() {
                    judge.told(replay.body().unwrap_or_default(), self.plan.request);
                }
            }
            Ok(Claimed::Conflict { .. }) => {
                judge.say(|| format!("attempt {number} is told to come again"));
                self.not_by_oneself();
                judge.count(|counts| &mut counts.conflicts);
            }
            Ok(Claimed::Mismatch) => {
                self.not_by_oneself();
                judge.count(|counts| &mut counts.mismatches);
            }
            // Another attempt was quicker and was lost as well; this one may ask again later.
            Ok(Claimed::Abandoned(_)) => judge.count(|counts| &mut counts.conflicts),
            Ok(Claimed::Uncertain) => {
                self.not_by_oneself();
                judge.count(|counts| &mut counts.uncertain);
            }
            Ok(Claimed::Compensating(claim)) => self.resume(claim).await,
            Ok(Claimed::Stuck) => judge.count(|counts| &mut counts.told_stuck),
            Err(error) => {
                judge.say(|| format!("attempt {number} is not answered: {error}"));
                judge.count(|counts| &mut counts.errors);
            }
        }
    }

    /// Asks what became of a lost attempt and acts on it. `None` when that was the end.
    async fn probe(&self, abandoned: Abandoned, request: &Request) -> Option<Result<Claimed, ClaimError>> {
        let Self { number, plan, judge, .. } = self;
        let (execution, record) = (abandoned.execution(), request.record_key());
        // The answer is true when it is given, and the way back takes time.
        let happened = judge.has_effect(execution);
        sleep(plan.before_effect.min(Duration::from_millis(50))).await;
        if !plan.can_probe {
            judge.count(|counts| &mut counts.uncertain);
            return None;
        }
        judge.say(|| format!("attempt {number} hears of {record:?} that its effect happened: {happened}"));
        if !happened {
            return Some(self.engine.take_over(abandoned, request, &self.policy).await);
        }
        let body = format!("found by {number}");
        match self.engine.complete(abandoned.happened(), Outcome::new(body.clone())).await {
            Completion::Stored => {
                judge.count(|counts| &mut counts.found);
                judge.told(body.as_bytes(), plan.request);
            }
            Completion::Superseded(Some(replay)) if !replay.is_failure() => {
                judge.told(replay.body().unwrap_or_default(), plan.request);
            }
            _ => {}
        }
        None
    }

    /// I6: whoever is refused is not refused because of its own claim.
    fn not_by_oneself(&self) {
        let stored = self.engine.store().store().stored(&self.key);
        if stored.is_some_and(|record| record.owner == self.owner && record.status == Status::InFlight) {
            self.judge.violation(format!("I6 attempt {} is blocked by its own claim", self.number));
        }
    }

    /// Tells the judge that a handler is at work, as long as the value lives. One that has claimed nothing is not alone.
    pub(super) fn at_work(&self, record: &Record, is_alone: bool) -> Option<AtWork> {
        let judge = Arc::clone(&self.judge);
        if !is_alone {
            judge.count(|counts| &mut counts.fresh);
            return None;
        }
        judge.enters(record);
        Some(AtWork::of(record, &judge))
    }

    async fn handle(&self, claim: Claim) {
        let Self { number, plan, judge, .. } = self;
        let execution = claim.record().execution;
        judge.enters(claim.record());
        let mut work = AtWork::of(claim.record(), judge);
        sleep(plan.before_effect).await;
        if plan.returns == Returns::Result {
            judge.say(|| format!("attempt {number} EFFECT"));
            judge.effect(execution);
            work.effect = true;
        }
        sleep(plan.after_effect).await;
        work.returns();
        let body = format!("result of {number}");
        let completion = match plan.returns {
            Returns::Result => self.engine.complete(claim, Outcome::new(body.clone())).await,
            Returns::Retryable => self.engine.release(claim).await,
            Returns::Permanent => self.engine.fail(claim, Outcome::new("failed")).await,
            Returns::Unclassified => return,
        };
        judge.say(|| format!("attempt {number} ends: {completion:?}"));
        match completion {
            Completion::Stored => {
                work.ended = true;
                if plan.returns == Returns::Result {
                    judge.told(body.as_bytes(), plan.request);
                }
            }
            Completion::Superseded(replay) => {
                judge.count(|counts| &mut counts.superseded);
                if let Some(replay) = replay.filter(|replay| !replay.is_failure()) {
                    judge.told(replay.body().unwrap_or_default(), plan.request);
                }
            }
            Completion::Uncommitted | Completion::CommitRefused | Completion::Refused(_) | Completion::Instead(_) => {
                judge.violation("an end without anything staged has to do with it".to_owned());
            }
            Completion::Vanished | Completion::Unconfirmed => judge.count(|counts| &mut counts.unconfirmed),
        }
    }
}
