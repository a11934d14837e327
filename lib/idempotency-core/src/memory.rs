//! A store in memory: the reference for what the contract says.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;

use crate::{EpochSeconds, Inserted, OwnerToken, Record, RecordKey, Replaced, Store, StoreError, Version};

/// A [`Store`] in the memory of one process, for unit tests of handlers and as the reference of the contract.
///
/// It protects nothing beyond its process; use the DynamoDB store in production.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    records: HashMap<RecordKey, Record>,
    parts: HashMap<(RecordKey, OwnerToken), Vec<Bytes>>,
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

    /// Deletes a record, as DynamoDB's time to live or an operator would.
    pub fn delete(&self, key: &RecordKey) -> Option<Record> {
        self.tables().records.remove(key)
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        // Every change is one insert or removal, so a panic elsewhere cannot have left half of one.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    async fn insert_if_absent(&self, record: &Record, _within: Duration) -> Result<Inserted, StoreError> {
        let records = &mut self.tables().records;
        if let Some(old) = records.get(&record.key) {
            return Ok(Inserted::Exists(old.clone()));
        }
        records.insert(record.key.clone(), record.clone());
        Ok(Inserted::Inserted)
    }

    async fn replace(&self, expected: Version, record: &Record, _within: Duration) -> Result<Replaced, StoreError> {
        let records = &mut self.tables().records;
        match records.get(&record.key) {
            Some(old) if old.version() == expected => {
                records.insert(record.key.clone(), record.clone());
                Ok(Replaced::Replaced)
            }
            old => Ok(Replaced::Differs(old.cloned())),
        }
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
