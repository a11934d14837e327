//! Amazon S3's notifications.

use aws_lambda_events::s3::{S3Event, S3EventRecord};
use idempotency_core::{Fingerprint, IdempotencyKey};
use lambda_http::LambdaEvent;
use serde_json::{Value, json};

use crate::events::{DeliveryError, Description, EventOperation, Payload, Settled, Source};

/// Amazon S3's event notifications. What is not done is an error: Lambda repeats it twice, and hands it to the function's dead-letter
/// queue or on-failure destination.
///
/// A notification's platform key is made of event name, bucket, object key, version and sequencer, by which S3 tells notifications
/// about the same object apart (Amazon S3 User Guide, "Event message structure"). The payload is the notification itself, in
/// the form that S3 gives it.
#[derive(Clone, Copy, Debug)]
pub struct S3;

impl Source for S3 {
    type Event = S3Event;
    type Record = S3EventRecord;
    type Response = ();

    const NAME: &'static str = "s3";

    fn records(event: LambdaEvent<S3Event>) -> Vec<S3EventRecord> {
        event.payload.records
    }

    fn describe(record: &S3EventRecord, operation: &EventOperation) -> Description {
        let object = &record.s3.object;
        let optional = |value: &Option<String>| value.clone().unwrap_or_default();
        let key = IdempotencyKey::derived(operation.operation())
            .part("event", &record.event_name)
            .part("bucket", &record.s3.bucket.name)
            .part("object", &object.key)
            // Only buckets with versions have one; removals may have no sequencer.
            .part("version", &format!("v{}", optional(&object.version_id)))
            .part("sequencer", &format!("s{}", optional(&object.sequencer)))
            .finish();
        // A record that was read from JSON cannot fail to be JSON.
        let payload = serde_json::to_value(record).unwrap_or(Value::Null);
        Description::new(Payload::Json(payload)).derived_id(key)
    }

    /// Times and request ids may differ between notifications of one change, so only the object counts. It keeps its place, so
    /// what is excluded is named as in the payload: `/s3/object/size`.
    fn fingerprint(record: &S3EventRecord, _: &Payload, operation: &EventOperation) -> Fingerprint {
        let object = json!({ "s3": { "object": record.s3.object } });
        Fingerprint::builder().json_without("payload", object.to_string().as_bytes(), operation.excluded()).finish()
    }

    /// An object's key may tell about people; what tells its changes apart does not.
    fn name(record: &S3EventRecord) -> Option<String> {
        record.s3.object.sequencer.clone()
    }

    fn respond(settled: Vec<Settled<S3EventRecord>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}
