//! A batch under faults: which requests carried which member, and what became of them.
//!
//! How a store makes a batch is its own business: one request for many members, one for each, reads of what refused a write. So
//! the requests are taken from the proxy's log. A request carries a member if it names the member's key.

use idempotency_core::{RecordKey, Store};
use serde_json::Value;

use super::fault::Transmission;
use super::machine::Step;
use super::records::Sent;
use super::run::{Run, any_of, failed, kind, strongly_consistent};
use super::told::Told;
use crate::fault_proxy::{RecordedRequest, Rule};
use crate::store_conformance::batch::{Batch, Kind};
use crate::store_conformance::failure::FailedCall;
use crate::store_conformance::report::Report;

impl<S: Store> Run<'_, S> {
    /// Makes the call; each member is told what its own requests allow.
    pub(super) async fn batch(
        &mut self,
        step: &Step,
        batch: &Batch,
        transmissions: &[Transmission],
        report: &mut Report,
    ) -> Result<String, FailedCall> {
        for (index, fault) in transmissions.iter().enumerate() {
            if let Some(fault) = fault.fault() {
                self.proxy.inject(Rule::any().nth(index as u64 + 1).fault(fault));
            }
        }
        let before = self.requests_before();
        let answered = self.keys.real_batch(batch).on(&self.store, self.within).await;
        self.proxy.clear_rules();
        let requests = self.proxy.requests().split_off(before);
        strongly_consistent(step, &requests)?;
        if answered.len() != batch.members.len() {
            return Err(failed(
                step,
                &format!("{} answers", batch.members.len()),
                &format!("{} answers", answered.len()),
            ));
        }
        let mut text = step.to_string();
        for (call, answered) in batch.members.iter().zip(answered) {
            let told = Told::from(answered.map(|answer| self.keys.named_answer(call.key(), answer)));
            let sent = sent(&requests, &self.keys.real(call.key()), transmissions);
            let possible = self.records.settled(call, &sent, batch.kind == Kind::Writes, &told);
            possible.map_err(|allowed| FailedCall {
                call: format!("{step}\n     in which {call}\n     sent: {sent:?}"),
                ..failed(step, &any_of(&allowed), &told)
            })?;
            report.count(kind(&told, call));
            text.push_str(&format!("\n     {told}"));
        }
        report.batches += 1;
        Ok(text)
    }
}

/// The transmissions that carried a key, in order.
fn sent(requests: &[RecordedRequest], key: &RecordKey, transmissions: &[Transmission]) -> Vec<Sent> {
    let carried = requests.iter().filter(|request| names(&request.body, key.as_str()));
    carried
        .map(|request| {
            let of_fault = |transmission: &&Transmission| transmission.fault() == request.fault;
            let transmission = transmissions.iter().find(of_fault).copied().unwrap_or(Transmission::Passes);
            let transmission = of_member(transmission, &request.body, key);
            let reads = ["GetItem", "BatchGetItem", "Query", "Scan"].contains(&request.operation.as_str());
            Sent { reads, transmission }
        })
        .collect()
}

/// What a transmission is to the member with this key.
fn of_member(transmission: Transmission, body: &Value, key: &RecordKey) -> Transmission {
    let Transmission::Member { place, code } = transmission else { return transmission };
    let tables = body.get("RequestItems").and_then(Value::as_object);
    let keys = tables.and_then(|tables| tables.values().next()?.get("Keys"));
    let members = body.get("Statements").or(keys).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let refused = place.checked_rem(members.len()).and_then(|place| members.get(place));
    match refused.is_some_and(|member| names(member, key.as_str())) {
        true => Transmission::Throttled(code),
        false => Transmission::Passes,
    }
}

fn names(body: &Value, key: &str) -> bool {
    match body {
        Value::String(text) => text == key,
        Value::Array(values) => values.iter().any(|value| names(value, key)),
        Value::Object(members) => members.values().any(|value| names(value, key)),
        _ => false,
    }
}
