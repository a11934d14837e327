//! Amazon EventBridge.

use aws_lambda_events::eventbridge::EventBridgeEvent;
use idempotency_core::Fingerprint;
use lambda_http::LambdaEvent;
use serde_json::Value;

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Settled, Source},
    propagation,
};

/// An Amazon EventBridge rule. What is not done is an error: Lambda repeats it twice, and hands it to the function's dead-letter queue
/// or on-failure destination.
///
/// The payload is the event's `detail`. Its platform key is the event's `id`, which is the same for each delivery; an event that is put
/// twice has two, unless the key travels in its detail ([`propagation::into_json`]). The fingerprint covers `source`, `detail-type` and
/// `detail`.
#[derive(Clone, Copy, Debug)]
pub struct EventBridge;

impl Source for EventBridge {
    type Event = EventBridgeEvent<Value>;
    type Record = EventBridgeEvent<Value>;
    type Response = ();

    const NAME: &'static str = "eventbridge";

    fn records(event: LambdaEvent<Self::Event>) -> Vec<Self::Record> {
        vec![event.payload]
    }

    fn describe(event: &Self::Record, _: &EventOperation) -> Description {
        let mut detail = event.detail.clone();
        let key = propagation::out_of_json(&mut detail);
        Description::new(Payload::Json(detail)).propagated(key).id(event.id.clone())
    }

    fn fingerprint(event: &Self::Record, payload: &Payload, operation: &EventOperation) -> Fingerprint {
        Fingerprint::builder()
            .bytes("source", event.source.as_bytes())
            .bytes("detail-type", event.detail_type.as_bytes())
            .json_without("payload", &payload.bytes(), operation.excluded())
            .finish()
    }

    fn name(event: &Self::Record) -> Option<String> {
        event.id.clone()
    }

    fn respond(settled: Vec<Settled<Self::Record>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}
