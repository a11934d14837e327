//! Errors as `application/problem+json` (RFC 9457).

use std::{error::Error, fmt, time::Duration};

use http::{
    HeaderValue, StatusCode,
    header::{ALLOW, CONTENT_TYPE, RETRY_AFTER},
};
use lambda_http::{Body, Response};
use serde_json::json;

/// What kind of problem a request met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemType {
    /// The request has no idempotency key.
    KeyMissing,
    /// The request's key breaks a rule.
    KeyInvalid,
    /// The request does not say whose key it uses.
    ScopeMissing,
    /// The request cannot be read as what the handler takes.
    RequestInvalid,
    /// The handler serves protected methods only.
    MethodNotAllowed,
    /// Another attempt with this key may be running.
    Conflict,
    /// The key was used with another request.
    Mismatch,
    /// An attempt was lost and nobody knows whether its effect happened.
    OutcomeUnknown,
    /// The operation ended, but its stored result cannot be read.
    ResultUnreadable,
    /// The operation failed for good, and what it answered cannot be read.
    FailureUnreadable,
    /// The request that is asked about has no result.
    ResultMissing,
    /// The key is claimed in another region; nothing was executed.
    Misdirected,
    /// The store gave no answer; nothing was executed.
    StoreUnavailable,
    /// The handler says that its effect did not happen and may be tried again.
    Retryable,
    /// The handler ran, and it is not known whether what it staged was written: all of it or nothing.
    NotCommitted,
    /// The handler ran, and the store refuses for good what it staged: nothing of it was written.
    CommitRefused,
    /// The operation failed for good, and what it did before is not undone yet.
    Undoing,
    /// The operation failed for good, and something that it did before could not be undone.
    CompensationStuck,
}

impl ProblemType {
    /// The last part of the type's URI.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyMissing => "key-missing",
            Self::KeyInvalid => "key-invalid",
            Self::ScopeMissing => "scope-missing",
            Self::RequestInvalid => "request-invalid",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::Conflict => "conflict",
            Self::Mismatch => "mismatch",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::ResultUnreadable => "result-unreadable",
            Self::FailureUnreadable => "failure-unreadable",
            Self::ResultMissing => "result-missing",
            Self::Misdirected => "misdirected",
            Self::StoreUnavailable => "store-unavailable",
            Self::Retryable => "retryable",
            Self::NotCommitted => "not-committed",
            Self::CommitRefused => "commit-refused",
            Self::Undoing => "undoing",
            Self::CompensationStuck => "compensation-stuck",
        }
    }

    /// The status of a response of this type.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::KeyMissing | Self::KeyInvalid | Self::RequestInvalid => StatusCode::BAD_REQUEST,
            Self::ScopeMissing => StatusCode::FORBIDDEN,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::ResultMissing => StatusCode::NOT_FOUND,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Mismatch => StatusCode::UNPROCESSABLE_ENTITY,
            Self::OutcomeUnknown
            | Self::ResultUnreadable
            | Self::FailureUnreadable
            | Self::CommitRefused
            | Self::CompensationStuck => StatusCode::INTERNAL_SERVER_ERROR,
            // RFC 9110 section 15.5.20: this server is unwilling to answer for it, another one is not.
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::StoreUnavailable | Self::Retryable | Self::NotCommitted | Self::Undoing => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::KeyMissing => "The request has no idempotency key",
            Self::KeyInvalid => "The idempotency key is not valid",
            Self::ScopeMissing => "The request has no scope",
            Self::RequestInvalid => "The request is not valid",
            Self::MethodNotAllowed => "The method is not allowed here",
            Self::Conflict => "A request with this idempotency key is in progress",
            Self::Mismatch => "This idempotency key was used with another request",
            Self::OutcomeUnknown => "The outcome of this request is not known",
            Self::ResultUnreadable => "The stored result cannot be read",
            Self::FailureUnreadable => "The operation failed, and its answer cannot be read",
            Self::ResultMissing => "There is no result for this idempotency key",
            Self::Misdirected => "This idempotency key belongs to another region",
            Self::StoreUnavailable => "The idempotency store is not available",
            Self::Retryable => "The operation could not be carried out now",
            Self::NotCommitted => "It is not known whether this request took effect",
            Self::CommitRefused => "What this request was to write cannot be written",
            Self::Undoing => "The operation failed and is being undone",
            Self::CompensationStuck => "The operation failed and could not be undone",
        }
    }
}

/// A problem, ready to be answered. It never carries stored data or what the caller sent.
///
/// ```
/// use lambda_idempotency::http::{Problem, ProblemType};
///
/// let response = Problem::new(ProblemType::RequestInvalid, "amount: must be positive").into_response();
/// assert_eq!(response.status(), 400);
/// assert_eq!(response.headers()["content-type"], "application/problem+json");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    kind: ProblemType,
    status: StatusCode,
    detail: String,
    retry_after: Option<Duration>,
    allow: Option<String>,
}

impl Problem {
    /// A problem of this type. `detail` tells the caller what to do, in one sentence.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        Self { kind, status: kind.status(), detail: detail.into(), retry_after: None, allow: None }
    }

    /// The same problem with `Retry-After`, rounded up to whole seconds (RFC 9110 section 10.2.3).
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }

    /// The same problem with another status.
    #[must_use]
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same problem with the methods that are allowed.
    #[must_use]
    pub(crate) fn with_allow(self, methods: String) -> Self {
        Self { allow: Some(methods), ..self }
    }

    /// The type.
    pub const fn kind(&self) -> ProblemType {
        self.kind
    }

    /// The status of the response.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The response.
    pub fn into_response(self) -> Response<Body> {
        let body = json!({
            // A name of its own that does not depend on where documentation is published (RFC 9457 section 3.1.1).
            "type": format!("urn:problem-type:idempotency:{}", self.kind.name()),
            "title": self.kind.title(),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(retry_after) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds(retry_after));
        }
        if let Some(Ok(allow)) = self.allow.map(HeaderValue::try_from) {
            headers.insert(ALLOW, allow);
        }
        response
    }
}

/// A duration as `Retry-After` has it: whole seconds, rounded up (RFC 9110 section 10.2.3).
pub(super) fn seconds(duration: Duration) -> HeaderValue {
    HeaderValue::from(u64::try_from(duration.as_millis().div_ceil(1000)).unwrap_or(u64::MAX))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.detail)
    }
}

impl Error for Problem {}
