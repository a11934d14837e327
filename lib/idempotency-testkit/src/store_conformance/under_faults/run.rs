//! One sequence of steps on a store behind the proxy and on the set of possible states.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use idempotency_core::{RecordKey, Store};
use serde_json::Value;

use super::fault::Transmission;
use super::machine::{Step, look};
use super::parts::PartsOf;
use super::records::Records;
use super::told::Told;
use crate::eventually;
use crate::fault_proxy::{Fault, FaultProxy, Gate, RecordedRequest, Rule};
use crate::store_conformance::call::Call;
use crate::store_conformance::failure::{FailedCall, FailedSequence};
use crate::store_conformance::keys::{Keys, NAMES};
use crate::store_conformance::report::Report;
use crate::store_conformance::search::Progress;

/// Makes the steps one after the other, lets everything arrive, and looks at every key.
pub(super) async fn run<S: Store>(
    store: S,
    proxy: &FaultProxy,
    steps: Vec<Step>,
    progress: Progress,
    within: Duration,
    report: &mut Report,
) -> Result<(), FailedSequence> {
    proxy.clear_rules();
    proxy.clear_requests();
    let mut run = Run {
        store,
        proxy,
        keys: Keys::fresh(),
        within,
        records: Records::default(),
        parts: PartsOf::default(),
        held: Gate::new(),
        late: 0,
    };
    let ending: Vec<_> = names(&steps).into_iter().map(Step::Look).collect();
    let steps = steps.into_iter().map(|step| (step, true));
    let ending = [Step::Arrive].into_iter().chain(ending).map(|step| (step, false));
    let mut before = Vec::new();
    for (step, generated) in steps.chain(ending) {
        if generated {
            progress.step();
        }
        match run.step(&step, report).await {
            Ok(told) => before.push(told),
            Err(failure) => return Err(FailedSequence { calls: before, failure, found: None }),
        }
    }
    report.sequences += 1;
    Ok(())
}

/// All keys of the steps.
fn names(steps: &[Step]) -> BTreeSet<RecordKey> {
    let mut names = BTreeSet::from(NAMES.map(RecordKey::from_stored));
    for step in steps {
        if let Step::Batch(batch, _) = step {
            names.extend(batch.members.iter().map(|call| call.key().clone()));
        }
    }
    names
}

pub(super) struct Run<'a, S> {
    pub(super) store: S,
    pub(super) proxy: &'a FaultProxy,
    pub(super) keys: Keys,
    pub(super) within: Duration,
    pub(super) records: Records,
    parts: PartsOf,
    /// Holds late writes.
    held: Gate,
    /// How many it holds.
    late: usize,
}

impl<S: Store> Run<'_, S> {
    /// Makes a step; what it was and what came of it.
    async fn step(&mut self, step: &Step, report: &mut Report) -> Result<String, FailedCall> {
        match step {
            Step::Call(call, transmissions) => self.call(step, call, transmissions, report).await,
            Step::Batch(batch, transmissions) => self.batch(step, batch, transmissions, report).await,
            Step::Look(key) => self.call(step, &look(key), &[], report).await,
            Step::Late(call) => self.late(step, call, report).await,
            Step::Arrive => self.arrive(step).await,
        }
    }

    async fn call(
        &mut self,
        step: &Step,
        call: &Call,
        transmissions: &[Transmission],
        report: &mut Report,
    ) -> Result<String, FailedCall> {
        let is_write = is_record_write(call);
        for (index, fault) in transmissions.iter().enumerate() {
            if let Some(fault) = fault.fault() {
                let rule = Rule::any().when(move |request| writes_record(&request.body) == is_write);
                self.proxy.inject(rule.nth(index as u64 + 1).fault(fault));
            }
        }
        let before = self.requests_before();
        let answered = self.keys.real_call(call).on(&self.store, self.within).await;
        let told = Told::from(answered.map(|answer| self.keys.named_answer(call.key(), answer)));
        self.proxy.clear_rules();
        let requests = self.proxy.requests().split_off(before);
        strongly_consistent(step, &requests)?;
        let possible = if is_write || matches!(call, Call::Get(_)) {
            let sent = requests.iter().filter(|request| writes_record(&request.body) == is_write).count();
            self.records.called(call, transmissions, sent, &told)
        } else {
            self.parts.called(call, transmissions, &told)
        };
        possible.map_err(|allowed| failed(step, &any_of(&allowed), &told))?;
        report.count(kind(&told, call));
        Ok(format!("{step}\n     {told}"))
    }

    /// How many requests stand in the log. It tells when what is held up has arrived; without that it need not grow.
    pub(super) fn requests_before(&self) -> usize {
        if self.late == 0 {
            self.proxy.clear_requests();
        }
        self.proxy.requests().len()
    }

    /// Sends a write, gives up when its request is on its way, and leaves it there.
    async fn late(&mut self, step: &Step, call: &Call, report: &mut Report) -> Result<String, FailedCall> {
        let arrived = self.held.reached_by(self.late + 1);
        let rule = Rule::any().when(|request| writes_record(&request.body));
        self.proxy.inject(rule.fault(Fault::Hold(self.held.clone())));
        let real = self.keys.real_call(call);
        let answered = tokio::select! {
            answered = real.on(&self.store, self.within) => Some(Told::from(answered)),
            () = arrived => None,
        };
        self.proxy.clear_rules();
        if let Some(told) = answered {
            return Err(failed(step, &"no answer while the request is held up", &told));
        }
        self.late += 1;
        self.records.late(call);
        report.count("given up");
        Ok(step.to_string())
    }

    /// Lets everything go that is held up, and waits until it has been applied.
    async fn arrive(&mut self, step: &Step) -> Result<String, FailedCall> {
        std::mem::take(&mut self.held).open();
        let arrived = eventually(self.within, async || (self.held_requests() == 0).then_some(())).await;
        arrived.map_err(|late| failed(step, &"that it arrives", &late))?;
        self.late = 0;
        self.records.all_landed();
        Ok(step.to_string())
    }

    fn held_requests(&self) -> usize {
        let held =
            |request: &RecordedRequest| matches!(request.fault, Some(Fault::Hold(_))) && request.status.is_none();
        self.proxy.requests().iter().filter(|request| held(request)).count()
    }
}

/// A sequence that failed leaves nothing waiting in the proxy.
impl<S> Drop for Run<'_, S> {
    fn drop(&mut self) {
        self.held.open();
    }
}

fn is_record_write(call: &Call) -> bool {
    matches!(call, Call::Insert(_) | Call::Replace { .. })
}

/// A record is written under a condition, and a part is not.
fn writes_record(body: &Value) -> bool {
    body.get("ConditionExpression").is_some()
}

/// An eventually consistent read may miss what was written before; no engine here shows it.
pub(super) fn strongly_consistent(step: &Step, requests: &[RecordedRequest]) -> Result<(), FailedCall> {
    let eventual = requests.iter().find(|request| {
        let reads = ["GetItem", "BatchGetItem", "Query", "Scan"].contains(&request.operation.as_str());
        reads && !is_consistent(&request.body)
    });
    eventual.map_or(Ok(()), |request| {
        Err(failed(step, &"strongly consistent reads", &format!("a {} without ConsistentRead", request.operation)))
    })
}

/// A batch says it for each table.
fn is_consistent(body: &Value) -> bool {
    let says_so = |part: &Value| part.get("ConsistentRead") == Some(&Value::Bool(true));
    match body.get("RequestItems").and_then(Value::as_object) {
        Some(tables) => tables.values().all(says_so),
        None => says_so(body),
    }
}

pub(super) fn kind(told: &Told, call: &Call) -> &'static str {
    match told {
        Told::Answer(answer) => answer.kind(call),
        Told::Unknown => "unknown",
        Told::Throttled => "throttled",
        Told::Error(_) => "error",
    }
}

pub(super) fn any_of(allowed: &[Told]) -> String {
    let mut texts: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.join("\n           or: ")
}

pub(super) fn failed(step: &Step, expected: &dyn fmt::Display, answered: &dyn fmt::Display) -> FailedCall {
    FailedCall { call: step.to_string(), expected: expected.to_string(), answered: answered.to_string() }
}
