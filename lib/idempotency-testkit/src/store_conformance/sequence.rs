//! One sequence of calls on a store and on the reference.

use std::time::Duration;

use idempotency_core::Store;

use super::call::Call;
use super::failure::{FailedCall, FailedSequence, chain};
use super::keys::Keys;
use super::reference::Reference;
use super::report::Report;
use super::search::Progress;

/// Makes the calls one after the other, under keys of their own. Every answer must be the reference's.
pub(super) async fn run<S: Store>(
    store: &S,
    calls: Vec<Call>,
    progress: Progress,
    within: Duration,
    report: &mut Report,
) -> Result<(), FailedSequence> {
    let keys = Keys::fresh();
    let mut reference = Reference::default();
    let mut before = Vec::new();
    for call in calls {
        progress.step();
        let answered = keys.real_call(&call).on(store, within).await;
        let answered = answered.map(|answer| keys.named_answer(call.key(), answer));
        let expected = reference.answer(&call);
        match answered {
            Ok(answer) if answer == expected => report.count(answer.kind(&call)),
            other => {
                let answered = other.map_or_else(|error| chain(&error), |answer| answer.to_string());
                let failure = FailedCall { call: call.to_string(), expected: expected.to_string(), answered };
                return Err(FailedSequence { calls: before, failure, found: None });
            }
        }
        before.push(format!("{call}\n     {expected}"));
    }
    report.sequences += 1;
    Ok(())
}
