//! DynamoDB Streams: the event source mapping that invokes a function with what happens in a table.
//!
//! [`StreamMapping`] reads the table's stream over the wire, so the stream of [`crate::dynamodb::EmbeddedDynamoDb`] works and that of
//! DynamoDB Local does too. The tables of [`crate::dynamodb::create_idempotency_table`] have one.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table};
//! use idempotency_testkit::function_binary;
//! use idempotency_testkit::lambda::{Function, FunctionConfig};
//! use idempotency_testkit::streams::{StreamConfig, StreamMapping};
//! use serde_json::json;
//!
//! let dynamodb = EmbeddedDynamoDb::start().await?;
//! create_idempotency_table(&dynamodb.client(), "idempotency").await?;
//! let function = Function::new(FunctionConfig::new("outbox-relay", function_binary("outbox-relay")?))?;
//! let inserted = json!({ "eventName": ["INSERT"], "dynamodb": { "Keys": { "sk": { "S": [{ "prefix": "outbox#" }] } } } });
//! let config = StreamConfig::new().filter(inserted).maximum_retry_attempts(10);
//! let mapping = StreamMapping::start(dynamodb.endpoint_url(), "idempotency", function, config).await?;
//! // … and when the test is over:
//! assert_eq!(mapping.stop().await.given_up, 0);
//! # Ok(())
//! # }
//! ```
//!
//! What is not emulated: starting anywhere but at the beginning (`TRIM_HORIZON`), batching windows, the age of records, tumbling windows,
//! more than one batch of a shard at a time (`ParallelizationFactor`), and waits that grow between retries.

mod api;
mod batch;
mod config;
mod counts;
mod error;
mod failed_batch;
mod filter;
mod reader;
mod shards;

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::lambda::Function;
use api::StreamsApi;
use batch::Work;
use counts::Counters;

pub use config::StreamConfig;
pub use counts::StreamCounts;
pub use error::StreamError;

/// Reads a table's stream from its beginning and invokes a function with real DynamoDB events, as Lambda does.
///
/// Records that no filter fits are passed over. The next batch of a shard is read when the one before it is done. A batch that failed is
/// tried again: from the sequence number that the function reported, or whole, or in two halves where that is asked for. After
/// [`StreamConfig::maximum_retry_attempts`] it is given up: a record of it (not its contents) goes to the on-failure destination.
///
/// Dropping the mapping stops it too; a batch that runs goes on to its end.
#[derive(Debug)]
pub struct StreamMapping {
    work: Arc<Work>,
    stop: watch::Sender<bool>,
    reader: Option<JoinHandle<()>>,
}

impl StreamMapping {
    /// Starts reading. `endpoint_url` is the engine's, and may be that of a [`crate::fault_proxy::FaultProxy`] in front of it.
    ///
    /// Must run inside a Tokio runtime, which then also runs the reader. Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`StreamError`] when the table has no stream, the engine does not answer, or the settings are none that Lambda takes.
    pub async fn start(
        endpoint_url: &str,
        table: &str,
        function: Function,
        config: StreamConfig,
    ) -> Result<Self, StreamError> {
        let filters = config.check()?;
        let api = StreamsApi::new(endpoint_url)?;
        let stream_arn = api.stream_of(table).await?;
        let (stop, stopped) = watch::channel(false);
        let work =
            Arc::new(Work { function, config, stream_arn, counters: Counters::default(), stopped: stopped.clone() });
        let reader = tokio::spawn(reader::read(Arc::clone(&work), api, filters, stopped));
        Ok(Self { work, stop, reader: Some(reader) })
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> StreamCounts {
        self.work.counters.read()
    }

    /// Reads nothing more, waits for the invocation that runs, and says what was done in all. What failed is not tried again.
    ///
    /// Dropping the future early lets that invocation go on without waiting for it.
    pub async fn stop(mut self) -> StreamCounts {
        self.stop.send_replace(true);
        if let Some(reader) = self.reader.take() {
            let _ = reader.await;
        }
        self.work.counters.read()
    }
}

impl Drop for StreamMapping {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}
