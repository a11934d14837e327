//! The HTTP surface.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{Path, State as Shared};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::HeaderMap;
use serde_json::Value;

use super::answer::Answer;
use super::behaviour::take;
use super::request::{ChargeRequest, account, key, text};
use super::state::State;
use super::{Behaviour, LedgerEntry, Refund};
use crate::clock::since_epoch;
use crate::locked::lock;

type SharedState = Arc<Mutex<State>>;

pub(super) fn router(state: SharedState) -> Router {
    Router::new()
        .route("/v1/charges", post(charge))
        .route("/v1/charges/by-key/{key}", get(charge_by_key))
        .route("/v1/refunds", post(refund))
        .route("/ledger", get(ledger))
        .route("/refunds", get(refunds))
        .route("/behaviour", get(behaviour).put(set_behaviour))
        .with_state(state)
}

async fn charge(Shared(state): Shared<SharedState>, headers: HeaderMap, body: Bytes) -> Answer {
    let request = match ChargeRequest::read(&headers, &body) {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    if let Err(answer) = lock(&state).begin(&request) {
        return answer;
    }
    // A task of its own: the server drops this handler when the client disconnects, and a provider
    // charges all the same.
    tokio::spawn(carry_out(state, request)).await.unwrap_or_else(|_| Answer::failed())
}

async fn carry_out(state: SharedState, request: ChargeRequest) -> Answer {
    let Behaviour { delay_before_charging, delay_after_charging, .. } = lock(&state).behaviour.clone();
    tokio::time::sleep(delay_before_charging).await;
    let attempt = lock(&state).attempt(&request, since_epoch().as_secs());
    if attempt.charged {
        tokio::time::sleep(delay_after_charging).await;
    }
    lock(&state).finish(&request, attempt.stored);
    attempt.answer
}

async fn charge_by_key(
    Shared(state): Shared<SharedState>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let account = account(&headers)?;
    Ok(lock(&state).by_key(&account, &key))
}

async fn refund(Shared(state): Shared<SharedState>, headers: HeaderMap, body: Bytes) -> Result<Answer, Answer> {
    let (account, key) = (account(&headers)?, key(&headers)?);
    let body: Value = serde_json::from_slice(&body).map_err(|_| Answer::invalid("", "The body is not JSON."))?;
    let charge = text(&body, "charge")?;
    let mut state = lock(&state);
    if take(&mut state.behaviour.turn_away_refunds) {
        return Err(Answer::turned_away());
    }
    if take(&mut state.behaviour.refuse_refunds) {
        return Err(Answer::already_refunded(&charge));
    }
    Ok(state.refund(&account, key.as_deref(), &charge))
}

async fn refunds(Shared(state): Shared<SharedState>) -> Json<Vec<Refund>> {
    Json(lock(&state).refunds.clone())
}

async fn ledger(Shared(state): Shared<SharedState>) -> Json<Vec<LedgerEntry>> {
    Json(lock(&state).ledger.clone())
}

async fn behaviour(Shared(state): Shared<SharedState>) -> Json<Behaviour> {
    Json(lock(&state).behaviour.clone())
}

async fn set_behaviour(Shared(state): Shared<SharedState>, body: Bytes) -> Response {
    match serde_json::from_slice::<Behaviour>(&body) {
        Ok(behaviour) => {
            lock(&state).behaviour = behaviour.clone();
            Json(behaviour).into_response()
        }
        Err(error) => Answer::invalid("", &error.to_string()).into_response(),
    }
}
