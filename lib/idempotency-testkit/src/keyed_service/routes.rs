//! The HTTP surface.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Path, State as Shared},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::state::{Answer, State, Taken};
use crate::locked::lock;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

pub(super) fn router(state: Arc<Mutex<State>>) -> Router {
    Router::new().route("/v1/{kind}", post(take)).route("/ledger", get(ledger)).with_state(state)
}

async fn take(
    Shared(state): Shared<Arc<Mutex<State>>>,
    Path(kind): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty());
    let Some(key) = text("idempotency-key") else {
        return answer((400, json!({ "error": "the header Idempotency-Key is missing" }), false));
    };
    answer(lock(&state).take(&kind, text("stripe-account").unwrap_or_default(), key, body))
}

fn answer((status, body, is_replay): Answer) -> Response {
    let mut response = (StatusCode::from_u16(status).unwrap_or_default(), Json(body)).into_response();
    if is_replay {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

async fn ledger(Shared(state): Shared<Arc<Mutex<State>>>) -> Json<Vec<Taken>> {
    Json(lock(&state).ledger.clone())
}
