//! Handlers of more than one effect.

use idempotency_core::{
    Claim, Claimed, Compensated, Completion, ExecutionId, IdempotencyKey, Outcome, StageError, StepError, TableWrite,
    Undo, Undone,
};
use tokio::time::sleep;

use super::{
    attempt::Attempt,
    plan::Returns,
    work::{Ledger, STEPS, Work},
};

/// Why a handler of the simulation has no result.
#[derive(Debug)]
enum Failure {
    Step(StepError),
    Retryable,
    Permanent,
    Unclassified,
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl From<StageError> for Failure {
    fn from(_: StageError) -> Self {
        Self::Unclassified
    }
}

type Error = Box<dyn std::error::Error + Send + Sync>;

impl Attempt {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn breaks(&self, what: impl IntoIterator<Item = String>) {
        what.into_iter().for_each(|what| self.judge.violation(what));
    }

    /// Runs the handler and ends the claim.
    pub(super) async fn handle_work(&self, claim: Claim, work: Work) {
        let execution = claim.record().execution;
        self.breaks(self.ledger().begins(claim.record()));
        let at_work = self.at_work(claim.record(), work != Work::Atomic);
        let returned = match work {
            Work::Atomic => self.transfer(claim.attempt()).await,
            _ => self.all_steps(claim.attempt(), execution).await,
        };
        self.judge.say(|| format!("attempt {} returns {returned:?}", self.number));
        let body = format!("result of {}", self.number);
        let is_result = returned.is_ok();
        // What is left is to store its end, unless something is to be undone.
        let _at_work = at_work.filter(|_| matches!(returned, Err(Failure::Permanent)));
        let completion = match returned {
            Ok(()) => self.engine.complete(claim, Outcome::new(body.clone())).await,
            Err(Failure::Retryable) => self.engine.release(claim).await,
            Err(Failure::Step(error)) if error.is_retryable() => self.engine.release(claim).await,
            Err(Failure::Step(_) | Failure::Unclassified) => self.engine.abandon(claim).await,
            Err(Failure::Permanent) if work == Work::Atomic => self.engine.fail(claim, Outcome::new("failed")).await,
            Err(Failure::Permanent) => {
                let undo = |undo| self.undo(execution, undo);
                let compensated = self.engine.compensate(claim, Outcome::new("failed"), undo).await;
                return self.compensated(&compensated);
            }
        };
        self.judge.say(|| format!("attempt {} ends: {completion:?}", self.number));
        self.work_ended(completion, is_result.then_some(body)).await;
    }

    /// Goes on with undoing.
    pub(super) async fn resume(&self, claim: Claim) {
        self.judge.count(|counts| &mut counts.resumed);
        let execution = claim.record().execution;
        let _at_work = self.at_work(claim.record(), true);
        let compensated = self.engine.resume_compensation(claim, |undo| self.undo(execution, undo)).await;
        self.compensated(&compensated);
    }

    fn compensated(&self, compensated: &Compensated) {
        self.judge.say(|| format!("attempt {} has undone: {compensated:?}", self.number));
        match compensated {
            Compensated::Failed { .. } => self.judge.count(|counts| &mut counts.undone),
            Compensated::Stuck => self.judge.count(|counts| &mut counts.stuck),
            _ => {}
        }
    }

    async fn work_ended(&self, completion: Completion, body: Option<String>) {
        match completion {
            Completion::Stored => {
                if let Some(body) = body {
                    self.judge.told(body.as_bytes(), self.plan.request);
                }
            }
            Completion::Superseded(Some(replay)) if !replay.is_failure() => {
                self.judge.told(replay.body().unwrap_or_default(), self.plan.request);
            }
            Completion::Superseded(_) => self.judge.count(|counts| &mut counts.superseded),
            Completion::Vanished | Completion::Unconfirmed | Completion::Uncommitted | Completion::CommitRefused => {
                self.judge.count(|counts| &mut counts.unconfirmed);
            }
            Completion::Refused(refusal) => {
                self.judge.count(|counts| &mut counts.refused);
                // An atomic operation, or one that has nothing to undo, fails; the others undo.
                let execution = refusal.claim.record().execution;
                let undo = |undo| self.undo(execution, undo);
                let compensated = self.engine.compensate(refusal.claim, Outcome::new("refused"), undo).await;
                self.compensated(&compensated);
            }
            Completion::Instead(claimed) => match *claimed {
                Claimed::Replay(replay) => {
                    self.judge.count(|counts| &mut counts.instead);
                    if !replay.is_failure() {
                        self.judge.told(replay.body().unwrap_or_default(), self.plan.request);
                    }
                }
                Claimed::Mismatch => self.judge.count(|counts| &mut counts.mismatches),
                _ => {}
            },
        }
    }

    async fn transfer(&self, attempt: &idempotency_core::Attempt) -> Result<(), Failure> {
        sleep(self.plan.before_effect).await;
        stage(attempt)?;
        sleep(self.plan.after_effect).await;
        self.returns()
    }

    fn returns(&self) -> Result<(), Failure> {
        match self.plan.returns {
            Returns::Result => Ok(()),
            Returns::Retryable => Err(Failure::Retryable),
            Returns::Permanent => Err(Failure::Permanent),
            Returns::Unclassified => Err(Failure::Unclassified),
        }
    }

    async fn all_steps(&self, attempt: &idempotency_core::Attempt, execution: ExecutionId) -> Result<(), Failure> {
        let output = format!("{execution} by {}", self.number);
        for (place, name) in STEPS.into_iter().enumerate() {
            // Those who fail do so before the first step, between the steps, or after them.
            if place == self.number % 4 {
                self.returns()?;
            }
            let call = async |_: IdempotencyKey| -> Result<String, Failure> {
                sleep(self.plan.before_effect / 4).await;
                self.breaks(self.ledger().call(execution, name));
                // Its process may die before anybody knows.
                sleep(self.plan.before_effect / 4).await;
                Ok(output.clone())
            };
            let seen: String = attempt.step_with_undo(name, call).await?;
            self.breaks(self.ledger().sees(execution, name, &seen, seen == output));
        }
        let memo: String = attempt.memo("memo", &1, async || Ok::<_, Failure>(output.clone())).await?;
        self.breaks(self.ledger().sees(execution, "memo", &memo, false));
        let call = async |_: IdempotencyKey| -> Result<(), Failure> {
            self.breaks(self.ledger().mark());
            Ok(())
        };
        attempt.once("notice", "same", call).await?;
        stage(attempt)?;
        sleep(self.plan.after_effect).await;
        self.returns()
    }

    async fn undo(&self, execution: ExecutionId, undo: Undo) -> Result<Undone, Error> {
        sleep(self.plan.after_effect / 2).await;
        if self.number.is_multiple_of(5) {
            return Ok(Undone::Later);
        }
        if self.number.is_multiple_of(11) {
            return Err("it cannot be undone".into());
        }
        self.judge.say(|| format!("attempt {} undoes {}", self.number, undo.step()));
        self.breaks(self.ledger().undo(execution, undo.step()));
        Ok(Undone::Done)
    }
}

/// Stages a transfer of one.
fn stage(attempt: &idempotency_core::Attempt) -> Result<(), StageError> {
    let by = |account: &str, amount: i64| {
        TableWrite::increment("accounts", std::collections::BTreeMap::from([("id", account)]), "balance", amount)
    };
    attempt.stage(by("from", -1)?.only_if("balance >= :least").value(":least", 1)?)?;
    attempt.stage(by("to", 1)?)
}
