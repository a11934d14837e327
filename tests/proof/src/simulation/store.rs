//! A store that loses, delays and refuses calls.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use fastrand::Rng;
use idempotency_core::{
    EpochSeconds, Inserted, MemoryStore, OwnerToken, Record, RecordKey, Replaced, Store, StoreError, Version,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use super::{judge::Judge, plan::LATEST};

/// How often a client sends a call before it gives up.
const TRANSMISSIONS: usize = 3;

/// A store in memory behind a faulty network. The judge sees every write that is applied.
#[derive(Debug)]
pub(super) struct FaultyStore {
    network: Mutex<Network>,
    table: Arc<Table>,
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
    judge: Arc<Judge>,
}

/// What happens to one transmission.
enum Fate {
    Fine,
    LostBefore,
    LostAfter,
    Late(Duration),
    Refused,
}

/// A write that may be applied any number of times.
#[derive(Clone, Debug)]
struct Write {
    expected: Option<Version>,
    record: Record,
}

/// What a write showed: nothing if it was applied, else what is stored.
type Shown = Option<Option<Record>>;

impl Table {
    async fn apply(&self, write: &Write) -> Result<Shown, StoreError> {
        let Write { expected, record } = write;
        let before = self.records.record(&record.key);
        let shown = match expected {
            None => match self.records.insert_if_absent(record, Duration::ZERO).await? {
                Inserted::Inserted => None,
                Inserted::Exists(old) => Some(Some(old)),
            },
            Some(expected) => match self.records.replace(*expected, record, Duration::ZERO).await? {
                Replaced::Replaced => None,
                Replaced::Differs(old) => Some(old),
            },
        };
        if shown.is_none() {
            self.judge.applied(before.as_ref(), record);
        }
        Ok(shown)
    }
}

impl FaultyStore {
    pub(super) fn new(seed: u64, judge: Arc<Judge>) -> Self {
        // Another stream than the plan's.
        let rng = Rng::with_seed(seed ^ 0x9e37_79b9_7f4a_7c15);
        Self {
            network: Mutex::new(Network { rng, faults: true, late: JoinSet::new() }),
            table: Arc::new(Table { records: MemoryStore::default(), judge }),
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

    async fn send(&self, write: Write, within: Duration) -> Result<Shown, StoreError> {
        let give_up_at = Instant::now() + within;
        let sending = async {
            for _ in 0..TRANSMISSIONS {
                let (fate, latency) = self.fate();
                sleep(latency).await;
                match fate {
                    Fate::Fine => {
                        let shown = self.table.apply(&write).await?;
                        sleep(latency).await;
                        return Ok(shown);
                    }
                    Fate::LostBefore => {}
                    Fate::LostAfter => drop(self.table.apply(&write).await?),
                    Fate::Late(delay) => {
                        let (table, write) = (Arc::clone(&self.table), write.clone());
                        self.network().late.spawn(async move {
                            sleep(delay).await;
                            let _ = table.apply(&write).await;
                        });
                    }
                    Fate::Refused => return Err(StoreError::Throttled("refused".into())),
                }
                sleep(Duration::from_millis(100)).await;
            }
            Err(StoreError::Unknown("no reply".into()))
        };
        timeout_at(give_up_at, sending).await.unwrap_or_else(|late| Err(StoreError::Unknown(late.into())))
    }
}

impl Store for FaultyStore {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        match self.send(Write { expected: None, record: record.clone() }, within).await? {
            None => Ok(Inserted::Inserted),
            Some(Some(old)) => Ok(Inserted::Exists(old)),
            Some(None) => Err(StoreError::Unknown("an insert is refused by a record only".into())),
        }
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        Ok(match self.send(Write { expected: Some(expected), record: record.clone() }, within).await? {
            None => Replaced::Replaced,
            Some(old) => Replaced::Differs(old),
        })
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        let read = async {
            let (fate, latency) = self.fate();
            sleep(latency).await;
            match fate {
                Fate::Fine | Fate::Late(_) => self.table.records.get(key, within).await,
                Fate::LostBefore | Fate::LostAfter => std::future::pending().await,
                Fate::Refused => Err(StoreError::Throttled("refused".into())),
            }
        };
        tokio::time::timeout(within, read).await.unwrap_or_else(|late| Err(StoreError::Unknown(late.into())))
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
