//! What a batch may answer: what the single calls of its members may, made side by side.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use idempotency_core::{Record, RecordKey, Store};

use super::batch::{Batch, Kind};
use super::call::{Answer, Call};
use super::failure::{FailedCall, chain};
use super::keys::Keys;
use super::reference::{Reference, write};
use super::report::Report;

/// Makes the call, checks each answer, and looks at each key that it may have changed.
pub(super) async fn run<S: Store>(
    store: &S,
    batch: &Batch,
    keys: &Keys,
    reference: &mut Reference,
    within: Duration,
    report: &mut Report,
) -> Result<String, FailedCall> {
    let answers = answers(store, batch, keys, within).await?;
    reference.last_batch = Some(batch.clone());
    for (key, members) in by_key(batch, &answers) {
        let before = reference.records.get(&key).cloned();
        let afterwards = afterwards(before.as_ref(), &members);
        if afterwards.is_empty() {
            return Err(unlike_single_calls(before.as_ref(), &members));
        }
        if batch.kind == Kind::Writes {
            let look = Call::Get(key.clone());
            let stored = keys.real_call(&look).on(store, within).await.map(|answer| keys.named_answer(&key, answer));
            match stored {
                Ok(Answer::Record(stored)) if afterwards.contains(&stored) => {
                    if let Some(stored) = stored {
                        reference.records.insert(key, stored);
                    }
                }
                other => {
                    let answered = other.map_or_else(|error| chain(&error), |answer| answer.to_string());
                    let call = format!("{batch}\n     and then {look}");
                    return Err(FailedCall {
                        call,
                        expected: any_of(afterwards.into_iter().map(Answer::Record)),
                        answered,
                    });
                }
            }
        }
    }
    batch.members.iter().zip(&answers).for_each(|(call, answer)| report.count(answer.kind(call)));
    report.batches += 1;
    let answers: Vec<_> = answers.iter().map(|answer| format!("\n     {answer}")).collect();
    Ok(format!("{batch}{}", answers.concat()))
}

async fn answers<S: Store>(store: &S, batch: &Batch, keys: &Keys, within: Duration) -> Result<Vec<Answer>, FailedCall> {
    let answered = keys.real_batch(batch).on(store, within).await;
    if answered.len() != batch.members.len() {
        let (expected, answered) = (batch.members.len(), answered.len());
        return Err(FailedCall {
            call: batch.to_string(),
            expected: format!("{expected} answers"),
            answered: format!("{answered} answers"),
        });
    }
    let named = batch.members.iter().zip(answered).map(|(call, answered)| match answered {
        Ok(answer) => Ok(keys.named_answer(call.key(), answer)),
        Err(error) => {
            let call = format!("{batch}\n     in which {call}");
            Err(FailedCall { call, expected: "an answer".to_owned(), answered: chain(&error) })
        }
    });
    named.collect()
}

/// The members with their answers. Keys do not depend on each other.
fn by_key<'a>(batch: &'a Batch, answers: &'a [Answer]) -> BTreeMap<RecordKey, Vec<(&'a Call, &'a Answer)>> {
    let mut keys: BTreeMap<RecordKey, Vec<_>> = BTreeMap::new();
    for member in batch.members.iter().zip(answers) {
        keys.entry(member.0.key().clone()).or_default().push(member);
    }
    keys
}

/// What may be stored after the members, in any order in which each has its answer; nothing when there is no such order.
fn afterwards(before: Option<&Record>, members: &[(&Call, &Answer)]) -> HashSet<Option<Record>> {
    if members.is_empty() {
        return HashSet::from([before.cloned()]);
    }
    let mut ends = HashSet::new();
    for index in 0..members.len() {
        let mut others = members.to_vec();
        let (call, answer) = others.remove(index);
        let (expected, stored) = write(before, call);
        if expected == *answer {
            ends.extend(afterwards(stored.as_ref().or(before), &others));
            // One that changes nothing may as well be the first; other orders end in no other state.
            if stored.is_none() {
                break;
            }
        }
    }
    ends
}

fn unlike_single_calls(before: Option<&Record>, members: &[(&Call, &Answer)]) -> FailedCall {
    let calls: Vec<_> = members.iter().map(|(call, _)| call.to_string()).collect();
    let answered: Vec<_> = members.iter().map(|(_, answer)| answer.to_string()).collect();
    let expected = match members {
        [(call, _)] => write(before, call).0.to_string(),
        _ => "the answers of these calls in some order".to_owned(),
    };
    FailedCall {
        call: format!("in one batch: {}", calls.join("\n         and: ")),
        expected,
        answered: answered.join("\n          and: "),
    }
}

fn any_of(answers: impl Iterator<Item = Answer>) -> String {
    let mut texts: Vec<_> = answers.map(|answer| answer.to_string()).collect();
    texts.sort_unstable();
    texts.join("\n           or: ")
}
