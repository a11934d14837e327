//! A stack on which one case after the other is carried out.

use std::time::Duration;

use futures::future::join;
use idempotency_core::Record;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, FaultProxy, Gate, Rule},
    lambda::{Logs, Sandbox},
    payment_provider::Behaviour,
};

use super::{
    case::{Blow, Callee, Case, Path, Policy, Step},
    judge::Observed,
};
use crate::{
    CliError, Records, Stack, StackOptions,
    client::{Answer, Charge, Client},
};

/// Far from any time that a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a caller repeats a request whose answer is not definite.
const REPETITIONS: usize = 12;

/// The pause where an answer advises a longer one, which would only be waited for.
const PAUSE: Duration = Duration::from_millis(20);

const TENANT: &str = "tenant-7";
const AMOUNT: u64 = 1200;

/// One stack, whose function has one policy.
pub(super) struct Bench {
    stack: Stack,
    policy: Policy,
    client: Client,
    records: Records,
    carried_out: u32,
}

/// A path without a fault: what was seen, and how many requests went to each callee.
pub(super) struct Undisturbed {
    pub(super) seen: Observed,
    pub(super) steps: Vec<Step>,
}

impl Bench {
    pub(super) async fn start(policy: Policy) -> Result<Self, CliError> {
        let options = StackOptions { timeout: PATIENCE, logs: Logs::Discard, ..StackOptions::default() };
        let stack = Stack::start(options.env("ON_ABANDONED", policy.name())).await?;
        Ok(Self { client: Client::new(stack.url())?, records: stack.records(), policy, stack, carried_out: 0 })
    }

    pub(super) async fn stop(self) {
        self.stack.stop().await;
    }

    /// Sends the path's request with nothing in its way.
    pub(super) async fn undisturbed(&mut self, path: Path) -> Result<Undisturbed, CliError> {
        let key = self.prepare(path).await?;
        let before = self.charges();
        let first = self.send(path, &key).await?;
        let steps = [Callee::Store, Callee::Provider].into_iter().flat_map(|callee| {
            let requests = self.proxy(callee).requests().len() as u64;
            (1..=requests).map(move |nth| Step { callee, nth })
        });
        let steps = steps.collect();
        let definite = self.persist(path, &key, &first).await?;
        let seen = self.conclude(path, &key, before, first, definite).await?;
        Ok(Undisturbed { seen, steps })
    }

    /// Carries a case out.
    pub(super) async fn carry_out(&mut self, case: &Case) -> Result<Observed, CliError> {
        let Case { path, step, blow, .. } = *case;
        let key = self.prepare(path).await?;
        let before = self.charges();
        let gate = Gate::new();
        let proxy = self.proxy(step.callee);
        proxy.inject(Rule::any().nth(step.nth).fault(fault(blow, &gate)));
        let course = async {
            match blow {
                Blow::KillBefore | Blow::KillAfter | Blow::KillLate => {
                    let sandbox = self.sandbox_at(&gate).await?;
                    sandbox.kill();
                    sandbox.exited().await;
                    Ok(None)
                }
                Blow::FreezeAfter | Blow::FreezeLate => self.overtake(case, &key, &gate).await.map(Some),
                _ => Ok::<_, CliError>(None),
            }
        };
        let (first, overtaken) = join(self.send(path, &key), course).await;
        let (first, overtaken) = (first?, overtaken?);
        let definite = match overtaken {
            Some((definite, record)) => return self.observe(path, &key, before, first, definite, record).await,
            None => self.persist(path, &key, &first).await?,
        };
        if matches!(blow, Blow::Late | Blow::KillLate) {
            let record = self.record().await?;
            gate.open();
            self.carried(step).await?;
            return self.observe(path, &key, before, first, definite, record).await;
        }
        self.conclude(path, &key, before, first, definite).await
    }

    /// Freezes the attempt, lets another one take its place, and thaws it.
    async fn overtake(
        &self,
        case: &Case,
        key: &str,
        gate: &Gate,
    ) -> Result<(Option<Answer>, Option<Record>), CliError> {
        let frozen = self.sandbox_at(gate).await?;
        frozen.pause();
        if case.blow == Blow::FreezeAfter {
            // Its reply, if it was a reply that was held, lies in the socket now.
            gate.open();
        }
        self.records.end_leases().await?;
        let answer = self.send(case.path, key).await?;
        let definite = self.persist(case.path, key, &answer).await?;
        let record = self.record().await?;
        gate.open();
        self.carried(case.step).await?;
        frozen.resume();
        Ok((definite, record))
    }

    /// Waits until a request is held at the gate, and finds the sandbox that sent it.
    async fn sandbox_at(&self, gate: &Gate) -> Result<Sandbox, CliError> {
        eventually(PATIENCE, async || {
            let reached = tokio::time::timeout(Duration::from_secs(1), gate.reached()).await.is_ok();
            let busy = self.stack.function().sandboxes().into_iter().find(Sandbox::is_busy);
            busy.filter(|_| reached)
        })
        .await
        .map_err(|source| CliError::Waited { what: "the request with the fault", source })
    }

    /// Waits until the request that was held has been applied.
    async fn carried(&self, step: Step) -> Result<(), CliError> {
        eventually(PATIENCE, async || {
            let requests = self.proxy(step.callee).requests();
            let held = requests.iter().find(|request| request.fault.is_some());
            held.is_none_or(|request| request.status.is_some()).then_some(())
        })
        .await
        .map_err(|source| CliError::Waited { what: "the late request", source })
    }

    /// A key of its own with what the path needs stored under it.
    async fn prepare(&mut self, path: Path) -> Result<String, CliError> {
        self.carried_out += 1;
        let key = format!("order-{}", self.carried_out);
        self.provider(Behaviour::default());
        self.records.delete_all().await?;
        match path {
            Path::Fresh => {}
            Path::Declined => self.provider(Behaviour { decline: 1, ..Behaviour::default() }),
            Path::TurnedAway => self.provider(Behaviour { turn_away: 1, ..Behaviour::default() }),
            // The provider knows the key with another amount.
            Path::Refused => {
                self.client.charge_at_provider(self.stack.provider().url(), &charge(&key, AMOUNT + 1)).await?
            }
            Path::Resume => {
                self.provider(Behaviour { turn_away: 1, ..Behaviour::default() });
                self.send(path, &key).await?;
            }
            Path::Abandoned | Path::InFlight => {
                self.provider(Behaviour { fail_before_charging: 1, ..Behaviour::default() });
                self.send(path, &key).await?;
                if path == Path::Abandoned {
                    self.records.end_leases().await?;
                }
            }
            Path::Replay | Path::Expired | Path::Mismatch => {
                self.client.charge(&charge(&key, AMOUNT)).await?;
                if path == Path::Expired {
                    self.records.end_storage_ttls().await?;
                }
            }
        }
        for callee in [Callee::Store, Callee::Provider] {
            self.proxy(callee).clear_rules();
            self.proxy(callee).clear_requests();
        }
        Ok(key)
    }

    async fn send(&self, path: Path, key: &str) -> Result<Answer, CliError> {
        let amount = if path == Path::Mismatch { AMOUNT + 1 } else { AMOUNT };
        self.client.charge(&charge(key, amount)).await
    }

    /// Repeats the request until the answer is definite, as a caller does who must know. Waiting for the end of a lease is
    /// what changing the record stands for.
    async fn persist(&self, path: Path, key: &str, first: &Answer) -> Result<Option<Answer>, CliError> {
        let mut answer = first.clone();
        for _ in 0..REPETITIONS {
            if answer.is_definite(self.policy) {
                return Ok(Some(answer));
            }
            if answer.status == 503 {
                tokio::time::sleep(PAUSE).await;
            }
            self.records.end_leases().await?;
            answer = self.send(path, key).await?;
        }
        Ok(None)
    }

    async fn conclude(
        &self,
        path: Path,
        key: &str,
        before: usize,
        first: Answer,
        definite: Option<Answer>,
    ) -> Result<Observed, CliError> {
        let record = self.record().await?;
        self.observe(path, key, before, first, definite, record).await
    }

    async fn observe(
        &self,
        path: Path,
        key: &str,
        before: usize,
        first: Answer,
        definite: Option<Answer>,
        record: Option<Record>,
    ) -> Result<Observed, CliError> {
        let struck = |callee| self.proxy(callee).requests().iter().any(|request| request.fault.is_some());
        let struck = struck(Callee::Store) || struck(Callee::Provider);
        let again = self.send(path, key).await?;
        Ok(Observed {
            struck,
            first,
            definite,
            again,
            // A probe's question is no charge.
            runs: self
                .proxy(Callee::Provider)
                .requests()
                .iter()
                .filter(|asked| asked.operation.starts_with("POST"))
                .count(),
            charges: self.charges() - before,
            record,
            record_at_the_end: self.record().await?,
        })
    }

    async fn record(&self) -> Result<Option<Record>, CliError> {
        Ok(self.records.all().await?.pop())
    }

    fn charges(&self) -> usize {
        self.stack.provider().ledger().len()
    }

    fn provider(&self, behaviour: Behaviour) {
        self.stack.provider().set_behaviour(behaviour);
    }

    const fn proxy(&self, callee: Callee) -> &FaultProxy {
        match callee {
            Callee::Store => self.stack.proxy(),
            Callee::Provider => self.stack.provider_proxy(),
        }
    }
}

const fn charge(key: &str, amount: u64) -> Charge<'_> {
    Charge { tenant: TENANT, key, amount }
}

fn fault(blow: Blow, gate: &Gate) -> Fault {
    match blow {
        Blow::DropBefore => Fault::DropBefore,
        Blow::DropAfter => Fault::DropAfter,
        Blow::ResetBefore => Fault::ResetBefore,
        Blow::ResetAfter => Fault::ResetAfter,
        Blow::ErrorBefore => Fault::ErrorBefore,
        Blow::ErrorAfter => Fault::ErrorAfter,
        Blow::Throttle => Fault::Throttle,
        Blow::Late | Blow::KillBefore | Blow::KillLate | Blow::FreezeLate => Fault::Hold(gate.clone()),
        Blow::KillAfter | Blow::FreezeAfter => Fault::HoldAfter(gate.clone()),
    }
}
