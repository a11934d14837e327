//! The function itself, as Lambda's API has it: `POST /2015-03-31/functions/NAME/invocations`.

use std::net::SocketAddr;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use idempotency_testkit::{BindError, lambda::AsyncInvoker};
use tokio::{net::TcpListener, task::JoinHandle};

/// The API. Dropping it closes its port.
#[derive(Debug)]
pub(crate) struct InvocationFront {
    url: String,
    server: JoinHandle<()>,
}

impl InvocationFront {
    pub(super) async fn start(address: SocketAddr, invoker: AsyncInvoker) -> Result<Self, BindError> {
        let bind = async {
            let listener = TcpListener::bind(address).await?;
            let bound = listener.local_addr()?;
            Ok((listener, bound))
        };
        let (listener, bound) = bind.await.map_err(|source| BindError { address, source })?;
        let name = invoker.function().config().name.clone();
        let url = format!("http://{bound}/2015-03-31/functions/{name}/invocations");
        let app = Router::new().route("/2015-03-31/functions/{name}/invocations", post(invoke)).with_state(invoker);
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { url, server })
    }

    /// Where the function is invoked.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) async fn stop(mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }
}

impl Drop for InvocationFront {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// AWS Lambda API Reference, "Invoke": the invocation type `Event` is answered 202 before the function runs. (Without a type AWS
/// invokes synchronously; for that there is `idempotency invoke`.)
async fn invoke(
    State(invoker): State<AsyncInvoker>,
    Path(name): Path<String>,
    headers: HeaderMap,
    payload: Bytes,
) -> Response {
    if name != invoker.function().config().name {
        return (StatusCode::NOT_FOUND, "another function runs here\n").into_response();
    }
    let kind = headers.get("x-amz-invocation-type").and_then(|kind| kind.to_str().ok()).unwrap_or("Event");
    if kind != "Event" {
        return (StatusCode::BAD_REQUEST, "only the invocation type Event is served here\n").into_response();
    }
    let payload = if payload.is_empty() { Bytes::from_static(b"{}") } else { payload };
    match invoker.invoke(payload) {
        Ok(id) => (StatusCode::ACCEPTED, [("x-amzn-requestid", id)]).into_response(),
        Err(error) => (StatusCode::PAYLOAD_TOO_LARGE, format!("{error}\n")).into_response(),
    }
}
