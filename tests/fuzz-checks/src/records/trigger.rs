//! Triggers of records, and the check of each.

use lambda_idempotency::events::{
    DynamoDbStream, EventBridge, Invocation, Kafka, KafkaReporting, Kinesis, S3, Scheduler, Sns, Sqs,
};

use super::{Counts, check::check_as, samples::Kind};

/// A trigger of records.
#[derive(Clone, Copy, Debug)]
pub struct RecordTrigger {
    /// Its name.
    pub name: &'static str,
    /// What its events look like.
    pub(super) kind: Kind,
    /// Checks a text as an event of its source.
    pub(super) check: fn(&str, &mut Counts),
}

impl RecordTrigger {
    /// Every trigger of records that there is.
    pub const fn all() -> &'static [Self] {
        const ALL: [RecordTrigger; 11] = [
            RecordTrigger { name: "sqs", kind: Kind::Sqs, check: |text, counts| check_as(Sqs, text, counts) },
            RecordTrigger { name: "sqs-fifo", kind: Kind::Fifo, check: |text, counts| check_as(Sqs, text, counts) },
            RecordTrigger {
                name: "kinesis",
                kind: Kind::Kinesis,
                check: |text, counts| check_as(Kinesis, text, counts),
            },
            RecordTrigger {
                name: "dynamodb",
                kind: Kind::DynamoDb,
                check: |text, counts| check_as(DynamoDbStream, text, counts),
            },
            RecordTrigger { name: "kafka", kind: Kind::Kafka, check: |text, counts| check_as(Kafka, text, counts) },
            RecordTrigger {
                name: "kafka-reporting",
                kind: Kind::Kafka,
                check: |text, counts| check_as(KafkaReporting, text, counts),
            },
            RecordTrigger {
                name: "eventbridge",
                kind: Kind::EventBridge,
                check: |text, counts| check_as(EventBridge, text, counts),
            },
            RecordTrigger { name: "sns", kind: Kind::Sns, check: |text, counts| check_as(Sns, text, counts) },
            RecordTrigger { name: "s3", kind: Kind::S3, check: |text, counts| check_as(S3, text, counts) },
            RecordTrigger {
                name: "scheduler",
                kind: Kind::Scheduler,
                check: |text, counts| check_as(Scheduler, text, counts),
            },
            RecordTrigger {
                name: "invocation",
                kind: Kind::Invocation,
                check: |text, counts| check_as(Invocation, text, counts),
            },
        ];
        &ALL
    }

    /// The trigger with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|trigger| trigger.name == name)
    }
}
