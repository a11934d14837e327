use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use bytes::Bytes;
use http::{HeaderValue, Response};
use uuid::Uuid;

use super::own_answer::Reason;
use super::{HttpFrontError, HttpKind, ReceivedRequest};
use crate::clock::since_epoch;
use crate::lambda::Function;
use crate::listen::bind;
use crate::server_task::ServerTask;

/// The server. See the [module's documentation](super) for what it does.
///
/// Dropping it closes its port. The function goes on: it belongs to the caller.
#[derive(Debug)]
pub struct HttpFront {
    url: String,
    server: ServerTask,
}

impl HttpFront {
    /// Serves `function` on `address`, as this kind of front; port 0 picks a free one.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it
    /// completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`HttpFrontError::Bind`] names the address when its port is in use.
    pub async fn start(address: SocketAddr, kind: HttpKind, function: Function) -> Result<Self, HttpFrontError> {
        let (listener, bound) = bind(address).await?;
        let app = Router::new().fallback(handle).with_state((kind, function));
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
    State((kind, function)): State<(HttpKind, Function)>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response<Body> {
    let received =
        ReceivedRequest { source_ip: client.ip(), at: since_epoch(), request_id: Uuid::new_v4().to_string() };
    let mut response = integrate(kind, &function, request, &received).await;
    // A UUID is always a valid header value.
    if let (Some(name), Ok(id)) = (kind.request_id_header(), HeaderValue::from_str(&received.request_id)) {
        response.headers_mut().insert(name, id);
    }
    response.map(Body::from)
}

async fn integrate(
    kind: HttpKind,
    function: &Function,
    request: Request,
    received: &ReceivedRequest,
) -> Response<Bytes> {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, kind.body_limit()).await else {
        return kind.own_answer(Reason::TooLarge);
    };
    let invocation = function.invoke(kind.event(&parts, &body, received).to_string());
    let result = match kind.patience() {
        // The function goes on, as in AWS.
        Some(patience) => match tokio::time::timeout(patience, invocation).await {
            Ok(result) => result,
            Err(_elapsed) => return kind.own_answer(Reason::TooSlow),
        },
        None => invocation.await,
    };
    match result {
        Ok(result) => kind.response(&parts.headers, &result).unwrap_or_else(|error| {
            tracing::warn!(%error, "a function's result is not an http response");
            kind.own_answer(Reason::Failed)
        }),
        Err(error) => {
            tracing::warn!(%error, path = parts.uri.path(), "an invocation has no response");
            kind.own_answer(Reason::from(&error))
        }
    }
}
