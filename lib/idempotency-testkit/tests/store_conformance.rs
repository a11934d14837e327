//! Goal: the suite passes a store that keeps the contract, sees each way of breaking it, and says which calls do.
//! Method: the store in memory, and the same store with one fault.
#![cfg(feature = "store-conformance")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use bytes::Bytes;
use idempotency_core::{
    AttemptNumber, Committed, Effect, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, Inserted,
    MemoryStore, OwnerToken, Record, RecordKey, Replaced, Row, RowInserted, Status, Store, StoreError, Version, Write,
    Written,
};
use idempotency_testkit::store_conformance::{Config, Nonconformance, check};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_conforms_and_every_kind_of_answer_is_seen() {
    let report = check(MemoryStore::default(), &Config::default().cases(400)).await.unwrap();

    println!("{report}");
    let kinds = [
        "another record differs",
        "another record exists",
        "inserted",
        "no record",
        "nothing to replace",
        "own record differs",
        "own record exists",
        "parts missing",
        "parts read",
        "parts stored",
        "record read",
        "replaced",
    ];
    assert_eq!(report.answers.keys().copied().collect::<Vec<_>>(), kinds);
    assert!(report.answers.values().all(|count| *count >= 50), "{report}");
}

/// One way of not keeping the contract.
#[derive(Clone, Copy, Debug)]
enum Fault {
    InsertWritesOver,
    InsertShowsTheNewRecord,
    ReplaceCreates,
    ReplaceIgnoresOwner,
    ReplaceIgnoresStatus,
    ReplaceIgnoresEpoch,
    ReplaceRoundsTheEpoch,
    ReplaceHidesTheOldRecord,
    /// The record comes back with this field changed.
    Loses(&'static str),
    GetMisses,
    PartsOfAllOwnersAreOne,
    PartsComeBackwards,
    PartsMissingAreLeftOut,
    PartsAreCounted,
    EmptyPartsAreMissing,
    InsertLooksThenWrites,
    ReplaceLooksThenWrites,
    RefusesLargeResults,
    Batch(BatchFault),
}

/// A way of not keeping it in a call for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchFault {
    AnswersAreShifted,
    AnswerIsMissing,
    AnswerTooMany,
    NothingIsAnswered,
    LastIsTakenForWritten,
    LastIsTakenForRefused,
    LargeIsCut,
    InsertWritesOver,
    InsertHidesTheOldRecord,
    ReplaceCreates,
    ReplaceIgnoresEpoch,
    ReplaceKeepsTheOldResult,
    RefusedIsTakenForWritten,
    SameKeyIsWrittenOnce,
    ReadsAreSorted,
    SameKeyIsReadOnce,
    ReadMisses,
    LooksThenWrites,
}

struct Faulty {
    store: MemoryStore,
    fault: Fault,
}

impl Faulty {
    fn shown(&self, mut record: Record) -> Record {
        if let Fault::Loses(field) = self.fault {
            match field {
                "status" => record.status = Status::InFlight,
                "owner" => record.owner = OwnerToken::from_bytes([0; 16]),
                "execution" => record.execution = ExecutionId::from_bytes([0; 16]),
                "epoch" => record.epoch = Epoch::new(record.epoch.get().max(0)),
                "attempt" => record.attempt = AttemptNumber::FIRST,
                "lease_until" => record.lease_until = EpochMillis::new(record.lease_until.get() / 1000 * 1000),
                "expires_at" => record.expires_at = EpochSeconds::new(4_000_000_000),
                "fingerprint" => record.fingerprint = Fingerprint::from_bytes([0; 32]),
                "result" => record.result = None,
                _ => panic!("{field} is no field"),
            }
        }
        record
    }

    /// Whether the store has this fault in calls for many.
    fn fails(&self, fault: BatchFault) -> bool {
        matches!(self.fault, Fault::Batch(its) if its == fault)
    }

    /// One member of a batch.
    async fn write_member(&self, write: &Write, within: Duration) -> Result<Written, StoreError> {
        let mut write = write.clone();
        let stored = self.store.record(&write.record().key);
        match (&mut write, &stored) {
            (Write::Insert(record), Some(_)) if self.fails(BatchFault::InsertWritesOver) => {
                self.store.delete(&record.key);
            }
            (Write::Insert(_), Some(_)) if self.fails(BatchFault::InsertHidesTheOldRecord) => {
                return Ok(Written::Refused(None));
            }
            (Write::Replace { record, .. }, None) if self.fails(BatchFault::ReplaceCreates) => {
                write = Write::Insert(record.clone());
            }
            (Write::Replace { expected, .. }, Some(old)) if self.fails(BatchFault::ReplaceIgnoresEpoch) => {
                expected.epoch = old.epoch;
            }
            (Write::Replace { record, .. }, Some(old)) if self.fails(BatchFault::ReplaceKeepsTheOldResult) => {
                record.result = record.result.take().or_else(|| old.result.clone());
            }
            (Write::Insert(record), None) if self.fails(BatchFault::LooksThenWrites) => {
                Self::pause().await;
                self.store.delete(&record.key);
            }
            _ => {}
        }
        match self.write(&write, within).await {
            Ok(Written::Refused(_)) if self.fails(BatchFault::RefusedIsTakenForWritten) => Ok(Written::Written),
            answer => answer,
        }
    }

    /// Time for another caller between a look and a write.
    async fn pause() {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
}

impl Store for Faulty {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        match (self.fault, self.store.record(&record.key)) {
            (Fault::RefusesLargeResults, _) if format!("{:?}", record.result).len() > 20_000 => {
                return Err(StoreError::Refused("too large".into()));
            }
            (Fault::InsertWritesOver, Some(_)) => drop(self.store.delete(&record.key)),
            (Fault::InsertShowsTheNewRecord, Some(_)) => return Ok(Inserted::Exists(record.clone())),
            (Fault::InsertLooksThenWrites, None) => {
                Self::pause().await;
                self.store.delete(&record.key);
            }
            _ => {}
        }
        Ok(match self.store.insert_if_absent(record, within).await? {
            Inserted::Inserted => Inserted::Inserted,
            Inserted::Exists(old) => Inserted::Exists(self.shown(old)),
        })
    }

    async fn replace(&self, mut expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        if let Some(stored) = self.store.record(&record.key) {
            let stored = stored.version();
            match self.fault {
                Fault::ReplaceIgnoresOwner => expected.owner = stored.owner,
                Fault::ReplaceIgnoresStatus => expected.status = stored.status,
                Fault::ReplaceIgnoresEpoch => expected.epoch = stored.epoch,
                Fault::ReplaceRoundsTheEpoch if expected.epoch.get() as f64 == stored.epoch.get() as f64 => {
                    expected.epoch = stored.epoch;
                }
                Fault::ReplaceLooksThenWrites if expected == stored => {
                    Self::pause().await;
                    expected = self.store.record(&record.key).unwrap().version();
                }
                _ => {}
            }
        } else if matches!(self.fault, Fault::ReplaceCreates) {
            self.store.insert_if_absent(record, within).await?;
            return Ok(Replaced::Replaced);
        }
        Ok(match self.store.replace(expected, record, within).await? {
            Replaced::Differs(_) if matches!(self.fault, Fault::ReplaceHidesTheOldRecord) => Replaced::Differs(None),
            Replaced::Differs(old) => Replaced::Differs(old.map(|old| self.shown(old))),
            Replaced::Replaced => Replaced::Replaced,
        })
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        self.store.commit(write, effects, within).await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        self.store.insert_row(row, within).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.store.put_row(row, within).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        self.store.rows(key, execution, within).await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        if matches!(self.fault, Fault::GetMisses) {
            return Ok(None);
        }
        Ok(self.store.get(key, within).await?.map(|record| self.shown(record)))
    }

    /// One after the other, so that a store that loses races does not race against itself.
    async fn write_many(&self, writes: &[Write], within: Duration) -> Vec<Result<Written, StoreError>> {
        let mut answers = Vec::new();
        for (index, write) in writes.iter().enumerate() {
            let is_last = index + 1 == writes.len();
            let again = writes[..index].iter().any(|before| before.record().key == write.record().key);
            if is_last && self.fails(BatchFault::AnswerIsMissing) || index >= 25 && self.fails(BatchFault::LargeIsCut) {
                continue;
            }
            let untold = is_last && self.fails(BatchFault::LastIsTakenForWritten)
                || again && self.fails(BatchFault::SameKeyIsWrittenOnce);
            if untold {
                answers.push(Ok(Written::Written));
                continue;
            }
            let answer = self.write_member(write, within).await;
            let lost = is_last && self.fails(BatchFault::LastIsTakenForRefused);
            answers.push(if lost { Ok(Written::Refused(Some(write.record().clone()))) } else { answer });
        }
        if self.fails(BatchFault::AnswersAreShifted) && !answers.is_empty() {
            answers.rotate_left(1);
        }
        if self.fails(BatchFault::AnswerTooMany) || writes.is_empty() && self.fails(BatchFault::NothingIsAnswered) {
            answers.push(Ok(Written::Refused(None)));
        }
        answers
    }

    async fn get_many(&self, keys: &[RecordKey], within: Duration) -> Vec<Result<Option<Record>, StoreError>> {
        let mut keys = keys.to_vec();
        if self.fails(BatchFault::ReadsAreSorted) {
            keys.sort();
        }
        let mut answers = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            if !(self.fails(BatchFault::SameKeyIsReadOnce) && keys[..index].contains(key)) {
                let missed = self.fails(BatchFault::ReadMisses) && index > 0;
                answers.push(if missed { Ok(None) } else { self.get(key, within).await });
            }
        }
        answers
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        mut owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        if matches!(self.fault, Fault::PartsOfAllOwnersAreOne) {
            owner = OwnerToken::from_bytes([0; 16]);
        }
        let mut parts = parts.to_vec();
        if matches!(self.fault, Fault::PartsComeBackwards) {
            parts.reverse();
        }
        self.store.put_parts(key, owner, &parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        mut owner: OwnerToken,
        mut count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        if matches!(self.fault, Fault::PartsOfAllOwnersAreOne) {
            owner = OwnerToken::from_bytes([0; 16]);
        }
        let longer = self.store.get_parts(key, owner, count + 1, within).await?;
        if matches!(self.fault, Fault::PartsAreCounted) && longer.is_some() {
            return Ok(None);
        }
        while matches!(self.fault, Fault::PartsMissingAreLeftOut)
            && self.store.get_parts(key, owner, count, within).await?.is_none()
        {
            count -= 1;
        }
        let parts = self.store.get_parts(key, owner, count, within).await?;
        let lost =
            |parts: &Vec<Bytes>| matches!(self.fault, Fault::EmptyPartsAreMissing) && parts.iter().any(Bytes::is_empty);
        Ok(parts.filter(|parts| !lost(parts)))
    }
}

async fn broken(fault: Fault) -> Nonconformance {
    let store = Faulty { store: MemoryStore::default(), fault };
    match check(store, &Config::default()).await {
        Ok(report) => panic!("{fault:?} is not seen: {report}"),
        Err(nonconformance) => nonconformance,
    }
}

#[tokio::test]
async fn a_store_that_breaks_the_contract_is_seen_in_a_few_calls() {
    let fields =
        ["status", "owner", "execution", "epoch", "attempt", "lease_until", "expires_at", "fingerprint", "result"];
    let faults = [
        Fault::InsertWritesOver,
        Fault::InsertShowsTheNewRecord,
        Fault::ReplaceCreates,
        Fault::ReplaceIgnoresOwner,
        Fault::ReplaceIgnoresStatus,
        Fault::ReplaceIgnoresEpoch,
        Fault::ReplaceRoundsTheEpoch,
        Fault::ReplaceHidesTheOldRecord,
        Fault::GetMisses,
        Fault::PartsOfAllOwnersAreOne,
        Fault::PartsComeBackwards,
        Fault::PartsMissingAreLeftOut,
        Fault::PartsAreCounted,
        Fault::EmptyPartsAreMissing,
        Fault::RefusesLargeResults,
    ];
    let batch_faults = [
        BatchFault::AnswersAreShifted,
        BatchFault::AnswerIsMissing,
        BatchFault::AnswerTooMany,
        BatchFault::NothingIsAnswered,
        BatchFault::LastIsTakenForWritten,
        BatchFault::LastIsTakenForRefused,
        BatchFault::LargeIsCut,
        BatchFault::InsertWritesOver,
        BatchFault::InsertHidesTheOldRecord,
        BatchFault::ReplaceCreates,
        BatchFault::ReplaceIgnoresEpoch,
        BatchFault::ReplaceKeepsTheOldResult,
        BatchFault::RefusedIsTakenForWritten,
        BatchFault::SameKeyIsWrittenOnce,
        BatchFault::ReadsAreSorted,
        BatchFault::SameKeyIsReadOnce,
        BatchFault::ReadMisses,
    ];
    let faults = faults.into_iter().chain(batch_faults.map(Fault::Batch));
    for fault in faults.chain(fields.map(Fault::Loses)) {
        match broken(fault).await {
            Nonconformance::Sequence(sequence) if sequence.found.is_some() => {
                // A batch that fails has what was stored before it come about by batches and single calls.
                let longest = if matches!(fault, Fault::Batch(_)) { 6 } else { 4 };
                assert!(sequence.calls.len() <= longest, "{fault:?} is not shortened: {sequence}");
            }
            // Found by a repetition, which comes first.
            Nonconformance::Sequence(_) => {}
            race => panic!("{fault:?} is found late: {race}"),
        }
    }
}

#[tokio::test]
async fn a_store_that_looks_and_then_writes_is_seen_in_a_race() {
    for (fault, race) in [
        (Fault::InsertLooksThenWrites, "one of many inserts of a key wins"),
        (Fault::ReplaceLooksThenWrites, "one of many replaces of a version wins"),
        (Fault::Batch(BatchFault::LooksThenWrites), "one of many batches wins each key"),
    ] {
        let found = broken(fault).await;
        assert!(matches!(found, Nonconformance::Race { race: found, .. } if found == race), "{found}");
    }
}

#[tokio::test]
async fn a_failure_reads_as_a_list_of_calls_the_same_on_every_run() {
    let found = broken(Fault::ReplaceIgnoresEpoch).await;

    assert_eq!(found.to_string(), broken(Fault::ReplaceIgnoresEpoch).await.to_string());
    assert_eq!(format!("{found:?}"), found.to_string(), "what `unwrap` shows");
    let text = found.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("the store answers what the contract does not allow (seed 0, sequence "), "{text}");
    assert!(lines[1].starts_with("  1. "), "{text}");
    let [.., call, expected, answered] = &lines[..] else { panic!("{text}") };
    assert!(call.contains(". replace "), "{text}");
    assert!(expected.starts_with("     expected: differs "), "{text}");
    assert_eq!(*answered, "     answered: replaced");
}
