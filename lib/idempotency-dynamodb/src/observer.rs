//! What a store tells of its requests.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use idempotency_core::{Record, StoreError};
use tokio::time::Instant;
use tracing::Instrument;

use crate::deadline::Deadline;

/// What is told of a store's requests, for metrics. See [`DynamoDbStore::observed_by`](crate::DynamoDbStore::observed_by).
///
/// Both are called on the path of a request, so they must be quick; what they do changes nothing about it.
pub trait StoreObserver: Send + Sync + 'static {
    /// A request has been answered, refused or given up after `took`, the SDK's own repetitions included. `request` is its name in
    /// DynamoDB's API, such as `PutItem`.
    fn answered(&self, request: &'static str, took: Duration);

    /// A record of this many bytes was handed to a request, as DynamoDB counts an item's size.
    fn wrote(&self, record: &Record, bytes: usize);
}

/// Watches a store's requests for whoever wants to know.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<dyn StoreObserver>>);

impl Watch {
    pub(crate) fn by(observer: impl StoreObserver) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Waits for an answer no longer than until the deadline, in a span that says what is asked.
    ///
    /// The SDK's futures have some ten thousand bytes. In a box they are not part of everything that waits for them, up to the handler.
    pub(crate) fn limit<T>(
        &self,
        request: &'static str,
        deadline: Deadline,
        answer: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let answer = deadline.limit(Box::pin(answer));
        async move {
            // Names of OpenTelemetry's semantic conventions for DynamoDB. Keys and items stay out.
            let span = tracing::debug_span!(
                "dynamodb",
                otel.name = request,
                otel.kind = "client",
                db.system.name = "aws.dynamodb",
                db.operation.name = request,
            );
            let begun = Instant::now();
            let answer = answer.instrument(span).await;
            if let Self(Some(observer)) = self {
                observer.answered(request, begun.elapsed());
            }
            answer
        }
    }

    pub(crate) fn wrote(&self, record: &Record, bytes: impl FnOnce() -> usize) {
        if let Self(Some(observer)) = self {
            observer.wrote(record, bytes());
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}
