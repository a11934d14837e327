//! Asynchronous invocation.

use lambda_http::LambdaEvent;
use serde_json::Value;

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Settled, Source},
    propagation,
};

/// Asynchronous invocation of the function itself, with any JSON as payload. What is not done is an error: Lambda repeats it twice, and
/// hands it to the function's dead-letter queue or on-failure destination.
///
/// The key travels in the payload's member `idempotencyKey` ([`propagation::into_json`]). The platform key is the invocation's
/// request id, which the repetitions share; a caller that invokes twice has two.
#[derive(Clone, Copy, Debug)]
pub struct Invocation;

/// One asynchronous invocation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InvocationRecord {
    /// The payload.
    pub payload: Value,
    /// The invocation's request id.
    pub request_id: String,
}

impl Source for Invocation {
    type Event = Value;
    type Record = InvocationRecord;
    type Response = ();

    const NAME: &'static str = "invocation";

    fn records(event: LambdaEvent<Value>) -> Vec<InvocationRecord> {
        vec![InvocationRecord { payload: event.payload, request_id: event.context.request_id }]
    }

    fn describe(record: &InvocationRecord, _: &EventOperation) -> Description {
        let mut payload = record.payload.clone();
        let key = propagation::out_of_json(&mut payload);
        let id = Some(record.request_id.as_str()).filter(|id| !id.is_empty());
        Description::new(Payload::Json(payload)).propagated(key).id(id)
    }

    fn name(record: &InvocationRecord) -> Option<String> {
        Some(record.request_id.clone())
    }

    fn respond(settled: Vec<Settled<InvocationRecord>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}
