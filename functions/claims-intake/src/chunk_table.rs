//! The table of chunks: partition key `chunk_id` (S).

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, DisplayErrorContext},
    types::{AttributeValue, DeleteRequest, PutRequest, WriteRequest},
};
use futures::{StreamExt, TryStreamExt, stream};
use lambda_idempotency::Attempt;
use tokio::time::sleep;

use crate::chunk::Chunk;

/// The most writes of one request (Amazon DynamoDB API Reference, "BatchWriteItem"). 25 chunks are far below its 16 MB.
const BATCH: usize = 25;

/// How many requests of one claim are on their way at once.
const CONCURRENCY: usize = 4;

/// The pause after the first request that was not carried out whole; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How often a batch is sent where the platform sets no deadline.
const MOST_ROUNDS: u32 = 60;

/// What is kept of the invocation's time for storing the outcome.
const RESERVE: Duration = Duration::from_secs(1);

/// The chunks.
pub(crate) struct ChunkTable {
    client: Client,
    table: String,
}

/// The chunks could not all be stored or removed. Which of them are, is not known, and does not matter: it can be done again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PutError {
    /// DynamoDB gave no answer, or an error.
    #[error("the table of chunks cannot be written: {0}")]
    Request(String),
    /// DynamoDB did not take all of them in the time there was.
    #[error("the table of chunks did not take all chunks in time")]
    NoTime,
}

impl ChunkTable {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Stores chunks under their ids, each beside the summary of its document. Storing the same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`PutError`] when not all of them are known to be stored.
    pub(crate) async fn put(&self, chunks: &[Chunk<'_>], summary: &str, attempt: &Attempt) -> Result<(), PutError> {
        self.write(chunks, |chunk| put_request(chunk, summary), attempt).await
    }

    /// Removes chunks, by their ids. Removing the same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`PutError`] when not all of them are known to be gone.
    pub(crate) async fn remove(&self, chunks: &[Chunk<'_>], attempt: &Attempt) -> Result<(), PutError> {
        self.write(chunks, delete_request, attempt).await
    }

    async fn write(
        &self,
        chunks: &[Chunk<'_>],
        request: impl Fn(&Chunk<'_>) -> Result<WriteRequest, BuildError>,
        attempt: &Attempt,
    ) -> Result<(), PutError> {
        let requests: Result<Vec<_>, _> = chunks.iter().map(request).collect();
        let requests = requests.map_err(|error| PutError::Request(error.to_string()))?;
        let batches = requests.chunks(BATCH).map(|batch| self.write_batch(batch.to_vec(), attempt)).collect::<Vec<_>>();
        stream::iter(batches).buffer_unordered(CONCURRENCY).try_collect().await
    }

    async fn write_batch(&self, mut left: Vec<WriteRequest>, attempt: &Attempt) -> Result<(), PutError> {
        let mut pause = FIRST_PAUSE;
        for _ in 0..MOST_ROUNDS {
            let request = self.client.batch_write_item().request_items(&self.table, left);
            let answer =
                request.send().await.map_err(|error| PutError::Request(DisplayErrorContext(error).to_string()))?;
            left = answer.unprocessed_items.and_then(|mut items| items.remove(&self.table)).unwrap_or_default();
            if left.is_empty() {
                return Ok(());
            }
            if !suffices(attempt.remaining(), pause) {
                break;
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(PutError::NoTime)
    }
}

/// Whether there is time for a pause and another request. No time at all is a local host without deadlines.
fn suffices(remaining: Duration, pause: Duration) -> bool {
    remaining.is_zero() || remaining > pause + RESERVE
}

fn put_request(chunk: &Chunk<'_>, summary: &str) -> Result<WriteRequest, BuildError> {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let item = HashMap::from([
        ("chunk_id".to_owned(), text(&chunk.id.to_string())),
        ("tenant".to_owned(), text(chunk.claim.tenant.as_str())),
        ("claim_id".to_owned(), text(chunk.claim.claim_id.as_str())),
        ("index".to_owned(), AttributeValue::N(chunk.index.to_string())),
        ("text".to_owned(), text(chunk.text)),
        ("model".to_owned(), text(chunk.model)),
        // A chunk that is found alone must still say what it is part of.
        ("summary".to_owned(), text(summary)),
    ]);
    Ok(WriteRequest::builder().put_request(PutRequest::builder().set_item(Some(item)).build()?).build())
}

fn delete_request(chunk: &Chunk<'_>) -> Result<WriteRequest, BuildError> {
    let id = AttributeValue::S(chunk.id.to_string());
    Ok(WriteRequest::builder().delete_request(DeleteRequest::builder().key("chunk_id", id).build()?).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_that_would_leave_no_time_for_the_outcome_is_not_made() {
        let second = Duration::from_secs(1);
        assert!(suffices(3 * second, second));
        assert!(!suffices(2 * second, second));
        assert!(suffices(Duration::ZERO, second));
    }
}
