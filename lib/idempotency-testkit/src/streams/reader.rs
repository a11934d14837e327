//! The reader: what is new in a stream, as batches.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::sleep;

use super::StreamError;
use super::api::StreamsApi;
use super::batch::{Batch, Work};
use super::counts::add;
use super::filter::Filter;
use super::shards::Shards;
use crate::lambda::REQUEST_LIMIT;

/// Reads until it is stopped or the function is gone. A batch that runs is finished first.
pub(super) async fn read(work: Arc<Work>, api: StreamsApi, filters: Vec<Filter>, mut stop: watch::Receiver<bool>) {
    let mut shards = Shards::default();
    while !*stop.borrow() {
        let found = round(&work, &api, &filters, &mut shards).await;
        match found {
            Ok(Found::Something) => continue,
            Ok(Found::Nothing) => {}
            Ok(Found::End) => return,
            Err(error) => tracing::warn!(%error, "a stream could not be read; it is tried again"),
        }
        tokio::select! {
            // A closed channel is a dropped mapping.
            _ = stop.wait_for(|stop| *stop) => return,
            () = sleep(work.config.poll_wait) => {}
        }
    }
}

enum Found {
    Something,
    Nothing,
    /// The function is gone, or the mapping is to stop.
    End,
}

async fn round(work: &Work, api: &StreamsApi, filters: &[Filter], shards: &mut Shards) -> Result<Found, StreamError> {
    shards.learn(api.shards(&work.stream_arn).await?);
    let mut found = Found::Nothing;
    for reading in shards.readable() {
        let page = reading.next(api, &work.stream_arn).await?;
        if page.records.is_empty() {
            continue;
        }
        found = Found::Something;
        let (passing, others): (Vec<_>, Vec<_>) = page
            .records
            .into_iter()
            .partition(|record| filters.is_empty() || filters.iter().any(|filter| filter.fits(record)));
        add(&work.counters.passed_over, others.len());
        for records in cut(passing, work.config.batch_size, &work.stream_arn) {
            if !work.process(Batch { shard: &reading.shard.id, records }).await {
                return Ok(Found::End);
            }
        }
    }
    Ok(found)
}

/// Cuts records into batches that fit into an event: so many records, and 6 MB. Each gets the member that a stream does not give.
fn cut(records: Vec<Value>, batch_size: usize, stream_arn: &str) -> Vec<Vec<Value>> {
    let (mut batches, mut bytes) = (Vec::<Vec<Value>>::new(), 0);
    for mut record in records {
        if let Some(members) = record.as_object_mut() {
            members.insert("eventSourceARN".to_owned(), Value::from(stream_arn));
        }
        // A comma, and what is around the records.
        let size = record.to_string().len() + 16;
        match batches.last_mut() {
            Some(batch) if batch.len() < batch_size && bytes + size <= REQUEST_LIMIT => {
                batch.push(record);
                bytes += size;
            }
            _ => {
                batches.push(vec![record]);
                bytes = size;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_batch_has_its_size_and_fits_into_an_event() {
        let lengths = |records: Vec<Value>, size| cut(records, size, "arn").iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(vec![json!({}); 5], 2), [2, 2, 1]);
        let large = json!({ "a": "x".repeat(REQUEST_LIMIT / 3) });
        assert_eq!(lengths(vec![large; 4], 100), [2, 2]);
        assert_eq!(cut(vec![json!({ "a": 1 })], 1, "arn"), [[json!({ "a": 1, "eventSourceARN": "arn" })]]);
    }
}
