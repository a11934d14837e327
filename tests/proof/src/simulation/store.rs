//! A store that loses, delays and refuses calls, alone and in batches.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use fastrand::Rng;
use futures::future::join_all;
use idempotency_core::{
    Committed, Effect, EpochSeconds, ExecutionId, Inserted, MemoryStore, OwnerToken, Record, RecordKey, Replaced, Row,
    RowInserted, Store, StoreError, Version, Write, Written,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{judges::Judges, mutant::Mutant, plan::LATEST, work::Ledger};

/// How often a client sends a call before it gives up.
const TRANSMISSIONS: usize = 3;

/// A store in memory behind a faulty network. The judge sees every write that is applied.
#[derive(Debug)]
pub(super) struct FaultyStore {
    network: Mutex<Network>,
    table: Arc<Table>,
    mutant: Mutant,
}

#[derive(Debug)]
struct Network {
    rng: Rng,
    faults: bool,
    late: JoinSet<()>,
}

#[derive(Debug)]
struct Table {
    records: MemoryStore,
    judges: Arc<Judges>,
    ledger: Arc<Ledger>,
}

/// What happens to one transmission.
enum Fate {
    Fine,
    LostBefore,
    LostAfter,
    Late(Duration),
    Refused,
}

impl Table {
    async fn apply(&self, write: &Write) -> Result<Written, StoreError> {
        Ok(match self.commit(Some(write), &[]).await? {
            Committed::Refused(old) => Written::Refused(old),
            _ => Written::Written,
        })
    }

    /// Writes a record and what commits with it, or nothing. Nothing is awaited that waits.
    async fn commit(&self, write: Option<&Write>, effects: &[Effect]) -> Result<Committed, StoreError> {
        let Some(write) = write else { return Err(StoreError::Refused("nothing runs unprotected here".into())) };
        let record = write.record();
        let before = self.records.record(&record.key);
        let is_expected = match write {
            Write::Insert(_) => before.is_none(),
            Write::Replace { expected, .. } => before.as_ref().is_some_and(|before| before.version() == *expected),
        };
        if let (true, Some(index)) = (is_expected, self.ledger.refused(effects)) {
            return Ok(Committed::EffectRefused { index, item: None });
        }
        let written = self.records.commit(Some(write), effects, Duration::ZERO).await?;
        if written == Committed::Committed {
            let judge = self.judges.of(&record.key);
            let is_marker = !self.judges.knows(&record.key);
            if !is_marker {
                judge.applied(before.as_ref(), record);
            }
            if !effects.is_empty() {
                judge.count(|counts| &mut counts.commits);
            }
            self.ledger.commit(record, effects, is_marker).into_iter().for_each(|broken| judge.violation(broken));
        }
        Ok(written)
    }
}

impl FaultyStore {
    pub(super) fn new(seed: u64, judges: Arc<Judges>, ledger: Arc<Ledger>, mutant: Mutant) -> Self {
        // Another stream than the plan's.
        let rng = Rng::with_seed(seed ^ 0x9e37_79b9_7f4a_7c15);
        Self {
            network: Mutex::new(Network { rng, faults: true, late: JoinSet::new() }),
            table: Arc::new(Table { records: MemoryStore::default(), judges, ledger }),
            mutant,
        }
    }

    /// From now on every call is answered. Late writes still come.
    pub(super) fn heal(&self) {
        self.network().faults = false;
    }

    /// What is stored under a key.
    pub(super) fn stored(&self, key: &RecordKey) -> Option<Record> {
        self.table.records.record(key)
    }

    /// Deletes the record if it has expired, as the table may at any time then.
    pub(super) fn delete_if_expired(&self, key: &RecordKey, is_expired: impl FnOnce(&Record) -> bool) -> bool {
        let expired = self.table.records.record(key).is_some_and(|record| is_expired(&record));
        if expired {
            self.table.records.delete(key);
        }
        expired
    }

    fn network(&self) -> std::sync::MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fate(&self) -> (Fate, Duration) {
        let network = &mut *self.network();
        let latency = Duration::from_millis(network.rng.u64(0..20));
        let fate = match network.rng.u8(0..100) {
            0..80 => Fate::Fine,
            _ if !network.faults => Fate::Fine,
            80..85 => Fate::LostBefore,
            85..93 => Fate::LostAfter,
            93..97 => Fate::Late(Duration::from_millis(network.rng.u64(0..LATEST.as_millis() as u64))),
            _ => Fate::Refused,
        };
        (fate, latency)
    }

    async fn send(&self, write: &Write, within: Duration) -> Result<Written, StoreError> {
        let apply = |table: Arc<Table>| {
            let write = write.clone();
            async move { table.apply(&write).await }
        };
        self.send_all(apply, within).await
    }

    /// Sends a call until it is answered, a few times.
    async fn send_all<T, F>(&self, apply: impl Fn(Arc<Table>) -> F, within: Duration) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let give_up_at = Instant::now() + within;
        let sending = async {
            for _ in 0..TRANSMISSIONS {
                match self.transmit(&apply).await? {
                    Some(written) => return Ok(written),
                    None => sleep(Duration::from_millis(100)).await,
                }
            }
            Err(StoreError::Unknown("no reply".into()))
        };
        timeout_at(give_up_at, sending).await.unwrap_or_else(|late| Err(StoreError::Unknown(late.into())))
    }

    /// Sends a call once; `None` if there is no reply.
    async fn transmit<T, F>(&self, apply: &impl Fn(Arc<Table>) -> F) -> Result<Option<T>, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let (fate, latency) = self.fate();
        sleep(latency).await;
        let arrive = || apply(Arc::clone(&self.table));
        match fate {
            Fate::Fine => {
                let written = arrive().await?;
                sleep(latency).await;
                return Ok(Some(written));
            }
            Fate::LostBefore => {}
            Fate::LostAfter => drop(arrive().await?),
            Fate::Late(delay) => {
                let late = arrive();
                self.network().late.spawn(async move {
                    sleep(delay).await;
                    let _ = late.await;
                });
            }
            Fate::Refused => return Err(StoreError::Throttled("refused".into())),
        }
        Ok(None)
    }

    async fn read(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        let (fate, latency) = self.fate();
        sleep(latency).await;
        match fate {
            Fate::Fine | Fate::Late(_) => self.table.records.get(key, within).await,
            Fate::LostBefore | Fate::LostAfter => std::future::pending().await,
            Fate::Refused => Err(StoreError::Throttled("refused".into())),
        }
    }

    /// Waits as long as a whole batch is late, and says how many of its members get no answer at all.
    async fn batch(&self, members: usize) -> usize {
        let (late, unanswered) = {
            let network = &mut *self.network();
            let is_fine = !network.faults || network.rng.u8(0..100) < 85;
            let late = if is_fine { 0 } else { network.rng.u64(0..4_000) };
            (late, if is_fine { 0 } else { network.rng.usize(0..=members) })
        };
        if members > 1 {
            self.table.judges.of_all().count(|counts| &mut counts.batches);
        }
        sleep(Duration::from_millis(late)).await;
        unanswered
    }

    /// The answers to a batch as they come: the last ones may be missing.
    fn answers<A>(&self, mut answers: Vec<A>, unanswered: usize) -> Vec<A> {
        if self.mutant == Mutant::BatchAnswersShifted && answers.len() > 1 {
            answers.rotate_left(1);
        }
        for _ in 0..unanswered {
            self.table.judges.of_all().count(|counts| &mut counts.unanswered);
        }
        answers.truncate(answers.len().saturating_sub(unanswered));
        answers
    }
}

impl Store for FaultyStore {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        match self.send(&Write::Insert(record.clone()), within).await? {
            Written::Written => Ok(Inserted::Inserted),
            Written::Refused(Some(old)) => Ok(Inserted::Exists(old)),
            Written::Refused(None) => Err(StoreError::Unknown("an insert is refused by a record only".into())),
        }
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        Ok(match self.send(&Write::Replace { expected, record: record.clone() }, within).await? {
            Written::Written => Replaced::Replaced,
            Written::Refused(old) => Replaced::Differs(old),
        })
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        timeout(within, self.read(key, within)).await.unwrap_or_else(|late| Err(StoreError::Unknown(late.into())))
    }

    async fn write_many(&self, writes: &[Write], within: Duration) -> Vec<Result<Written, StoreError>> {
        let give_up_at = Instant::now() + within;
        let unknown = || writes.iter().map(|_| Err(StoreError::Unknown("no reply".into()))).collect();
        let Ok(unanswered) = timeout_at(give_up_at, self.batch(writes.len())).await else { return unknown() };
        let left = give_up_at - Instant::now();
        self.answers(join_all(writes.iter().map(|write| self.send(write, left))).await, unanswered)
    }

    async fn get_many(&self, keys: &[RecordKey], within: Duration) -> Vec<Result<Option<Record>, StoreError>> {
        let give_up_at = Instant::now() + within;
        let unknown = || keys.iter().map(|_| Err(StoreError::Unknown("no reply".into()))).collect();
        let Ok(unanswered) = timeout_at(give_up_at, self.batch(keys.len())).await else { return unknown() };
        let left = give_up_at - Instant::now();
        self.answers(join_all(keys.iter().map(|key| self.get(key, left))).await, unanswered)
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        let apply = |table: Arc<Table>| {
            let (write, effects) = (write.cloned(), effects.to_vec());
            async move { table.commit(write.as_ref(), &effects).await }
        };
        self.send_all(apply, within).await
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        let apply = |table: Arc<Table>| {
            let row = row.clone();
            async move { table.records.insert_row(&row, Duration::ZERO).await }
        };
        self.send_all(apply, within).await
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        let apply = |table: Arc<Table>| {
            let row = row.clone();
            async move { table.records.put_row(&row, Duration::ZERO).await }
        };
        self.send_all(apply, within).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        let apply = |table: Arc<Table>| {
            let key = key.clone();
            async move { table.records.rows(&key, execution, Duration::ZERO).await }
        };
        let rows = self.send_all(apply, within).await?;
        if !rows.is_empty() {
            self.table.judges.of(key).count(|counts| &mut counts.rows_read);
        }
        Ok(rows)
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        expires_at: EpochSeconds,
        within: Duration,
    ) -> Result<(), StoreError> {
        self.table.records.put_parts(key, owner, parts, expires_at, within).await
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.table.records.get_parts(key, owner, count, within).await
    }
}
