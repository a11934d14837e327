//! What happens to one request between its arrival and its answer.

use std::sync::Mutex;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Collected, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::Value;

use super::fault::error_body;
use super::log::RequestLog;
use super::member::WithoutMember;
use super::rule::{Rule, pick};
use super::{Fault, ProxiedRequest};
use crate::locked::lock;

pub(super) type Answer = Response<Full<Bytes>>;

/// Makes hyper end the connection without writing an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("closed without an answer")]
    Closed,
    #[error("reset without an answer")]
    Reset,
}

/// What the proxy's handle and its connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) upstream: Authority,
    pub(super) client: Client<HttpConnector, Full<Bytes>>,
    pub(super) rules: Mutex<Vec<Rule>>,
    pub(super) log: RequestLog,
}

impl Shared {
    /// Carries one request through.
    pub(super) async fn carry(&self, parts: Parts, body: Bytes) -> Result<Answer, Unanswered> {
        let request = ProxiedRequest::read(&parts, &body);
        let fault = pick(&mut lock(&self.rules), &request);
        let id = self.log.arrived(request, fault.clone());
        let answer = match fault {
            None => Ok(self.forward(parts, body).await),
            Some(fault) => self.carry_with(fault, parts, body).await,
        };
        if let Ok(answer) = &answer {
            self.log.answered(id, answer.status().as_u16());
        }
        answer
    }

    async fn carry_with(&self, fault: Fault, parts: Parts, body: Bytes) -> Result<Answer, Unanswered> {
        match fault {
            Fault::DropBefore => Err(Unanswered::Closed),
            Fault::DropAfter => {
                self.forward(parts, body).await;
                Err(Unanswered::Closed)
            }
            Fault::ResetBefore => Err(Unanswered::Reset),
            Fault::ResetAfter => {
                self.forward(parts, body).await;
                Err(Unanswered::Reset)
            }
            Fault::ErrorBefore => Ok(internal_server_error()),
            Fault::ErrorAfter => {
                self.forward(parts, body).await;
                Ok(internal_server_error())
            }
            Fault::Throttle => Ok(throttled()),
            Fault::Answer { status, body } => {
                Ok(json_answer(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &body))
            }
            Fault::RefuseMember { place, code } => Ok(self.forward_without(place, code, parts, body).await),
            Fault::Slow(delay) => {
                tokio::time::sleep(delay).await;
                Ok(self.forward(parts, body).await)
            }
            Fault::SlowAfter(delay) => {
                let answer = self.forward(parts, body).await;
                tokio::time::sleep(delay).await;
                Ok(answer)
            }
            Fault::Hold(gate) => {
                gate.pass().await;
                Ok(self.forward(parts, body).await)
            }
            Fault::HoldAfter(gate) => {
                let answer = self.forward(parts, body).await;
                gate.pass().await;
                Ok(answer)
            }
        }
    }

    /// Forwards a batch without one of its members.
    async fn forward_without(&self, place: usize, code: &str, parts: Parts, body: Bytes) -> Answer {
        let Some(without) = WithoutMember::of(&ProxiedRequest::read(&parts, &body), place) else {
            return self.forward(parts, body).await;
        };
        let rest = match &without.body {
            Some(rest) => Some(self.forward(parts, Bytes::from(rest.to_string())).await),
            None => None,
        };
        let (status, rest) = match rest {
            Some(rest) if rest.status() != StatusCode::OK => return rest,
            Some(rest) => (rest.status(), rest.into_body().collect().await.ok().map(Collected::to_bytes)),
            None => (StatusCode::OK, None),
        };
        match without.answer(rest.as_ref(), code) {
            Some(answer) => json_answer(status, &answer),
            None => json_answer(
                StatusCode::BAD_GATEWAY,
                &error_body("InternalServerError", "fault proxy: not a batch's answer"),
            ),
        }
    }

    async fn forward(&self, parts: Parts, body: Bytes) -> Answer {
        match self.try_forward(parts, body).await {
            Ok(answer) => answer,
            Err(error) => {
                // Not an injected fault, so it must be visible: a test that sees it has a broken set-up.
                tracing::error!(%error, upstream = %self.upstream, "fault proxy cannot reach its upstream");
                let message = format!("fault proxy cannot reach {}: {error}", self.upstream);
                json_answer(StatusCode::BAD_GATEWAY, &error_body("InternalServerError", &message))
            }
        }
    }

    async fn try_forward(&self, parts: Parts, body: Bytes) -> Result<Answer, ForwardError> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = Uri::builder().scheme("http").authority(self.upstream.clone()).path_and_query(path).build()?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = parts.method;
        *request.uri_mut() = uri;
        // `Host` stays what the caller signed. DynamoDB's own framing headers are made anew.
        *request.headers_mut() = without_framing(parts.headers);

        let (head, body) = self.client.request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        let mut answer = Response::new(Full::new(body));
        *answer.status_mut() = head.status;
        *answer.headers_mut() = without_framing(head.headers);
        Ok(answer)
    }
}

#[derive(Debug, thiserror::Error)]
enum ForwardError {
    #[error(transparent)]
    Uri(#[from] http::Error),
    #[error(transparent)]
    Send(#[from] hyper_util::client::legacy::Error),
    #[error(transparent)]
    Read(#[from] hyper::Error),
}

/// Everything but the headers that belong to one connection. The body is whole on both sides, so its
/// length is set again to the same value.
fn without_framing(mut headers: HeaderMap) -> HeaderMap {
    for name in [CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
        headers.remove(name);
    }
    headers
}

fn internal_server_error() -> Answer {
    let body = error_body("InternalServerError", "Internal server error (injected)");
    json_answer(StatusCode::INTERNAL_SERVER_ERROR, &body)
}

fn throttled() -> Answer {
    let message = "The level of configured provisioned throughput for the table was exceeded (injected)";
    json_answer(StatusCode::BAD_REQUEST, &error_body("ProvisionedThroughputExceededException", message))
}

fn json_answer(status: StatusCode, body: &Value) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body.to_string())));
    *answer.status_mut() = status;
    let json = http::HeaderValue::from_static("application/x-amz-json-1.0");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}
