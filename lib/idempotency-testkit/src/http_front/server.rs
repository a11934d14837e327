use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;
use uuid::Uuid;

use super::{HttpFrontError, ReceivedRequest, event_from_request, response_from_payload};
use crate::clock::since_epoch;
use crate::lambda::{Function, InvokeError};
use crate::listen::bind;
use crate::server_task::ServerTask;

/// "Quotas for configuring and running an HTTP API in API Gateway": payload size 10 MB.
const BODY_LIMIT: usize = 10 * 1024 * 1024;
/// The same page: maximum integration timeout 30 seconds.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(30);
const REQUEST_ID: HeaderName = HeaderName::from_static("apigw-requestid");

/// The server. See the [module's documentation](super) for what it does.
///
/// Dropping it closes its port. The function goes on: it belongs to the caller.
#[derive(Debug)]
pub struct HttpFront {
    url: String,
    server: ServerTask,
}

impl HttpFront {
    /// Serves `function` on `address`; port 0 picks a free one.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it
    /// completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`HttpFrontError::Bind`] names the address when its port is in use.
    pub async fn start(address: SocketAddr, function: Function) -> Result<Self, HttpFrontError> {
        let (listener, bound) = bind(address).await?;
        let app = Router::new().fallback(handle).with_state(function);
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "http front stopped");
            }
        });
        Ok(Self { url: format!("http://{bound}"), server })
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

async fn handle(
    State(function): State<Function>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response<Body> {
    let received =
        ReceivedRequest { source_ip: client.ip(), at: since_epoch(), request_id: Uuid::new_v4().to_string() };
    let mut response = integrate(&function, request, &received).await;
    // A UUID is always a valid header value.
    if let Ok(id) = HeaderValue::from_str(&received.request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response.map(Body::from)
}

async fn integrate(function: &Function, request: Request, received: &ReceivedRequest) -> Response<Bytes> {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return too_large();
    };
    let event = event_from_request(&parts, &body, received).to_string();
    match tokio::time::timeout(INTEGRATION_TIMEOUT, function.invoke(event)).await {
        Ok(Ok(payload)) => response_from_payload(&payload).unwrap_or_else(|error| {
            tracing::warn!(%error, "a function's result is not an http response");
            internal_error()
        }),
        Ok(Err(error)) => {
            tracing::warn!(%error, path = parts.uri.path(), "an invocation has no response");
            failure(&error)
        }
        // The function goes on, as in AWS.
        Err(_elapsed) => unavailable(),
    }
}

fn failure(error: &InvokeError) -> Response<Bytes> {
    match error {
        // Reserved concurrency is used up: an HTTP API says so with 503, a REST API with 500.
        InvokeError::Throttled { .. } | InvokeError::ShutDown => unavailable(),
        InvokeError::PayloadTooLarge { .. } => too_large(),
        _ => internal_error(),
    }
}

fn internal_error() -> Response<Bytes> {
    message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
}

fn unavailable() -> Response<Bytes> {
    message(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")
}

fn too_large() -> Response<Bytes> {
    message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large")
}

fn message(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(json!({ "message": text }).to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
