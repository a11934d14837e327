//! Metrics of the store.

use std::time::Duration;

use idempotency_core::Record;
use idempotency_dynamodb::StoreObserver;

use super::{Metric, metric::measure};

/// Keeps how long a store takes and how large its records are, for a handle that is not from
/// [`Idempotency::from_env`](crate::Idempotency::from_env).
///
/// ```
/// use lambda_idempotency::{DynamoDbStore, Idempotency, Namespace, client_from_env, metrics::{StoreMetrics, install}};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let namespace = Namespace::new("prod")?;
/// install(&namespace);
/// let store = DynamoDbStore::new(client_from_env().await, "idempotency").observed_by(StoreMetrics);
/// let idempotency = Idempotency::new(store, namespace);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StoreMetrics;

impl StoreObserver for StoreMetrics {
    fn answered(&self, _: &'static str, took: Duration) {
        measure(None, Metric::StoreLatency, took.as_secs_f64() * 1000.0);
    }

    fn wrote(&self, record: &Record, bytes: usize) {
        #[expect(clippy::cast_precision_loss, reason = "an item has at most 400 KB")]
        measure(record.key.operation_name(), Metric::RecordBytes, bytes as f64);
    }
}
