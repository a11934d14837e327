//! What tests of functions share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use idempotency_core::{Clock, Engine, EpochMillis, MemoryStore, Record};
use lambda_idempotency::{Idempotency, Mode, Namespace, function::BoxError, idempotent};
use serde::Serialize;

/// How often a function ran. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicU32>);

impl Runs {
    pub(crate) fn count(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn so_far(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A handle over the memory store, and its clock.
pub(crate) struct World {
    pub(crate) idempotency: Idempotency<MemoryStore>,
    pub(crate) runs: Runs,
    clock: Hands,
}

/// A clock that stands still until it is set.
#[derive(Clone)]
struct Hands(Arc<AtomicI64>);

impl Clock for Hands {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Hands(Arc::new(AtomicI64::new(1_796_000_000_000)));
        let engine = Engine::new(MemoryStore::default()).with_clock(clock.clone());
        Self {
            idempotency: Idempotency::with_engine(engine, Namespace::new("test").unwrap()),
            runs: Runs::default(),
            clock,
        }
    }

    pub(crate) fn mode(self, mode: Mode) -> Self {
        Self { idempotency: self.idempotency.with_mode(mode), ..self }
    }

    pub(crate) fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    /// Sets the clock past every lease.
    pub(crate) fn end_lease(&self) {
        let hour = i64::try_from(Duration::from_secs(3600).as_millis()).unwrap();
        self.clock.0.fetch_add(hour, Ordering::SeqCst);
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.idempotency.engine().store().records()
    }

    /// The only record.
    pub(crate) fn record(&self) -> Record {
        let mut records = self.records();
        assert_eq!(records.len(), 1);
        records.remove(0)
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Invoice {
    pub(crate) tenant: String,
    pub(crate) id: u64,
    pub(crate) cents: u64,
}

pub(crate) fn invoice(id: u64) -> Invoice {
    Invoice { tenant: "tenant-7".into(), id, cents: 1200 }
}

#[idempotent(operation = "archive-invoice", version = 1, scope = tenant(&invoice.tenant), key = [invoice.id])]
pub(crate) async fn archive_invoice(runs: &Runs, invoice: Invoice, copies: u8) -> Result<u32, BoxError> {
    let _ = (invoice, copies);
    Ok(runs.count())
}

#[idempotent(operation = "missing", version = 1, scope = none, key = [order, customer])]
pub(crate) async fn missing_parts(runs: &Runs, order: Option<u64>, customer: String) -> Result<u32, BoxError> {
    let _ = (order, customer);
    Ok(runs.count())
}
