//! The HTTP surface: AWS's protocol at the root, and plain requests for people.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::shared::{Shared, arn};
use super::wire::{ErrorAnswer, operate};
use super::{Message, SqsError};

/// A batch of 1 MiB, with every byte escaped in JSON, and its attributes.
const BODY_LIMIT: usize = 16 * 1024 * 1024;
const ATTRIBUTE: &str = "x-attribute-";

type AnyShared = State<Arc<Shared>>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", post(aws))
        // Some clients send to the queue's URL.
        .route("/{account}/{queue}", post(aws))
        .route("/queues", get(queues))
        .route("/queues/{name}", get(queue))
        .route("/queues/{name}/messages", get(messages).post(send))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(shared)
}

/// `X-Amz-Target: AmazonSQS.SendMessage`.
async fn aws(State(shared): AnyShared, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let operation = target.strip_prefix("AmazonSQS.").unwrap_or(target);
    match operate(&shared, operation, &body).await {
        Ok(answer) => ([("content-type", "application/x-amz-json-1.0")], answer.to_string()).into_response(),
        Err(error) => ErrorAnswer(error).into_response(),
    }
}

async fn queues(State(shared): AnyShared) -> Json<Value> {
    Json(shared.names().iter().filter_map(|name| describe(&shared, name).ok()).collect())
}

async fn queue(State(shared): AnyShared, Path(name): Path<String>) -> Result<Json<Value>, ErrorAnswer> {
    Ok(Json(describe(&shared, &name)?))
}

fn describe(shared: &Shared, name: &str) -> Result<Value, SqsError> {
    let counts = shared.look(name, |queue, now| queue.counts(now))?;
    Ok(json!({ "name": name, "url": shared.queue_url(name), "arn": arn(name), "messages": counts }))
}

/// What lies in the queue, without receiving it.
async fn messages(State(shared): AnyShared, Path(name): Path<String>) -> Result<Json<Value>, ErrorAnswer> {
    let shown = shared.look(&name, |queue, now| queue.messages.iter().map(|m| m.show(now)).collect::<Vec<_>>())?;
    let shown = shown.into_iter().map(|message| {
        json!({
            "messageId": message.id,
            "body": message.body,
            "state": format!("{:?}", message.state),
            "receiveCount": message.receive_count,
            "messageGroupId": message.group,
            "messageDeduplicationId": message.deduplication_id,
            "deadLetterSource": message.dead_letter_source,
        })
    });
    Ok(Json(shown.collect()))
}

/// The body is the message's body; headers and the query say the rest.
async fn send(
    State(shared): AnyShared,
    Path(name): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ErrorAnswer> {
    let body = String::from_utf8(body.to_vec()).map_err(|_| SqsError::InvalidContent)?;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut message = Message::new(body);
    message.group = header("x-message-group-id");
    message.deduplication_id = header("x-message-deduplication-id");
    for (name, value) in &headers {
        if let (Some(name), Ok(value)) = (name.as_str().strip_prefix(ATTRIBUTE), value.to_str()) {
            message = message.attribute(name, value);
        }
    }
    // HTTP has no case in the names of headers; attributes do.
    for (name, value) in query {
        message = message.attribute(name, value);
    }
    let sent = shared.send(&name, message)?;
    let answer = json!({ "messageId": sent.id, "sequenceNumber": sent.sequence_number });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}
