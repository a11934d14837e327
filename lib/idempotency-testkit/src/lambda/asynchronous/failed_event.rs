//! What becomes of an event that is given up: a dead letter, and a record for the on-failure destination.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::next::{Condition, is_not_reached};
use crate::civil_time::CivilTime;
use crate::lambda::InvokeError;
use crate::lambda::environment::function_arn;
use crate::sqs::{Message, MessageAttribute};

/// "Adding a dead-letter queue": the error message is truncated to 1 KB.
const LONGEST_MESSAGE: usize = 1024;

#[derive(Debug)]
pub(super) struct FailedEvent<'a> {
    pub(super) request_id: &'a str,
    pub(super) function: &'a str,
    pub(super) payload: &'a Bytes,
    pub(super) error: &'a InvokeError,
    pub(super) condition: Condition,
    /// How often the function was invoked.
    pub(super) attempts: u32,
    pub(super) at: Duration,
}

impl FailedEvent<'_> {
    /// "Adding a dead-letter queue" in the Lambda Developer Guide: the event unchanged, and three attributes.
    pub(super) fn dead_letter(&self) -> Message {
        let mut message = error_message(self.error);
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
        // SQS takes no empty attributes.
        let message = if message.is_empty() { error_type(self.error) } else { message };
        Message::new(String::from_utf8_lossy(self.payload))
            .attribute("RequestID", self.request_id)
            .attribute("ErrorCode", MessageAttribute::number(self.error_code().to_string()))
            .attribute("ErrorMessage", message)
    }

    /// "Capturing records of Lambda asynchronous invocations", "Example invocation record".
    pub(super) fn record(&self) -> Message {
        let mut record = json!({
            "version": "1.0",
            "timestamp": CivilTime::of(self.at).iso_millis(),
            "requestContext": {
                "requestId": self.request_id,
                "functionArn": format!("{}:$LATEST", function_arn(self.function)),
                "condition": self.condition.name(),
                "approximateInvokeCount": self.attempts,
            },
            "requestPayload": serde_json::from_slice(self.payload).unwrap_or(Value::Null),
        });
        // Without an invocation there is no response.
        if let (true, Some(record)) = (self.attempts > 0, record.as_object_mut()) {
            let context = json!({
                "statusCode": self.error_code(), "executedVersion": "$LATEST", "functionError": "Unhandled",
            });
            let payload = json!({ "errorType": error_type(self.error), "errorMessage": error_message(self.error) });
            record.insert("responseContext".to_owned(), context);
            record.insert("responsePayload".to_owned(), payload);
        }
        Message::new(record.to_string())
    }

    /// The status of the invocation: 200 with a function error, as a synchronous caller gets it.
    fn error_code(&self) -> u16 {
        match self.error {
            InvokeError::Throttled { .. } => 429,
            error if is_not_reached(error) => 500,
            _ => 200,
        }
    }
}

fn error_message(error: &InvokeError) -> String {
    match error {
        InvokeError::Handler { message, .. } | InvokeError::Init { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

/// The names that Lambda gives to them: "Troubleshoot invocation issues" and the Runtime API.
fn error_type(error: &InvokeError) -> String {
    match error {
        InvokeError::Handler { error_type, .. } | InvokeError::Init { error_type, .. } => error_type.clone(),
        InvokeError::Crashed { .. } => "Runtime.ExitError".to_owned(),
        InvokeError::TimedOut { .. } => "Sandbox.Timedout".to_owned(),
        InvokeError::ResponseTooLarge { .. } => "Function.ResponseSizeTooLarge".to_owned(),
        InvokeError::Throttled { .. } => "TooManyRequestsException".to_owned(),
        _ => "ServiceException".to_owned(),
    }
}
