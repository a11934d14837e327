//! Calls at the same time, from tasks of their own.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use idempotency_core::{OwnerToken, Record, RecordKey, Store, StoreError, StoredResult};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::batch::{Batch, Kind};
use super::call::{Answer, Call};
use super::config::Config;
use super::failure::{FailedCall, Nonconformance, chain};
use super::keys::{Keys, NAMES};
use super::plain::plain_record;
use super::report::Report;

/// How often each race is run.
const ROUNDS: usize = 4;

/// How often each caller raises each number.
const RAISES: usize = 2;

const INSERTS: &str = "one of many inserts of a key wins";
const REPLACES: &str = "one of many replaces of a version wins";
const BATCHES: &str = "one of many batches wins each key";
const COUNTERS: &str = "no change of a record is lost among changes of others";

pub(super) async fn run<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), Nonconformance> {
    for _ in 0..ROUNDS {
        inserts(store, config, report).await.map_err(|failure| Nonconformance::Race { race: INSERTS, failure })?;
        replaces(store, config, report).await.map_err(|failure| Nonconformance::Race { race: REPLACES, failure })?;
        batches(store, config, report).await.map_err(|failure| Nonconformance::Race { race: BATCHES, failure })?;
    }
    counters(store, config, report).await.map_err(|failure| Nonconformance::Race { race: COUNTERS, failure })
}

/// Exactly one is inserted, and all others are shown its record.
async fn inserts<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), FailedCall> {
    let key = fresh_key();
    let calls = (0..config.callers).map(|caller| Call::Insert(record(&key, caller, 1))).collect();
    let answers = at_once(store, calls, config).await?;
    one_wins(answers, &Answer::Inserted, Answer::Exists, report)
}

/// Exactly one replaces, and all others are shown its record.
async fn replaces<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), FailedCall> {
    let first = record(&fresh_key(), config.callers, 1);
    expect(store, &Call::Insert(first.clone()), &Answer::Inserted, config).await?;
    let replace = |caller| Call::Replace { expected: first.version(), record: record(&first.key, caller, 2) };
    let answers = at_once(store, (0..config.callers).map(replace).collect(), config).await?;
    one_wins(answers, &Answer::Replaced, |winner| Answer::Differs(Some(winner)), report)
}

/// Every caller inserts the same keys by one call. For each key exactly one does, and all others are shown its record.
async fn batches<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), FailedCall> {
    let keys = NAMES.map(|_| fresh_key());
    let batch = |caller: usize| {
        let mut members: Vec<_> = keys.iter().map(|key| Call::Insert(record(key, caller, 1))).collect();
        // Each caller begins with another key.
        members.rotate_left(caller % keys.len());
        Batch { kind: Kind::Writes, members }
    };
    let start = Arc::new(Barrier::new(config.callers));
    let mut tasks = JoinSet::new();
    for caller in 0..config.callers {
        let (store, start, within, batch) = (Arc::clone(store), Arc::clone(&start), config.within, batch(caller));
        tasks.spawn(async move {
            start.wait().await;
            let answers = batch.on(&*store, within).await;
            let told = |(call, answer): (Call, Result<Answer, StoreError>)| match answer {
                Ok(answer) => Ok((call, answer)),
                Err(error) => Err(no_answer(&call, &error)),
            };
            batch.members.into_iter().zip(answers).map(told).collect::<Result<Vec<_>, _>>()
        });
    }
    let answers: Vec<_> = joined(tasks).await.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    for key in &keys {
        let of_key = answers.iter().filter(|(call, _)| call.key() == key).cloned().collect();
        one_wins(of_key, &Answer::Inserted, Answer::Exists, report)?;
    }
    Ok(())
}

fn one_wins(
    answers: Vec<(Call, Answer)>,
    won: &Answer,
    lost: impl Fn(Record) -> Answer,
    report: &mut Report,
) -> Result<(), FailedCall> {
    let winner = answers.iter().find_map(|(call, answer)| match call {
        Call::Insert(record) | Call::Replace { record, .. } if answer == won => Some(record.clone()),
        _ => None,
    });
    let mut winners = 0;
    for (call, answer) in answers {
        report.count(answer.kind(&call));
        let expected = match &winner {
            Some(winner) if answer != *won => lost(winner.clone()),
            _ => won.clone(),
        };
        winners += usize::from(answer == *won);
        if answer != expected || winners > 1 {
            let expected = if winners > 1 { "another call had won".to_owned() } else { expected.to_string() };
            return Err(FailedCall { call: call.to_string(), expected, answered: answer.to_string() });
        }
    }
    Ok(())
}

/// Every caller raises the epoch of every key a few times, each time by one from what it has seen. A change that is lost
/// or comes from an old state is missing in the sum.
async fn counters<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), FailedCall> {
    let keys = NAMES.map(|_| fresh_key());
    for key in &keys {
        let call = Call::Insert(record(key, config.callers, 0));
        expect(store, &call, &Answer::Inserted, config).await?;
    }
    let mut tasks = JoinSet::new();
    for caller in 0..config.callers {
        let (store, keys, config) = (Arc::clone(store), keys.clone(), config.clone());
        tasks.spawn(async move {
            let mut kinds = Vec::new();
            for turn in 0..RAISES * keys.len() {
                // Each caller begins with another key.
                if let Some(key) = keys.get((turn + caller) % keys.len()) {
                    raise(&*store, key, caller, &config, &mut kinds).await?;
                }
            }
            Ok(kinds)
        });
    }
    for kinds in joined(tasks).await {
        kinds?.into_iter().for_each(|kind| report.count(kind));
    }
    let raises = i64::try_from(config.callers * RAISES).unwrap_or(i64::MAX);
    for key in &keys {
        let stored = current(&**store, key, config).await?;
        if stored.epoch.get() != raises {
            let call = format!("read {key} after {raises} replaces that each raised its epoch by 1 from 0");
            return Err(FailedCall {
                call,
                expected: format!("epoch {raises}"),
                answered: format!("epoch {}", stored.epoch.get()),
            });
        }
    }
    Ok(())
}

/// Raises the epoch by one, from whatever it is.
async fn raise<S: Store>(
    store: &S,
    key: &RecordKey,
    caller: usize,
    config: &Config,
    kinds: &mut Vec<&'static str>,
) -> Result<(), FailedCall> {
    let mut seen = current(store, key, config).await?;
    loop {
        let record = record(key, caller, seen.epoch.get() + 1);
        let call = Call::Replace { expected: seen.version(), record };
        let answer = answer(store, &call, config).await?;
        kinds.push(answer.kind(&call));
        match answer {
            Answer::Replaced => return Ok(()),
            // Epochs only rise here, so an older one is a state that was already gone.
            Answer::Differs(Some(newer)) if newer.epoch > seen.epoch => seen = newer,
            other => {
                let expected = format!("replaced, or a record with an epoch above {}", seen.epoch.get());
                return Err(FailedCall { call: call.to_string(), expected, answered: other.to_string() });
            }
        }
    }
}

/// The record under a key that has one: what an insert is shown.
async fn current<S: Store>(store: &S, key: &RecordKey, config: &Config) -> Result<Record, FailedCall> {
    let call = Call::Insert(record(key, config.callers, -1));
    match answer(store, &call, config).await? {
        Answer::Exists(record) => Ok(record),
        other => Err(FailedCall {
            call: call.to_string(),
            expected: "the record that is stored".to_owned(),
            answered: other.to_string(),
        }),
    }
}

async fn expect<S: Store>(store: &Arc<S>, call: &Call, expected: &Answer, config: &Config) -> Result<(), FailedCall> {
    match answer(&**store, call, config).await? {
        answer if answer == *expected => Ok(()),
        other => {
            let (call, expected, answered) = (call.to_string(), expected.to_string(), other.to_string());
            Err(FailedCall { call, expected, answered })
        }
    }
}

async fn answer<S: Store>(store: &S, call: &Call, config: &Config) -> Result<Answer, FailedCall> {
    call.on(store, config.within).await.map_err(|error| no_answer(call, &error))
}

fn no_answer(call: &Call, error: &StoreError) -> FailedCall {
    FailedCall { call: call.to_string(), expected: "an answer".to_owned(), answered: chain(error) }
}

/// Starts all calls together and collects their answers in the calls' order.
async fn at_once<S: Store>(
    store: &Arc<S>,
    calls: Vec<Call>,
    config: &Config,
) -> Result<Vec<(Call, Answer)>, FailedCall> {
    let start = Arc::new(Barrier::new(calls.len()));
    let mut tasks = JoinSet::new();
    for call in calls {
        let (store, start, config) = (Arc::clone(store), Arc::clone(&start), config.clone());
        tasks.spawn(async move {
            start.wait().await;
            answer(&*store, &call, &config).await.map(|answer| (call, answer))
        });
    }
    joined(tasks).await.into_iter().collect()
}

/// What the tasks returned. A panic in one, which is one in the store, goes on here.
async fn joined<T: 'static>(mut tasks: JoinSet<T>) -> Vec<T> {
    let mut results = Vec::new();
    while let Some(result) = tasks.join_next().await {
        match result {
            Ok(result) => results.push(result),
            Err(error) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
    results
}

/// Gives each of the values to a call of its own, starts all calls together and collects what they return.
pub(super) async fn at_the_same_time<S: Store, T: Send + 'static, R: Send + 'static, F>(
    store: &Arc<S>,
    values: Vec<T>,
    call: impl Fn(Arc<S>, T) -> F,
) -> Vec<R>
where
    F: Future<Output = R> + Send + 'static,
{
    let start = Arc::new(Barrier::new(values.len()));
    let mut tasks = JoinSet::new();
    for value in values {
        let (start, call) = (Arc::clone(&start), call(Arc::clone(store), value));
        tasks.spawn(async move {
            start.wait().await;
            call.await
        });
    }
    joined(tasks).await
}

pub(super) fn fresh_key() -> RecordKey {
    Keys::fresh().real(&RecordKey::from_stored("race"))
}

/// A record that no other caller writes.
fn record(key: &RecordKey, caller: usize, epoch: i64) -> Record {
    let name = caller.to_string();
    let mut token = [0; 16];
    token.iter_mut().zip(name.bytes()).for_each(|(byte, digit)| *byte = digit);
    let record = plain_record(key.clone(), OwnerToken::from_bytes(token), epoch);
    Record { result: Some(StoredResult::Inline(Bytes::from(name))), ..record }
}
