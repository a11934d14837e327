//! Goal: the suite's checks of rows, commits and effects pass a store that keeps the contract, and see each way of breaking it.
//! Method: the store in memory with a table of counters, and the same with one fault.
#![cfg(feature = "store-conformance")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::{
    collections::HashMap,
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use idempotency_core::{
    AttributeValue, Committed, Effect, EpochSeconds, ExecutionId, Inserted, Item, MemoryStore, OwnerToken, Record,
    RecordKey, Replaced, Row, RowInserted, RowKind, Store, StoreError, TableWrite, TableWriteKind, Version, Write,
};
use idempotency_testkit::store_conformance::{Config, Counters, Nonconformance, check, check_effects};

/// One way of not keeping the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    RowIsWrittenOver,
    RowShowsTheNewOne,
    RowPutIsNone,
    RowsOfAllGenerations,
    RowsAreOnePage,
    RowIsARecord,
    /// The row comes back with this field changed.
    RowLoses(&'static str),
    RowLooksThenWrites,
    CommitInsertsOver,
    CommitIgnoresOwner,
    CommitIgnoresStatus,
    CommitIgnoresEpoch,
    CommitCreates,
    CommitHidesTheOldRecord,
    CommitTakesFew,
    CommitNeedsARecord,
    CommitLooksThenWrites,
    EffectsBeforeTheRecord,
    EffectsOneByOne,
    EffectsAreTwice,
    LastEffectIsLost,
    ConditionsAreIgnored,
    IndexCountsTheRecord,
    IndexIsTheLast,
    ItemIsHidden,
    RefusedEffectLeavesTheRecord,
    EffectsAloneAreOneByOne,
    DeleteIsNone,
    ReplaceLooksThenWrites,
    LosersOfRacesApply,
    EffectsComeBeforeTheReplace,
    NumbersAreReadEarly,
}

/// Items of the table of counters.
type Items = Arc<Mutex<HashMap<String, i64>>>;

#[derive(Default)]
struct Table(Items);

impl Counters for Table {
    fn table(&self) -> &str {
        "counters"
    }

    async fn number(&self, id: &str) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.lock().unwrap().get(id).copied())
    }
}

struct Faulty {
    store: MemoryStore,
    items: Items,
    fault: Fault,
    /// Commits, one after the other.
    turn: tokio::sync::Mutex<()>,
    has_committed: AtomicBool,
    /// Commits that have begun and not ended.
    under_way: AtomicUsize,
}

impl Faulty {
    fn new(fault: Fault, items: &Items) -> Self {
        let store = MemoryStore::default();
        let (turn, has_committed, under_way) = Default::default();
        Self { store, items: Arc::clone(items), fault, turn, has_committed, under_way }
    }

    fn fails(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn shown(&self, mut row: Row) -> Row {
        if let Fault::RowLoses(field) = self.fault {
            match field {
                "kind" => {
                    if let RowKind::Step { ordinal, .. } = row.kind {
                        row.kind = RowKind::Step { ordinal, has_undo: false };
                    }
                }
                "owner" => row.owner = OwnerToken::from_bytes([1; 16]),
                "type_name" => row.type_name.truncate(100),
                "value" => row.value = row.value.filter(|value| format!("{value:?}").len() < 10_000),
                "expires_at" => row.expires_at = EpochSeconds::new(4_000_000_000),
                _ => panic!("{field} is no field"),
            }
        }
        row
    }

    /// The write that the fault makes of it, and whether it is refused.
    fn asked(&self, write: &Write) -> (Write, bool) {
        let stored = self.store.record(&write.record().key).map(|stored| stored.version());
        match (write.clone(), stored) {
            (Write::Insert(record), stored) => {
                let write = match stored {
                    Some(expected) if self.fails(Fault::CommitInsertsOver) => Write::Replace { expected, record },
                    _ => Write::Insert(record),
                };
                let refused = stored.is_some() && matches!(write, Write::Insert(_));
                (write, refused)
            }
            (Write::Replace { record, .. }, None) if self.fails(Fault::CommitCreates) => (Write::Insert(record), false),
            (Write::Replace { mut expected, record }, stored) => {
                if let Some(stored) = stored {
                    match self.fault {
                        Fault::CommitIgnoresOwner => expected.owner = stored.owner,
                        Fault::CommitIgnoresStatus => expected.status = stored.status,
                        Fault::CommitIgnoresEpoch => expected.epoch = stored.epoch,
                        _ => {}
                    }
                }
                (Write::Replace { expected, record }, stored != Some(expected))
            }
        }
    }

    fn refused_effect(&self, effects: &[Effect]) -> Option<Committed> {
        let items = self.items.lock().unwrap();
        let refused = |effect: &Effect| {
            !self.fails(Fault::ConditionsAreIgnored)
                && matches!(effect, Effect::Table(write) if !holds(write, items.get(&id(write)).copied()))
        };
        let index = effects.iter().position(refused)?;
        let Effect::Table(write) = &effects[index] else { return None };
        let item = items.get(&id(write)).map(|number| item(&id(write), *number));
        let index = match self.fault {
            Fault::IndexCountsTheRecord => index + 1,
            Fault::IndexIsTheLast => effects.len() - 1,
            _ => index,
        };
        Some(Committed::EffectRefused { index, item: item.filter(|_| !self.fails(Fault::ItemIsHidden)) })
    }

    fn apply(&self, effects: &[Effect]) {
        let mut items = self.items.lock().unwrap();
        for (index, effect) in effects.iter().enumerate() {
            let is_lost = self.fails(Fault::LastEffectIsLost) && index + 1 == effects.len();
            if let (Effect::Table(write), false) = (effect, is_lost) {
                apply(write, &mut items, self.fails(Fault::DeleteIsNone));
            }
        }
    }

    /// Applies the effects until one is refused.
    fn apply_one_by_one(&self, effects: &[Effect]) -> Option<Committed> {
        for index in 0..effects.len() {
            if let Some(Committed::EffectRefused { item, .. }) = self.refused_effect(&effects[index..=index]) {
                return Some(Committed::EffectRefused { index, item });
            }
            self.apply(&effects[index..=index]);
        }
        None
    }

    /// Time for another caller between a look and a write.
    async fn pause() {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
}

fn id(write: &TableWrite) -> String {
    let (TableWriteKind::Put(item)
    | TableWriteKind::Update { key: item, .. }
    | TableWriteKind::Delete(item)
    | TableWriteKind::Check(item)) = write.kind();
    match &item["id"] {
        AttributeValue::S(id) => id.clone(),
        other => panic!("{other:?}"),
    }
}

fn number(value: &AttributeValue) -> i64 {
    match value {
        AttributeValue::N(number) => number.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn item(id: &str, n: i64) -> Item {
    let attributes = [("id", AttributeValue::S(id.to_owned())), ("n", AttributeValue::N(n.to_string()))];
    Item::from(HashMap::from(attributes.map(|(name, value)| (name.to_owned(), value))))
}

/// The conditions of the checks.
fn holds(write: &TableWrite, stored: Option<i64>) -> bool {
    let value = |name| number(&write.values()[name]);
    match write.condition() {
        None => true,
        Some("attribute_not_exists(#insert_key)") => stored.is_none(),
        Some("attribute_exists(id)") => stored.is_some(),
        Some("n = :n") => stored == Some(value(":n")),
        Some("n > :enough") => stored.is_some_and(|stored| stored > value(":enough")),
        Some(other) => panic!("{other}"),
    }
}

fn apply(write: &TableWrite, items: &mut HashMap<String, i64>, delete_is_none: bool) {
    let id = id(write);
    match write.kind() {
        TableWriteKind::Put(item) => drop(items.insert(id, number(&item["n"]))),
        TableWriteKind::Update { expression, .. } if expression.starts_with("ADD ") => {
            *items.entry(id).or_default() += number(&write.values()[":increment_by"]);
        }
        TableWriteKind::Update { .. } => drop(items.insert(id, number(&write.values()[":n"]))),
        TableWriteKind::Delete(_) if !delete_is_none => drop(items.remove(&id)),
        TableWriteKind::Delete(_) | TableWriteKind::Check(_) => {}
    }
}

impl Faulty {
    async fn committed(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        if self.fails(Fault::CommitTakesFew) && effects.len() > 24
            || self.fails(Fault::CommitNeedsARecord) && write.is_none()
        {
            return Err(StoreError::Refused("no such transaction".into()));
        }
        let turn = self.turn.lock().await;
        if self.fails(Fault::LosersOfRacesApply) {
            Self::pause().await;
        }
        let asked = write.map(|write| self.asked(write));
        if let Some((write, true)) = &asked {
            if self.fails(Fault::EffectsBeforeTheRecord)
                && let Some(refused) = self.refused_effect(effects)
            {
                return Ok(refused);
            }
            let old = self.store.record(&write.record().key);
            let is_raced = self.under_way.load(Ordering::SeqCst) > 1;
            if self.fails(Fault::EffectsAreTwice) && self.has_committed.load(Ordering::SeqCst)
                || self.fails(Fault::LosersOfRacesApply) && is_raced
            {
                self.apply(effects);
            }
            return Ok(Committed::Refused(old.filter(|_| !self.fails(Fault::CommitHidesTheOldRecord))));
        }
        if self.fails(Fault::CommitLooksThenWrites) {
            drop(turn);
            Self::pause().await;
            if let Some((write, _)) = &asked {
                self.store.delete(&write.record().key);
                self.store.insert_if_absent(write.record(), within).await?;
            }
            self.apply(effects);
            return Ok(Committed::Committed);
        }
        if let Some((Write::Replace { .. }, _)) = &asked
            && self.refused_effect(effects).is_none()
        {
            let write = asked.as_ref().map(|(write, _)| write);
            if self.fails(Fault::ReplaceLooksThenWrites) {
                drop(turn);
                Self::pause().await;
                let (record, stored) = (write.unwrap().record(), self.store.record(&write.unwrap().record().key));
                self.store.replace(stored.unwrap().version(), record, within).await?;
                self.apply(effects);
                return Ok(Committed::Committed);
            }
            if self.fails(Fault::EffectsComeBeforeTheReplace) {
                self.apply(effects);
                Self::pause().await;
                return self.store.commit(write, &[], within).await;
            }
        }
        if self.fails(Fault::NumbersAreReadEarly) && self.refused_effect(effects).is_none() {
            self.store.commit(asked.map(|(write, _)| write).as_ref(), &[], within).await?;
            let mut early = self.items.lock().unwrap().clone();
            drop(turn);
            Self::pause().await;
            for effect in effects {
                if let Effect::Table(write) = effect {
                    apply(write, &mut early, false);
                    let (id, mut items) = (id(write), self.items.lock().unwrap());
                    match early.get(&id) {
                        Some(number) => drop(items.insert(id, *number)),
                        None => drop(items.remove(&id)),
                    }
                }
            }
            return Ok(Committed::Committed);
        }
        let one_by_one =
            self.fails(Fault::EffectsOneByOne) || self.fails(Fault::EffectsAloneAreOneByOne) && write.is_none();
        let refused = if one_by_one { self.apply_one_by_one(effects) } else { self.refused_effect(effects) };
        if refused.is_none() || self.fails(Fault::RefusedEffectLeavesTheRecord) {
            self.store.commit(asked.map(|(write, _)| write).as_ref(), &[], within).await?;
        }
        if let Some(refused) = refused {
            return Ok(refused);
        }
        if !one_by_one {
            self.apply(effects);
        }
        self.has_committed.store(true, Ordering::SeqCst);
        Ok(Committed::Committed)
    }
}

impl Store for Faulty {
    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let committed = self.committed(write, effects, within).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        committed
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        if self.fails(Fault::RowIsARecord) {
            let record = self.store.records().into_iter().next();
            let record = record.map(|record| Record { key: row.key.clone(), ..record });
            if let Some(record) = record {
                self.store.insert_if_absent(&record, within).await?;
            }
        }
        if self.fails(Fault::RowLooksThenWrites) {
            let is_there =
                self.store.all_rows().iter().any(|old| (&old.key, old.sort_key()) == (&row.key, row.sort_key()));
            Self::pause().await;
            if !is_there {
                self.store.put_row(row, within).await?;
                return Ok(RowInserted::Inserted);
            }
        }
        match self.store.insert_row(row, within).await? {
            RowInserted::Exists(_) if self.fails(Fault::RowIsWrittenOver) => {
                self.store.put_row(row, within).await?;
                Ok(RowInserted::Inserted)
            }
            RowInserted::Exists(_) if self.fails(Fault::RowShowsTheNewOne) => Ok(RowInserted::Exists(row.clone())),
            RowInserted::Exists(old) => Ok(RowInserted::Exists(self.shown(old))),
            RowInserted::Inserted => Ok(RowInserted::Inserted),
        }
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        match self.fault {
            Fault::RowPutIsNone => Ok(()),
            _ => self.store.put_row(row, within).await,
        }
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.store.rows(key, execution, within).await?;
        if self.fails(Fault::RowsOfAllGenerations) {
            rows = self.store.all_rows();
            rows.retain(|row| row.key == *key);
        }
        if self.fails(Fault::RowsAreOnePage) {
            rows.truncate(30);
        }
        Ok(rows.into_iter().map(|row| self.shown(row)).collect())
    }

    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        self.store.insert_if_absent(record, within).await
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        self.store.replace(expected, record, within).await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        self.store.get(key, within).await
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.store.put_parts(key, owner, parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.store.get_parts(key, owner, count, within).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_keeps_the_contract_passes_every_check() {
    let table = Table::default();
    let report = check_effects(Faulty::new(Fault::None, &table.0), &table, &Config::default()).await.unwrap();
    assert_eq!(report.checks.len(), 9, "{report}");
    let report = check(MemoryStore::default(), &Config::default().cases(1)).await.unwrap();
    assert_eq!(report.checks.len(), 12, "{report}");
}

/// The check that sees the fault.
async fn seen(fault: Fault) -> &'static str {
    let table = Table::default();
    let config = Config::default().cases(1);
    let mut found = check(Faulty::new(fault, &table.0), &config).await;
    if found.is_ok() {
        found = check_effects(Faulty::new(fault, &table.0), &table, &config).await;
    }
    match found {
        Err(Nonconformance::Check { check, .. }) => check,
        Err(other) => panic!("{fault:?} is not seen by the checks: {other}"),
        Ok(report) => panic!("{fault:?} is not seen: {report}"),
    }
}

#[tokio::test]
async fn each_fault_in_rows_is_seen_by_its_check() {
    let first = "the first to insert a row says what it is";
    let values = "a row comes back with every value of every field";
    for (fault, check) in [
        (Fault::RowIsWrittenOver, first),
        (Fault::RowShowsTheNewOne, first),
        (Fault::RowPutIsNone, "a row that is put takes the place of what was there"),
        (Fault::RowsOfAllGenerations, "a generation's rows are read, and no others"),
        (Fault::RowIsARecord, "rows and records do not touch each other"),
        (Fault::RowsAreOnePage, "rows of more than a megabyte are all read"),
        (Fault::RowLooksThenWrites, "one of many inserts of a row wins"),
        (Fault::RowLoses("kind"), values),
        (Fault::RowLoses("owner"), values),
        (Fault::RowLoses("type_name"), values),
        (Fault::RowLoses("value"), values),
        (Fault::RowLoses("expires_at"), values),
    ] {
        assert_eq!(seen(fault).await, check, "{fault:?}");
    }
}

#[tokio::test]
async fn each_fault_in_commits_is_seen_by_its_check() {
    let inserts = "a commit inserts a record that is absent, and shows one that is not";
    let replaces = "a commit replaces exactly the version that it expects";
    for (fault, check) in [
        (Fault::CommitInsertsOver, inserts),
        (Fault::CommitHidesTheOldRecord, inserts),
        (Fault::CommitIgnoresOwner, replaces),
        (Fault::CommitIgnoresStatus, replaces),
        (Fault::CommitIgnoresEpoch, replaces),
        (Fault::CommitCreates, replaces),
        (Fault::CommitNeedsARecord, "effects commit without a record"),
        (Fault::CommitTakesFew, "ninety-nine effects commit beside a record"),
        (Fault::CommitLooksThenWrites, "one of many commits that insert a key wins"),
        (Fault::ReplaceLooksThenWrites, "one of many commits and replaces of a version wins"),
    ] {
        assert_eq!(seen(fault).await, check, "{fault:?}");
    }
}

#[tokio::test]
async fn each_fault_in_effects_is_seen_by_its_check() {
    let all = "all effects are written with the record, and none of them twice";
    let forms = "each form of a write does what it says";
    let effect = "an effect that is refused is told by its place and the item that refuses it, and nothing is written";
    let record = "a record that is refused is told whatever else is in the way, and nothing is written";
    for (fault, check) in [
        (Fault::EffectsAreTwice, all),
        (Fault::LastEffectIsLost, all),
        (Fault::ConditionsAreIgnored, forms),
        (Fault::DeleteIsNone, forms),
        (Fault::ItemIsHidden, forms),
        (Fault::IndexCountsTheRecord, forms),
        (Fault::EffectsBeforeTheRecord, record),
        (Fault::IndexIsTheLast, effect),
        (Fault::EffectsOneByOne, effect),
        (Fault::RefusedEffectLeavesTheRecord, effect),
        (Fault::EffectsAloneAreOneByOne, "effects without a record are all written or none"),
        (Fault::LosersOfRacesApply, "of many commits of one key the effects of one are written"),
        (Fault::EffectsComeBeforeTheReplace, "effects are written exactly if their commit wins against replaces"),
        (Fault::NumbersAreReadEarly, "no effect is lost among those of other keys"),
    ] {
        assert_eq!(seen(fault).await, check, "{fault:?}");
    }
}
