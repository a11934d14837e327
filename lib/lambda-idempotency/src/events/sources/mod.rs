//! The services that deliver records to Lambda functions.

mod dynamodb_stream;
mod eventbridge;
mod invocation;
mod kafka;
mod kinesis;
mod s3;
mod scheduler;
mod shard;
mod sns;
mod sqs;
#[cfg(test)]
mod tests;

pub use dynamodb_stream::DynamoDbStream;
pub use eventbridge::EventBridge;
pub use invocation::{Invocation, InvocationRecord};
pub use kafka::{Kafka, KafkaBatchItemFailure, KafkaBatchResponse, KafkaDelivery, KafkaItemIdentifier, KafkaReporting};
pub use kinesis::Kinesis;
pub use s3::S3;
pub use scheduler::Scheduler;
pub use sns::Sns;
pub use sqs::Sqs;
