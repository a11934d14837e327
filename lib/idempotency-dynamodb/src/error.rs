//! What an SDK error says about the write that caused it.

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use idempotency_core::StoreError;

/// Service errors that refuse a request for now, without applying it (DynamoDB Developer Guide, "Error handling with
/// DynamoDB").
pub(crate) const THROTTLED: [&str; 6] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "ThrottlingError",
    "TransactionConflictException",
    "ReplicatedWriteConflictException",
];

/// Classifies an error. What is not known to be a refusal counts as no answer.
pub(crate) fn classify<E>(error: SdkError<E, HttpResponse>) -> StoreError
where
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    match &error {
        SdkError::ConstructionFailure(_) => StoreError::Refused(error.into()),
        SdkError::ServiceError(service) => {
            let code = service.err().code().unwrap_or_default();
            if THROTTLED.contains(&code) {
                StoreError::Throttled(error.into())
            } else if service.raw().status().is_server_error() {
                StoreError::Unknown(error.into())
            } else {
                StoreError::Refused(error.into())
            }
        }
        _ => StoreError::Unknown(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::{
        error::ErrorMetadata, operation::put_item::PutItemError, types::error::InternalServerError,
    };

    use aws_smithy_types::body::SdkBody;

    use super::*;

    fn service_error(status: u16, code: &str) -> SdkError<PutItemError, HttpResponse> {
        let error = PutItemError::generic(ErrorMetadata::builder().code(code).build());
        SdkError::service_error(error, HttpResponse::new(status.try_into().unwrap(), SdkBody::empty()))
    }

    #[test]
    fn only_a_definite_refusal_counts_as_one() {
        assert!(matches!(classify(service_error(400, "ThrottlingException")), StoreError::Throttled(_)));
        assert!(matches!(classify(service_error(400, "AccessDeniedException")), StoreError::Refused(_)));
        assert!(matches!(classify(service_error(400, "ResourceNotFoundException")), StoreError::Refused(_)));
        assert!(matches!(classify(service_error(503, "ServiceUnavailable")), StoreError::Unknown(_)));
        let error = PutItemError::InternalServerError(InternalServerError::builder().build());
        let response = HttpResponse::new(500.try_into().unwrap(), SdkBody::empty());
        assert!(matches!(classify(SdkError::service_error(error, response)), StoreError::Unknown(_)));
        let timeout = SdkError::<PutItemError, HttpResponse>::timeout_error("late");
        assert!(matches!(classify(timeout), StoreError::Unknown(_)));
    }
}
