//! The Lambda Runtime API of one sandbox ("Using the Lambda runtime API for custom runtimes").

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::invocation::{Ack, Delivery, Ending, ErrorReport, Message, RESPONSE_LIMIT};
use crate::local::ANY_PORT;

type Reply = Response<Full<Bytes>>;
type Messages = mpsc::UnboundedSender<Message>;

const PREFIX: &str = "/2018-06-01/runtime/";

/// A listener for one sandbox. Dropping it closes the port and all connections.
#[derive(Debug)]
pub(super) struct RuntimeApi {
    connections: watch::Receiver<usize>,
    task: AbortHandle,
}

impl RuntimeApi {
    /// Binds a port for a process that does not exist yet.
    pub(super) fn bind() -> std::io::Result<(TcpListener, SocketAddr)> {
        let listener = std::net::TcpListener::bind(ANY_PORT)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((TcpListener::from_std(listener)?, address))
    }

    pub(super) fn serve(listener: TcpListener, messages: Messages) -> Self {
        let (count, connections) = watch::channel(0);
        let task = tokio::spawn(accept(listener, messages, Arc::new(count))).abort_handle();
        Self { connections, task }
    }

    /// Waits until the process has closed all its connections.
    pub(super) async fn disconnected(&mut self) {
        let _ = self.connections.wait_for(|count| *count == 0).await;
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, messages: Messages, count: Arc<watch::Sender<usize>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    count.send_modify(|count| *count += 1);
                    connections.spawn(serve(stream, messages.clone(), Arc::clone(&count)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, messages: Messages, count: Arc<watch::Sender<usize>>) {
    // Without it, small answers wait for the client's delayed acknowledgement (40 ms on Linux).
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let messages = messages.clone();
        async move { Ok::<_, Infallible>(route(request, messages).await) }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    count.send_modify(|count| *count -= 1);
}

async fn route(request: Request<Incoming>, messages: Messages) -> Reply {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let segments: Vec<&str> = path.split('/').collect();
    match (&parts.method, segments.as_slice()) {
        (&Method::GET, ["invocation", "next"]) => next(messages).await,
        (&Method::POST, ["invocation", id, "response"]) => {
            let ending = match read(body).await {
                Ok(body) => Ending::Response(body),
                Err(Unread::TooLarge(size)) => Ending::TooLarge(size),
                Err(Unread::Broken) => return gone(),
            };
            end(id, ending, messages).await
        }
        (&Method::POST, ["invocation", id, "error"]) => {
            let report = report(&parts.headers, body).await;
            end(id, Ending::Error(report), messages).await
        }
        (&Method::POST, ["init", "error"]) => {
            let report = report(&parts.headers, body).await;
            ask(messages, |ack| Message::InitError(report, ack)).await.map_or_else(gone, acknowledge)
        }
        _ => error(StatusCode::NOT_FOUND, "NotFound", "no such endpoint in this runtime api"),
    }
}

async fn next(messages: Messages) -> Reply {
    match ask(messages, Message::Next).await {
        Some(delivery) => deliver(delivery),
        None => gone(),
    }
}

async fn end(id: &str, ending: Ending, messages: Messages) -> Reply {
    let request_id = id.to_owned();
    let ack = ask(messages, |ack| Message::End { request_id, ending, ack }).await;
    ack.map_or_else(gone, acknowledge)
}

/// Sends the supervisor a question and waits for its answer; `None` when the sandbox is ending.
async fn ask<T>(messages: Messages, question: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
    let (sender, answer) = oneshot::channel();
    messages.send(question(sender)).ok()?;
    answer.await.ok()
}

fn deliver(delivery: Delivery) -> Reply {
    let mut reply = Response::new(Full::new(delivery.payload));
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", delivery.request_id),
        ("lambda-runtime-deadline-ms", delivery.deadline_ms.to_string()),
        ("lambda-runtime-invoked-function-arn", delivery.function_arn),
        ("lambda-runtime-trace-id", delivery.trace_id),
    ];
    for (name, value) in headers {
        // Only the ARN contains foreign text, a function name; what cannot be a header is left out.
        if let Ok(value) = HeaderValue::try_from(value) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

fn acknowledge(ack: Ack) -> Reply {
    match ack {
        Ack::Accepted => json_reply(StatusCode::ACCEPTED, &json!({ "status": "OK" })),
        Ack::TooLarge => {
            let message = format!("Exceeded maximum allowed payload size ({RESPONSE_LIMIT} bytes).");
            error(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", &message)
        }
        Ack::UnknownRequest => error(StatusCode::BAD_REQUEST, "InvalidRequestID", "Invalid request ID"),
    }
}

fn gone() -> Reply {
    error(StatusCode::GONE, "Sandbox.Shutdown", "The sandbox is being shut down")
}

fn error(status: StatusCode, kind: &str, message: &str) -> Reply {
    json_reply(status, &json!({ "errorType": kind, "errorMessage": message }))
}

fn json_reply(status: StatusCode, body: &Value) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body.to_string())));
    *reply.status_mut() = status;
    reply.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    reply
}

enum Unread {
    /// It is at least this large, and over the limit.
    TooLarge(usize),
    /// It broke off because its sender died; there is nobody to answer.
    Broken,
}

async fn read(body: Incoming) -> Result<Bytes, Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    match Limited::new(body, RESPONSE_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Unread::TooLarge(announced.max(RESPONSE_LIMIT + 1))),
        Err(_) => Err(Unread::Broken),
    }
}

async fn report(headers: &HeaderMap, body: Incoming) -> ErrorReport {
    let body = read(body).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let text = |field: &str| body.get(field).and_then(Value::as_str).map(str::to_owned);
    let header = headers.get("lambda-runtime-function-error-type").and_then(|value| value.to_str().ok());
    ErrorReport {
        error_type: text("errorType").or(header.map(str::to_owned)).unwrap_or_else(|| "Unhandled".to_owned()),
        message: text("errorMessage").unwrap_or_default(),
    }
}
