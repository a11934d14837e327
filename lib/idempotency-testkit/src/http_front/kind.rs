use std::str::FromStr;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response};
use serde_json::Value;

use super::{ReceivedRequest, ResponseError, alb, function_url, http_api, payload_v2, rest_api};

/// What is in front of a function: the kinds of HTTP events that Lambda knows.
///
/// ```
/// use idempotency_testkit::http_front::HttpKind;
///
/// assert_eq!("rest-api".parse(), Ok(HttpKind::RestApi));
/// assert_eq!(HttpKind::AlbMultiValue.name(), "alb-multi-value");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HttpKind {
    /// An API Gateway HTTP API with payload format 2.0.
    #[default]
    HttpApi,
    /// An API Gateway REST API with a Lambda proxy integration.
    RestApi,
    /// An Application Load Balancer.
    Alb,
    /// An Application Load Balancer whose target group has multi-value headers enabled.
    AlbMultiValue,
    /// A Lambda function URL.
    FunctionUrl,
}

/// There is no such kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no kind of HTTP event: use {}", names())]
pub struct UnknownHttpKind {
    name: String,
}

fn names() -> String {
    HttpKind::ALL.map(HttpKind::name).join(", ")
}

impl HttpKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::HttpApi, Self::RestApi, Self::Alb, Self::AlbMultiValue, Self::FunctionUrl];

    /// The name for people, such as `http-api`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HttpApi => "http-api",
            Self::RestApi => "rest-api",
            Self::Alb => "alb",
            Self::AlbMultiValue => "alb-multi-value",
            Self::FunctionUrl => "function-url",
        }
    }

    /// The event that the function gets for a request.
    #[must_use]
    pub fn event(self, parts: &Parts, body: &[u8], received: &ReceivedRequest) -> Value {
        match self {
            Self::HttpApi => http_api::event(parts, body, received),
            Self::RestApi => rest_api::event(parts, body, received),
            Self::Alb => alb::event(alb::Values::Last, parts, body, received),
            Self::AlbMultiValue => alb::event(alb::Values::All, parts, body, received),
            Self::FunctionUrl => function_url::event(parts, body, received),
        }
    }

    /// The response that the client gets for a function's result. A REST API looks at the headers of the request, too.
    ///
    /// # Errors
    ///
    /// When the result is no response for this kind. The client gets the front's own error then.
    pub fn response(self, request: &HeaderMap, result: &[u8]) -> Result<Response<Bytes>, ResponseError> {
        match self {
            Self::HttpApi | Self::FunctionUrl => payload_v2::response(result),
            Self::RestApi => rest_api::response(request, result),
            Self::Alb => alb::response(alb::Values::Last, result),
            Self::AlbMultiValue => alb::response(alb::Values::All, result),
        }
    }
}

impl FromStr for HttpKind {
    type Err = UnknownHttpKind;

    fn from_str(name: &str) -> Result<Self, UnknownHttpKind> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownHttpKind { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name_and_another_name_is_told_which_there_are() {
        for kind in HttpKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "apigw".parse::<HttpKind>().unwrap_err().to_string();
        assert_eq!(
            error,
            r#""apigw" is no kind of HTTP event: use http-api, rest-api, alb, alb-multi-value, function-url"#
        );
    }
}
