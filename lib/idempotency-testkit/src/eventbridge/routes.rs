//! The HTTP surface: `PutEvents` of AWS's protocol at the root, and plain requests for people.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::bus::State;
use super::entry::{Entry, Refused, size};
use crate::locked::lock;

/// "PutEvents" in the EventBridge API Reference: at most 10 entries, which are less than 1 MB together.
const MOST_ENTRIES: usize = 10;
const LARGEST_REQUEST: usize = 1024 * 1024;
/// With every byte of the details escaped.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

type SharedState = Arc<Mutex<State>>;

pub(super) fn router(state: SharedState) -> Router {
    Router::new()
        .route("/", post(aws))
        .route("/events", post(plain))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(state)
}

/// `X-Amz-Target: AWSEvents.PutEvents`.
async fn aws(Shared(state): Shared<SharedState>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if target != "AWSEvents.PutEvents" {
        return error("UnknownOperationException", "only PutEvents is emulated");
    }
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return error("SerializationException", "the body is not JSON");
    };
    match put_events(&state, &request) {
        Ok(answer) => ([("content-type", "application/x-amz-json-1.1")], answer.to_string()).into_response(),
        Err(why) => error("ValidationException", why),
    }
}

fn put_events(state: &SharedState, request: &Value) -> Result<Value, &'static str> {
    let entries = request.get("Entries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return Err("Entries must have at least 1 member");
    }
    if entries.len() > MOST_ENTRIES {
        return Err("Entries must have at most 10 members");
    }
    if entries.iter().map(size).sum::<usize>() >= LARGEST_REQUEST {
        return Err("Total size of the entries in the request is over the limit.");
    }
    let (mut results, mut failed) = (Vec::new(), 0);
    for entry in entries {
        match put(state, entry) {
            Ok(id) => results.push(json!({ "EventId": id })),
            Err(Refused { code, message }) => {
                failed += 1;
                results.push(json!({ "ErrorCode": code, "ErrorMessage": message }));
            }
        }
    }
    Ok(json!({ "FailedEntryCount": failed, "Entries": results }))
}

fn put(state: &SharedState, entry: &Value) -> Result<String, Refused> {
    let entry = Entry::read(entry).inspect_err(|_| lock(state).counts.refused += 1)?;
    Ok(lock(state).accept(&entry))
}

/// One event, as it will be delivered: `{"source": …, "detail-type": …, "detail": {…}}`.
async fn plain(Shared(state): Shared<SharedState>, body: Bytes) -> Response {
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
        return error("SerializationException", "the body is not JSON");
    };
    let entry = json!({
        "Source": event.get("source"),
        "DetailType": event.get("detail-type"),
        "Detail": event.get("detail").map(Value::to_string),
        "Resources": event.get("resources"),
    });
    if size(&entry) >= LARGEST_REQUEST {
        return error("ValidationException", "the event is over the limit of 1 MB");
    }
    match put(&state, &entry) {
        Ok(id) => (StatusCode::ACCEPTED, Json(json!({ "id": id }))).into_response(),
        Err(Refused { code, message }) => error(code, &message),
    }
}

fn error(kind: &str, message: &str) -> Response {
    let body = json!({ "__type": kind, "message": message }).to_string();
    (StatusCode::BAD_REQUEST, [("content-type", "application/x-amz-json-1.1")], body).into_response()
}
