//! How an attempt's calls reach the store.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use idempotency_core::{
    Batched, Committed, Effect, EpochSeconds, ExecutionId, Flow, Inserted, OwnerToken, Record, RecordKey, Replaced,
    Row, RowInserted, RowKind, Status, Store, StoreError, Version, Write,
};
use tokio::{task::JoinSet, time::Instant};

use super::{judges::Judges, mutant::Mutant, store::FaultyStore};

/// What the timer may be late.
const TICK: Duration = Duration::from_millis(2);

/// The way from a sandbox to the store: each call for itself, or those of all its attempts in batches. It notices calls that
/// take longer than they may.
#[derive(Debug)]
pub(super) struct Link {
    store: Arc<FaultyStore>,
    batched: Option<Arc<Batched<FaultyStore>>>,
    judges: Arc<Judges>,
    mutant: Mutant,
    /// Where the mutant `LookAdmits` has seen nothing.
    seen_nothing: Mutex<Vec<RecordKey>>,
    /// The ends that the mutant `EndToldBeforeStored` still has to store.
    lingering: Mutex<JoinSet<()>>,
}

impl Link {
    pub(super) fn new(store: Arc<FaultyStore>, linger: Option<Duration>, judges: Arc<Judges>, mutant: Mutant) -> Self {
        let batched = linger.map(|linger| Arc::new(Batched::new(Arc::clone(&store), linger)));
        Self { store, batched, judges, mutant, seen_nothing: Mutex::default(), lingering: Mutex::default() }
    }

    /// Announces an attempt.
    pub(super) fn flow(&self) -> Option<Flow<FaultyStore>> {
        self.batched.as_ref().map(Batched::flow)
    }

    /// The store at the other end.
    pub(super) const fn store(&self) -> &Arc<FaultyStore> {
        &self.store
    }

    async fn in_time<T>(&self, key: &RecordKey, within: Duration, call: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let answer = call.await;
        if begun.elapsed() > within + TICK {
            let took = begun.elapsed();
            self.judges.of(key).violation(format!("a call took {took:?} and had {within:?}"));
        }
        answer
    }

    /// Whether the mutant has seen nothing under this key.
    fn admits(&self, key: &RecordKey) -> bool {
        self.seen_nothing.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

impl Store for Link {
    async fn insert_if_absent(&self, record: &Record, within: Duration) -> Result<Inserted, StoreError> {
        if self.admits(&record.key) {
            return Ok(Inserted::Inserted);
        }
        self.in_time(&record.key, within, async {
            match &self.batched {
                Some(batched) => batched.insert_if_absent(record, within).await,
                None => self.store.insert_if_absent(record, within).await,
            }
        })
        .await
    }

    async fn replace(&self, expected: Version, record: &Record, within: Duration) -> Result<Replaced, StoreError> {
        if self.mutant == Mutant::FailureUnstored && record.status == Status::Compensating {
            return Ok(Replaced::Replaced);
        }
        if self.mutant == Mutant::EndToldBeforeStored && record.status.is_terminal() {
            let (store, record) = (Arc::clone(&self.store), record.clone());
            self.lingering.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
                let _ = store.replace(expected, &record, within).await;
            });
            return Ok(Replaced::Replaced);
        }
        self.in_time(&record.key, within, async {
            match &self.batched {
                Some(batched) => batched.replace(expected, record, within).await,
                None => self.store.replace(expected, record, within).await,
            }
        })
        .await
    }

    async fn get(&self, key: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        let shown = self
            .in_time(key, within, async {
                match &self.batched {
                    Some(batched) => batched.get(key, within).await,
                    None => self.store.get(key, within).await,
                }
            })
            .await?;
        if shown.is_some() {
            self.judges.of(key).count(|counts| &mut counts.looked);
        } else if self.mutant == Mutant::LookAdmits {
            self.seen_nothing.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
        }
        Ok(shown)
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        within: Duration,
    ) -> Result<Committed, StoreError> {
        let effects = if self.mutant == Mutant::StagedLeftOut { &[] } else { effects };
        let call = self.store.commit(write, effects, within);
        match write {
            Some(write) => self.in_time(&write.record().key, within, call).await,
            None => call.await,
        }
    }

    async fn insert_row(&self, row: &Row, within: Duration) -> Result<RowInserted, StoreError> {
        let is_unwritten = match row.kind {
            RowKind::Begun { .. } => self.mutant == Mutant::BegunNotStored,
            _ => self.mutant == Mutant::RowUnwritten,
        };
        if is_unwritten {
            return Ok(RowInserted::Inserted);
        }
        let inserted = self.in_time(&row.key, within, self.store.insert_row(row, within)).await;
        if self.mutant == Mutant::RowOfAnotherTakenForOwn { inserted.map(|_| RowInserted::Inserted) } else { inserted }
    }

    async fn put_row(&self, row: &Row, within: Duration) -> Result<(), StoreError> {
        self.in_time(&row.key, within, self.store.put_row(row, within)).await
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, within: Duration) -> Result<Vec<Row>, StoreError> {
        let rows = self.in_time(key, within, self.store.rows(key, execution, within)).await;
        if self.mutant == Mutant::RowsHidden { rows.map(|_| Vec::new()) } else { rows }
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
