//! Amazon EventBridge Scheduler.

use idempotency_core::{Fingerprint, IdempotencyKey, JsonPointer};
use lambda_http::LambdaEvent;
use serde_json::Value;

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Settled, Source},
    propagation,
};

/// Amazon EventBridge Scheduler, and EventBridge's scheduled rules. What is not done is an error: Lambda repeats it twice, and Scheduler
/// delivers at least once.
///
/// The platform key is made of the schedule's ARN and the time that it is scheduled for, which all deliveries of one occasion share. (The
/// execution id is another one for each attempt, and would protect nothing.) Both are in the event that Scheduler and rules send if
/// no input is chosen, as `resources` and `time`. An input of your own has to carry them (EventBridge Scheduler User Guide, "Adding
/// context attributes in EventBridge Scheduler"):
///
/// ```json
/// { "scheduleArn": "<aws.scheduler.schedule-arn>", "scheduledTime": "<aws.scheduler.scheduled-time>", "anything": "else" }
/// ```
///
/// An input without them has no key, and is an error rather than unprotected. The payload is the whole input; what differs between
/// attempts (`<aws.scheduler.execution-id>`, `<aws.scheduler.attempt-number>`) makes a mismatch of the second one unless
/// [`fingerprint_exclude`](EventOperation::fingerprint_exclude) leaves it out.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler;

impl Source for Scheduler {
    type Event = Value;
    type Record = Value;
    type Response = ();

    const NAME: &'static str = "scheduler";

    fn records(event: LambdaEvent<Value>) -> Vec<Value> {
        vec![event.payload]
    }

    fn describe(input: &Value, operation: &EventOperation) -> Description {
        let mut payload = input.clone();
        let key = propagation::out_of_json(&mut payload);
        let description = Description::new(Payload::Json(payload)).propagated(key);
        let Some((schedule, time)) = occasion(input) else { return description };
        let id = IdempotencyKey::derived(operation.operation()).part("schedule", schedule).part("time", time).finish();
        description.derived_id(id)
    }

    /// The event that Scheduler sends by itself has an id of this attempt, which is nobody's input.
    fn fingerprint(input: &Value, payload: &Payload, operation: &EventOperation) -> Fingerprint {
        const ID: JsonPointer = JsonPointer::declare("/id");
        let own = input.get("scheduleArn").is_some();
        let excluded: Vec<_> = operation.excluded().iter().cloned().chain((!own).then_some(ID)).collect();
        Fingerprint::builder().json_without("payload", &payload.bytes(), &excluded).finish()
    }

    fn name(input: &Value) -> Option<String> {
        occasion(input).map(|(_, time)| time.to_owned())
    }

    fn respond(settled: Vec<Settled<Value>>) -> Result<(), DeliveryError> {
        DeliveryError::unless_all_done(&settled)
    }
}

/// Which schedule, and which time of it.
fn occasion(input: &Value) -> Option<(&str, &str)> {
    let text = |pointer| input.pointer(pointer).and_then(Value::as_str);
    let own = text("/scheduleArn").zip(text("/scheduledTime"));
    own.or_else(|| text("/resources/0").zip(text("/time")))
}
