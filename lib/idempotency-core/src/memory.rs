//! A store in memory: the reference for what the contract says.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;

use crate::{
    Committed, Effect, EpochSeconds, ExecutionId, Inserted, OwnerToken, Record, RecordKey, Replaced, Row, RowInserted,
    Store, StoreError, Version, Write, Written,
};

/// A [`Store`] in the memory of one process, for unit tests of handlers and as the reference of the contract.
///
/// It protects nothing beyond its process; use the DynamoDB store in production. It has no other tables: what is staged for them is
/// collected when it commits ([`effects`](Self::effects)), and every condition is taken to hold.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    records: HashMap<RecordKey, Record>,
    parts: HashMap<(RecordKey, OwnerToken), Vec<Bytes>>,
    rows: HashMap<(RecordKey, String), Row>,
    effects: Vec<Effect>,
}

impl Tables {
    fn write(&mut self, write: &Write) -> Written {
        let (record, old) = (write.record(), self.records.get(&write.record().key));
        let is_expected = match write {
            Write::Insert(_) => old.is_none(),
            Write::Replace { expected, .. } => old.is_some_and(|old| old.version() == *expected),
        };
        if !is_expected {
            return Written::Refused(old.cloned());
        }
        self.records.insert(record.key.clone(), record.clone());
        Written::Written
    }
}

impl MemoryStore {
    /// The record stored under a key.
    pub fn record(&self, key: &RecordKey) -> Option<Record> {
        self.tables().records.get(key).cloned()
    }

    /// All records, in no order.
    pub fn records(&self) -> Vec<Record> {
        self.tables().records.values().cloned().collect()
    }

    /// All rows, in no order.
    pub fn all_rows(&self) -> Vec<Row> {
        self.tables().rows.values().cloned().collect()
    }

    /// What has committed with records, in its order.
    pub fn effects(&self) -> Vec<Effect> {
        self.tables().effects.clone()
    }

    /// Deletes a record, as DynamoDB's time to live or an operator would.
    pub fn delete(&self, key: &RecordKey) -> Option<Record> {
        self.tables().records.remove(key)
    }

    /// As time to live deletes single rows.
    #[cfg(test)]
    pub(crate) fn delete_rows(&self, gone: impl Fn(&Row) -> bool) {
        self.tables().rows.retain(|_, row| !gone(row));
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        // Every change is one insert or removal, so a panic elsewhere cannot have left half of one.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    async fn insert_if_absent(&self, record: &Record, _within: Duration) -> Result<Inserted, StoreError> {
        Ok(match self.tables().write(&Write::Insert(record.clone())) {
            Written::Refused(Some(old)) => Inserted::Exists(old),
            _ => Inserted::Inserted,
        })
    }

    async fn replace(&self, expected: Version, record: &Record, _within: Duration) -> Result<Replaced, StoreError> {
        Ok(match self.tables().write(&Write::Replace { expected, record: record.clone() }) {
            Written::Written => Replaced::Replaced,
            Written::Refused(old) => Replaced::Differs(old),
        })
    }

    async fn commit(
        &self,
        write: Option<&Write>,
        effects: &[Effect],
        _within: Duration,
    ) -> Result<Committed, StoreError> {
        let mut tables = self.tables();
        if let Some(Written::Refused(old)) = write.map(|write| tables.write(write)) {
            return Ok(Committed::Refused(old));
        }
        tables.effects.extend_from_slice(effects);
        Ok(Committed::Committed)
    }

    async fn insert_row(&self, row: &Row, _within: Duration) -> Result<RowInserted, StoreError> {
        let rows = &mut self.tables().rows;
        let place = (row.key.clone(), row.sort_key());
        if let Some(old) = rows.get(&place) {
            return Ok(RowInserted::Exists(old.clone()));
        }
        rows.insert(place, row.clone());
        Ok(RowInserted::Inserted)
    }

    async fn put_row(&self, row: &Row, _within: Duration) -> Result<(), StoreError> {
        self.tables().rows.insert((row.key.clone(), row.sort_key()), row.clone());
        Ok(())
    }

    async fn rows(&self, key: &RecordKey, execution: ExecutionId, _within: Duration) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.all_rows();
        rows.retain(|row| row.key == *key && row.execution == execution);
        Ok(rows)
    }

    async fn get(&self, key: &RecordKey, _within: Duration) -> Result<Option<Record>, StoreError> {
        Ok(self.record(key))
    }

    async fn put_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        parts: &[Bytes],
        _expires_at: EpochSeconds,
        _within: Duration,
    ) -> Result<(), StoreError> {
        self.tables().parts.insert((key.clone(), owner), parts.to_vec());
        Ok(())
    }

    async fn get_parts(
        &self,
        key: &RecordKey,
        owner: OwnerToken,
        count: u32,
        _within: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        let parts = self.tables().parts.get(&(key.clone(), owner)).cloned().unwrap_or_default();
        Ok(parts.get(..count as usize).map(<[Bytes]>::to_vec))
    }
}
