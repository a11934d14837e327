//! Amazon SNS.

use aws_lambda_events::sns::{SnsEvent, SnsRecord};
use bytes::Bytes;
use lambda_http::LambdaEvent;

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Settled, Source},
    propagation,
};

/// An Amazon SNS topic. What is not done is an error: Lambda repeats it twice, and hands it to the function's dead-letter queue or
/// on-failure destination.
///
/// The payload is the message's text. Its platform key is the message id, which is the same for each delivery.
#[derive(Clone, Copy, Debug)]
pub struct Sns;

impl Source for Sns {
    type Event = SnsEvent;
    type Record = SnsRecord;
    type Response = ();

    const NAME: &'static str = "sns";

    fn records(event: LambdaEvent<SnsEvent>) -> Vec<SnsRecord> {
        event.payload.records
    }

    fn describe(record: &SnsRecord, _: &EventOperation) -> Description {
        let message = &record.sns;
        let attributes = message.message_attributes.iter().map(|(name, attribute)| {
            (name.as_str(), Some(attribute.value.as_str()).filter(|_| attribute.data_type.starts_with("String")))
        });
        Description::new(Payload::Bytes(Bytes::from(message.message.clone())))
            .propagated(propagation::among(attributes))
            .id(Some(message.message_id.as_str()))
    }

    fn name(record: &SnsRecord) -> Option<String> {
        Some(record.sns.message_id.clone())
    }

    fn respond(settled: Vec<Settled<SnsRecord>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}
