//! Commits of a record, with events beside it: what any store can be asked without a table of the user's.

use std::sync::Arc;
use std::time::Duration;

use idempotency_core::{
    Committed, Effect, Epoch, EpochMillis, EpochSeconds, Event, OutboxEntry, OwnerToken, Record, RecordKey, Replaced,
    Row, Status, Store, StoreError, Version, Write,
};

use super::config::Config;
use super::expect::{answered, expect, failed, named};
use super::failure::{FailedCall, Nonconformance};
use super::plain::plain_record;
use super::races::{at_the_same_time, fresh_key};
use super::report::Report;
use super::values::STATUSES;

const INSERTS: &str = "a commit inserts a record that is absent, and shows one that is not";
const REPLACES: &str = "a commit replaces exactly the version that it expects";
const ALONE: &str = "effects commit without a record";
const INSERT_RACE: &str = "one of many commits that insert a key wins";
const REPLACE_RACE: &str = "one of many commits and replaces of a version wins";

/// How often each race is run.
pub(super) const ROUNDS: usize = 4;

pub(super) async fn run<S: Store>(store: &Arc<S>, config: &Config, report: &mut Report) -> Result<(), Nonconformance> {
    let within = config.within;
    named(INSERTS, inserts(&**store, within), report).await?;
    named(REPLACES, replaces(&**store, within), report).await?;
    named(ALONE, alone(&**store, within), report).await?;
    named(INSERT_RACE, insert_race(store, config), report).await?;
    named(REPLACE_RACE, replace_race(store, config), report).await
}

/// A record of this owner.
pub(super) fn record(key: &RecordKey, owner: u8) -> Record {
    Record { status: Status::Completed, ..plain_record(key.clone(), OwnerToken::from_bytes([owner; 16]), 1) }
}

/// An event of the record's execution.
pub(super) fn event(record: &Record, ordinal: u32) -> Result<Effect, FailedCall> {
    let event = Event::queue("conformance", "x").map_err(|error| failed("make an event", "one", &error.to_string()))?;
    let (created_at, expires_at) = (EpochMillis::new(1_700_000_000_000), EpochSeconds::new(4_000_000_000));
    let entry = OutboxEntry::new(&record.key, record.execution, ordinal, event, created_at, expires_at);
    Ok(Effect::Event(entry))
}

async fn inserts<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    for status in STATUSES {
        let key = fresh_key();
        let first = Record { status, ..record(&key, 1) };
        let effects = [event(&first, 0)?];
        let write = Write::Insert(first.clone());
        let refused = Committed::Refused(Some(first.clone()));
        expect("commit a record", store.commit(Some(&write), &effects, within).await, &Committed::Committed)?;
        expect("commit it again", store.commit(Some(&write), &effects, within).await, &refused)?;
        let other = Write::Insert(record(&key, 2));
        expect("commit another one", store.commit(Some(&other), &effects, within).await, &refused)?;
        expect("commit it without effects", store.commit(Some(&other), &[], within).await, &refused)?;
        expect("read it", store.get(&key, within).await, &Some(first.clone()))?;
        // What stands beside a record for other reasons is no row of it.
        let rows = store.rows(&key, first.execution, within).await;
        expect("read the rows of a key with an event", rows, &Vec::<Row>::new())?;
    }
    Ok(())
}

async fn replaces<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let key = fresh_key();
    let first = Record { status: Status::InFlight, ..record(&key, 1) };
    let second = record(&key, 2);
    let effects = [event(&first, 0)?];
    let replace = |expected| Write::Replace { expected, record: second.clone() };
    let commit = async |expected| store.commit(Some(&replace(expected)), &effects, within).await;
    let right = first.version();
    expect("replace what is not there", commit(right).await, &Committed::Refused(None))?;
    expect("read it", store.get(&key, within).await, &None)?;
    answered("insert the record", store.insert_if_absent(&first, within).await)?;
    let wrong = [
        Version { owner: OwnerToken::from_bytes([2; 16]), ..right },
        Version { status: Status::Released, ..right },
        Version { epoch: Epoch::new(right.epoch.get() + 1), ..right },
    ];
    for expected in wrong {
        let refused = Committed::Refused(Some(first.clone()));
        expect(&format!("replace {expected:?}"), commit(expected).await, &refused)?;
        expect("read it", store.get(&key, within).await, &Some(first.clone()))?;
    }
    expect("replace the right version", commit(right).await, &Committed::Committed)?;
    expect("replace it again", commit(right).await, &Committed::Refused(Some(second.clone())))?;
    expect("read it", store.get(&key, within).await, &Some(second))
}

async fn alone<S: Store>(store: &S, within: Duration) -> Result<(), FailedCall> {
    let record = record(&fresh_key(), 1);
    let effects = [event(&record, 0)?, event(&record, 1)?];
    expect("commit two events", store.commit(None, &effects, within).await, &Committed::Committed)?;
    expect("read the record", store.get(&record.key, within).await, &None)
}

/// Commits; in the way of another transaction, again.
pub(super) async fn commit<S: Store>(
    store: &S,
    write: Option<&Write>,
    effects: &[Effect],
    within: Duration,
) -> Result<Committed, FailedCall> {
    for _ in 0..100 {
        match store.commit(write, effects, within).await {
            Err(StoreError::Throttled(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            other => return answered("commit", other),
        }
    }
    Err(failed("commit", "an answer", "throttled for 100 times"))
}

/// Exactly one commits, and all others are shown its record.
async fn insert_race<S: Store>(store: &Arc<S>, config: &Config) -> Result<(), FailedCall> {
    for _ in 0..ROUNDS {
        let key = fresh_key();
        let records: Vec<_> = (0..config.callers).zip(1_u8..).map(|(_, owner)| record(&key, owner)).collect();
        let within = config.within;
        let call = |store: Arc<S>, record: Record| async move {
            let effects = [event(&record, 0)?];
            let committed = commit(&*store, Some(&Write::Insert(record.clone())), &effects, within).await?;
            Ok((record, committed))
        };
        let answers = at_the_same_time(store, records, call).await;
        let winner = winner(answers.into_iter().collect::<Result<Vec<_>, FailedCall>>()?)?;
        expect("read the winner", store.get(&key, within).await, &Some(winner))?;
    }
    Ok(())
}

/// Half of the callers commit, half replace. Exactly one does, and all others are shown its record.
async fn replace_race<S: Store>(store: &Arc<S>, config: &Config) -> Result<(), FailedCall> {
    for round in 0..ROUNDS {
        let first = Record { status: Status::InFlight, ..record(&fresh_key(), 0) };
        let (expected, within) = (first.version(), config.within);
        answered("insert the record", store.insert_if_absent(&first, within).await)?;
        let records = (0..config.callers).zip(1_u8..).map(|(caller, owner)| (caller, record(&first.key, owner)));
        let call = |store: Arc<S>, (caller, record): (usize, Record)| async move {
            // In turns, for on one thread the last one to come is the first to go on.
            if (caller + round) % 2 == 0 {
                let effects = [event(&record, 0)?];
                let write = Write::Replace { expected, record: record.clone() };
                return Ok((record, commit(&*store, Some(&write), &effects, within).await?));
            }
            let committed = match answered("replace", store.replace(expected, &record, within).await)? {
                Replaced::Replaced => Committed::Committed,
                Replaced::Differs(old) => Committed::Refused(old),
            };
            Ok((record, committed))
        };
        let answers = at_the_same_time(store, records.collect(), call).await;
        let winner = winner(answers.into_iter().collect::<Result<Vec<_>, FailedCall>>()?)?;
        expect("read the winner", store.get(&first.key, within).await, &Some(winner))?;
    }
    Ok(())
}

/// The one record that was written, which all others were shown.
pub(super) fn winner(answers: Vec<(Record, Committed)>) -> Result<Record, FailedCall> {
    let mut winners = answers.iter().filter(|(_, committed)| *committed == Committed::Committed);
    let (Some((winner, _)), None) = (winners.next(), winners.next()) else {
        let committed = answers.iter().filter(|(_, committed)| *committed == Committed::Committed).count();
        return Err(failed("commit at the same time", "one commits", &format!("{committed} commit")));
    };
    for (record, committed) in &answers {
        let expected = if record == winner { Committed::Committed } else { Committed::Refused(Some(winner.clone())) };
        expect("commit at the same time", Ok(committed.clone()), &expected)?;
    }
    Ok(winner.clone())
}
