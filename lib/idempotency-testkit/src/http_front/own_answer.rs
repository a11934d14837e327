//! What a front answers itself when the function has no response.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;

use super::HttpKind;
use crate::lambda::InvokeError;

/// Why there is no response of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The function failed, crashed or timed out, or its result is not a response.
    Failed,
    /// No sandbox is free.
    Throttled,
    /// The front does not wait that long.
    TooSlow,
    /// The request is larger than the front or Lambda takes.
    TooLarge,
}

impl From<&InvokeError> for Reason {
    fn from(error: &InvokeError) -> Self {
        match error {
            InvokeError::Throttled { .. } | InvokeError::ShutDown => Self::Throttled,
            InvokeError::PayloadTooLarge { .. } => Self::TooLarge,
            _ => Self::Failed,
        }
    }
}

impl HttpKind {
    /// The largest request body that the front takes.
    pub(super) const fn body_limit(self) -> usize {
        match self {
            // "Quotas for configuring and running an HTTP API in API Gateway" and "… a REST API …": payload size 10 MB.
            Self::HttpApi | Self::RestApi => 10 * 1024 * 1024,
            // "Use Lambda functions as targets of an Application Load Balancer": 1 MB.
            Self::Alb | Self::AlbMultiValue => 1024 * 1024,
            // "Lambda quotas": 6 MB for a synchronous request.
            Self::FunctionUrl => 6 * 1024 * 1024,
        }
    }

    /// How long the front waits for the function; `None` is as long as the function may take.
    pub(super) const fn patience(self) -> Option<Duration> {
        match self {
            // The same pages: maximum integration timeout 30 seconds, and 29 seconds by default.
            Self::HttpApi => Some(Duration::from_secs(30)),
            Self::RestApi => Some(Duration::from_secs(29)),
            Self::Alb | Self::AlbMultiValue | Self::FunctionUrl => None,
        }
    }

    /// The response header with the request's id. A load balancer has none.
    pub(super) const fn request_id_header(self) -> Option<HeaderName> {
        match self {
            Self::HttpApi => Some(HeaderName::from_static("apigw-requestid")),
            Self::RestApi | Self::FunctionUrl => Some(HeaderName::from_static("x-amzn-requestid")),
            Self::Alb | Self::AlbMultiValue => None,
        }
    }

    /// The front's own answer: see the table in the [module's documentation](super).
    pub(super) fn own_answer(self, reason: Reason) -> Response<Bytes> {
        use Reason::{Failed, Throttled, TooLarge, TooSlow};
        match (self, reason) {
            (Self::HttpApi, Failed) => message(500, "Internal Server Error"),
            (Self::HttpApi, Throttled | TooSlow) => message(503, "Service Unavailable"),
            (Self::HttpApi, TooLarge) => message(413, "Request Entity Too Large"),
            // "Handle Lambda errors in API Gateway" says 502 for a result in the wrong format.
            (Self::RestApi, Failed) => message(502, "Internal server error"),
            (Self::RestApi, Throttled) => message(500, "Internal server error"),
            (Self::RestApi, TooSlow) => message(504, "Endpoint request timed out"),
            (Self::RestApi, TooLarge) => message(413, "Request Too Long"),
            // "Troubleshoot your Application Load Balancers", HTTP 413 and HTTP 502.
            (Self::Alb | Self::AlbMultiValue, TooLarge) => page(StatusCode::PAYLOAD_TOO_LARGE),
            (Self::Alb | Self::AlbMultiValue, _) => page(StatusCode::BAD_GATEWAY),
            (Self::FunctionUrl, Throttled) => message(429, "Rate Exceeded."),
            (Self::FunctionUrl, TooLarge) => message(413, "Request Entity Too Large"),
            (Self::FunctionUrl, _) => message(502, "Internal Server Error"),
        }
    }
}

fn message(status: u16, text: &str) -> Response<Bytes> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    answer(status, "application/json", json!({ "message": text }).to_string())
}

/// The page of a load balancer.
fn page(status: StatusCode) -> Response<Bytes> {
    let title = format!("{} {}", status.as_str(), status.canonical_reason().unwrap_or_default());
    let html = format!(
        "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n"
    );
    answer(status, "text/html", html)
}

fn answer(status: StatusCode, content_type: &'static str, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
