//! Errors in AWS's form: the shape's name in the body, and in a header the code that it had in the older query protocol,
//! which the SDKs match on.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::sqs::SqsError;

/// An error as a response.
pub(in crate::sqs) struct ErrorAnswer(pub(in crate::sqs) SqsError);

impl From<SqsError> for ErrorAnswer {
    fn from(error: SqsError) -> Self {
        Self(error)
    }
}

impl IntoResponse for ErrorAnswer {
    fn into_response(self) -> Response {
        let (shape, code) = code(&self.0);
        let namespace = if shape.starts_with("Missing") { "com.amazon.coral.service" } else { "com.amazonaws.sqs" };
        let body = json!({ "__type": format!("{namespace}#{shape}"), "message": self.0.to_string() });
        let headers = [
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("x-amzn-query-error", format!("{code};Sender")),
        ];
        (StatusCode::BAD_REQUEST, headers, body.to_string()).into_response()
    }
}

/// The shape's name and the query protocol's code: the `awsQueryError` traits of SQS's model, as aws-sdk-sqs has them.
pub(super) fn code(error: &SqsError) -> (&'static str, &'static str) {
    match error {
        SqsError::NoSuchQueue { .. } => ("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
        SqsError::QueueExists { .. } => ("QueueNameExists", "QueueAlreadyExists"),
        SqsError::InvalidSetting { .. } => ("InvalidAttributeValue", "InvalidAttributeValue"),
        SqsError::UnknownSetting { .. } => ("InvalidAttributeName", "InvalidAttributeName"),
        SqsError::NoDeadLetterQueue { .. } => ("InvalidAttributeValue", "InvalidAttributeValue"),
        SqsError::NotADeadLetterQueue { .. } => ("ResourceNotFoundException", "ResourceNotFoundException"),
        SqsError::InvalidContent => ("InvalidMessageContents", "InvalidMessageContents"),
        SqsError::EmptyBody | SqsError::MissingParameter { .. } => {
            ("MissingRequiredParameterException", "MissingParameter")
        }
        SqsError::InvalidReceipt => ("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid"),
        SqsError::NotInFlight => ("MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight"),
        SqsError::EmptyBatch => ("EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest"),
        SqsError::TooManyEntries { .. } => {
            ("TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
        }
        SqsError::RepeatedEntryId { .. } => {
            ("BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct")
        }
        SqsError::Unsupported { .. } => ("UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation"),
        SqsError::ExpiredReceipt
        | SqsError::InvalidName { .. }
        | SqsError::TooLarge { .. }
        | SqsError::TooManyAttributes { .. }
        | SqsError::InvalidAttribute { .. }
        | SqsError::InvalidParameter { .. } => ("InvalidParameterValueException", "InvalidParameterValue"),
    }
}
