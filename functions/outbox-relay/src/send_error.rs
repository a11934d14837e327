//! Why an event was not sent.

use aws_sdk_eventbridge::{
    config::http::HttpResponse,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
};

use crate::routes::{BUS, QUEUES};

/// Why an event was not sent, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    #[error("it is for the event bus, and {BUS} is not set; set it to the bus's name or ARN")]
    NoBus,
    #[error("it is for the queue {name:?}, which {QUEUES} does not have; add it there with its URL")]
    NoQueue { name: String },
    #[error("its detail is not a JSON object")]
    Detail,
    /// The service took the request, and not this one.
    #[error("it was not taken: {code}: {message}")]
    NotTaken { code: String, message: String },
    /// The service refused the request for what is in it. Nothing of it was sent.
    #[error("the request was refused: {0}")]
    Refused(String),
    /// There was no answer, or one that says to try again.
    #[error("the request failed: {0}")]
    Failed(String),
}

impl SendError {
    /// What a request came to as a whole.
    pub(crate) fn of_request<E>(error: SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let is_client_error = error.raw_response().is_some_and(|answer| answer.status().as_u16() == 400);
        let is_throttled = error.code().is_some_and(|code| code.contains("Throttl"));
        let told = DisplayErrorContext(&error).to_string();
        if is_client_error && !is_throttled { Self::Refused(told) } else { Self::Failed(told) }
    }

    /// Whether it will not be sent however often it is tried.
    pub(crate) fn is_for_good(&self) -> bool {
        match self {
            Self::NoBus | Self::NoQueue { .. } | Self::Detail | Self::Refused(_) => true,
            // `InternalFailure`, `InternalException`, `ThrottlingException` (PutEvents, Amazon EventBridge API Reference), and what has no
            // code.
            Self::NotTaken { code, .. } => code.starts_with("Invalid") || code.contains("AccessDenied"),
            Self::Failed(_) => false,
        }
    }

    /// What one of a request's entries came to.
    pub(crate) fn of_entry(code: Option<&str>, message: Option<&str>) -> Self {
        let text = |text: Option<&str>| text.unwrap_or("no reason given").to_owned();
        Self::NotTaken { code: text(code), message: text(message) }
    }
}
