//! Apache Kafka: Amazon MSK and self-managed.

use std::{collections::HashSet, sync::Arc};

use aws_lambda_events::kafka::{KafkaEvent, KafkaRecord};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use idempotency_core::IdempotencyKey;
use lambda_http::LambdaEvent;
use serde::Serialize;

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Settled, Source},
    function::InvalidKey,
    propagation,
};

/// Kafka topics (Amazon MSK or self-managed), for event source mappings of every kind: if a record is not done, the whole event
/// fails and comes again, and what was done is replayed.
///
/// Records are carried out in the order of their partition, up to the first that is not done; partitions run side by side. With
/// [`order_by_key`](EventOperation::order_by_key) record keys run side by side. Lambda repeats a failed batch until it succeeds or its
/// records expire unless the mapping says otherwise, so think about [`OnPoison`](crate::events::OnPoison).
///
/// A record's platform key is made of cluster, topic, partition, offset and the record's own timestamp. The payload is the record's value; one without value
/// (a tombstone) is read as `null`.
#[derive(Clone, Copy, Debug)]
pub struct Kafka;

/// As [`Kafka`], for event source mappings in provisioned mode with `ReportBatchItemFailures`, which alone can go on from an offset
/// (AWS Lambda Developer Guide, "Configuring error handling controls for Kafka event sources"): of each partition the first offset that is
/// not done is reported. **A mapping without that setting takes the report for success, and the records are lost.**
#[derive(Clone, Copy, Debug)]
pub struct KafkaReporting;

/// A Kafka record, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KafkaDelivery {
    /// The cluster: the ARN of an MSK cluster, or the bootstrap servers of another.
    pub cluster: Arc<str>,
    /// Topic and partition, as the event names them: `orders-0`.
    pub topic_partition: Arc<str>,
    /// The record, as Lambda delivered it. Key and value are in base64.
    pub record: KafkaRecord,
}

/// The report of what is not done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KafkaBatchResponse {
    /// Of each partition with something that is not done, the first.
    pub batch_item_failures: Vec<KafkaBatchItemFailure>,
}

/// A record that is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KafkaBatchItemFailure {
    /// Which.
    pub item_identifier: KafkaItemIdentifier,
}

/// Where a Kafka record stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KafkaItemIdentifier {
    /// Topic and partition, as the event names them: `orders-0`.
    pub partition: String,
    /// The offset.
    pub offset: i64,
}

impl KafkaDelivery {
    /// The record's value: `None` for a tombstone, and for one that is not in base64.
    pub fn value(&self) -> Option<Bytes> {
        self.record.value.as_ref().and_then(|value| STANDARD.decode(value).ok()).map(Bytes::from)
    }

    /// The last value of this header. Names are compared in any case.
    pub fn header(&self, name: &str) -> Option<Bytes> {
        let headers = self.record.headers.iter().flatten().filter(|(header, _)| header.eq_ignore_ascii_case(name));
        headers.map(|(_, value)| bytes(value)).last()
    }
}

/// Lambda writes a header's value as a list of Java's signed bytes.
fn bytes(value: &[i8]) -> Bytes {
    value.iter().map(|byte| byte.cast_unsigned()).collect()
}

/// A cluster's servers are listed in any order.
fn sorted(servers: String) -> String {
    let mut servers: Vec<_> = servers.split(',').map(str::trim).collect();
    servers.sort_unstable();
    servers.join(",")
}

impl Source for Kafka {
    type Event = KafkaEvent;
    type Record = KafkaDelivery;
    type Response = ();

    const NAME: &'static str = "kafka";

    fn records(event: LambdaEvent<KafkaEvent>) -> Vec<KafkaDelivery> {
        let event = event.payload;
        let cluster: Arc<str> =
            event.event_source_arn.or(event.bootstrap_servers.map(sorted)).unwrap_or_default().into();
        let mut partitions: Vec<_> = event.records.into_iter().collect();
        // A JSON object has no order; partitions get one.
        partitions.sort_by(|(a, _), (b, _)| a.cmp(b));
        let records = partitions.into_iter().flat_map(|(topic_partition, records)| {
            let topic_partition: Arc<str> = topic_partition.into();
            records.into_iter().map(move |record| (Arc::clone(&topic_partition), record))
        });
        records
            .map(|(topic_partition, record)| KafkaDelivery { cluster: Arc::clone(&cluster), topic_partition, record })
            .collect()
    }

    fn describe(delivery: &KafkaDelivery, operation: &EventOperation) -> Description {
        let record = &delivery.record;
        let payload = match (&record.value, delivery.value()) {
            (Some(value), None) => Bytes::copy_from_slice(value.as_bytes()),
            (_, value) => value.unwrap_or(Bytes::from_static(b"null")),
        };
        let names = record.headers.iter().flatten().map(|(name, value)| (name.as_str(), bytes(value)));
        let headers: Vec<_> = names.collect();
        let texts = headers.iter().map(|(name, value)| (*name, std::str::from_utf8(value).ok()));
        let id = IdempotencyKey::derived(operation.operation())
            .part("cluster", &*delivery.cluster)
            .part("partition", &*delivery.topic_partition)
            .part("offset", &record.offset)
            // The record's own time, which is part of it: a topic that is created anew begins with the same offsets.
            .part("written", &record.timestamp.timestamp_millis())
            .finish();
        let group = match (operation.is_ordered_by_key(), &record.key) {
            (true, Some(key)) => format!("{}/{key}", delivery.topic_partition),
            _ => delivery.topic_partition.as_ref().to_owned(),
        };
        let propagated: Option<Result<_, InvalidKey>> = propagation::among(texts);
        Description::new(Payload::Bytes(payload)).propagated(propagated).derived_id(id).group(Some(group))
    }

    fn name(delivery: &KafkaDelivery) -> Option<String> {
        Some(format!("{}@{}", delivery.topic_partition, delivery.record.offset))
    }

    fn respond(settled: Vec<Settled<KafkaDelivery>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}

impl Source for KafkaReporting {
    type Event = KafkaEvent;
    type Record = KafkaDelivery;
    type Response = KafkaBatchResponse;

    const NAME: &'static str = Kafka::NAME;

    fn records(event: LambdaEvent<KafkaEvent>) -> Vec<KafkaDelivery> {
        Kafka::records(event)
    }

    fn describe(delivery: &KafkaDelivery, operation: &EventOperation) -> Description {
        Kafka::describe(delivery, operation)
    }

    fn name(delivery: &KafkaDelivery) -> Option<String> {
        Kafka::name(delivery)
    }

    fn respond(settled: Vec<Settled<KafkaDelivery>>) -> Result<KafkaBatchResponse, DeliveryError> {
        let mut seen = HashSet::new();
        let not_done = settled.into_iter().filter(|settled| !settled.is_done).map(|settled| settled.record);
        // Records stand in the order of their offsets.
        let first = not_done.filter(|delivery| seen.insert(Arc::clone(&delivery.topic_partition)));
        let batch_item_failures = first
            .map(|delivery| KafkaBatchItemFailure {
                item_identifier: KafkaItemIdentifier {
                    partition: delivery.topic_partition.as_ref().to_owned(),
                    offset: delivery.record.offset,
                },
            })
            .collect();
        Ok(KafkaBatchResponse { batch_item_failures })
    }
}
