//! One sequence of calls on a store and on the reference.

use std::time::Duration;

use idempotency_core::Store;

use super::batch_check;
use super::call::Call;
use super::failure::{FailedCall, FailedSequence, chain};
use super::keys::Keys;
use super::machine::Step;
use super::reference::Reference;
use super::report::Report;
use super::search::Progress;

/// Makes the calls one after the other, under keys of their own. Every answer must be the reference's.
pub(super) async fn run<S: Store>(
    store: &S,
    steps: Vec<Step>,
    progress: Progress,
    within: Duration,
    report: &mut Report,
) -> Result<(), FailedSequence> {
    let keys = Keys::fresh();
    let mut reference = Reference::default();
    let mut before = Vec::new();
    for step in steps {
        progress.step();
        let made = match &step {
            Step::Call(call) => single(store, call, &keys, &mut reference, within, report).await,
            Step::Batch(batch) => batch_check::run(store, batch, &keys, &mut reference, within, report).await,
        };
        match made {
            Ok(made) => before.push(made),
            Err(failure) => return Err(FailedSequence { calls: before, failure, found: None }),
        }
    }
    report.sequences += 1;
    Ok(())
}

async fn single<S: Store>(
    store: &S,
    call: &Call,
    keys: &Keys,
    reference: &mut Reference,
    within: Duration,
    report: &mut Report,
) -> Result<String, FailedCall> {
    let answered = keys.real_call(call).on(store, within).await;
    let answered = answered.map(|answer| keys.named_answer(call.key(), answer));
    let expected = reference.answer(call);
    match answered {
        Ok(answer) if answer == expected => {
            report.count(answer.kind(call));
            Ok(format!("{call}\n     {expected}"))
        }
        other => {
            let answered = other.map_or_else(|error| chain(&error), |answer| answer.to_string());
            Err(FailedCall { call: call.to_string(), expected: expected.to_string(), answered })
        }
    }
}
