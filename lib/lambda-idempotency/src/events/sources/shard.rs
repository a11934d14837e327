//! What Kinesis and DynamoDB Streams have in common: a shard, and a checkpoint in it.

use crate::events::{DeliveryError, Settled};

/// The checkpoint after a batch: the sequence number of the first record that is not done. Lambda goes on from the lowest one that it
/// is told (AWS Lambda Developer Guide, "Configuring partial batch response with Kinesis Data Streams and Lambda"), and records stand in
/// the batch as in their shard.
pub(super) fn first_not_done<R>(
    settled: Vec<Settled<R>>,
    sequence_number: impl FnOnce(R) -> Option<String>,
) -> Result<Option<String>, DeliveryError> {
    let Some(first) = settled.into_iter().find(|settled| !settled.is_done) else { return Ok(None) };
    let number = sequence_number(first.record).filter(|number| !number.is_empty());
    number.ok_or(DeliveryError::NoIdentifier).map(Some)
}
