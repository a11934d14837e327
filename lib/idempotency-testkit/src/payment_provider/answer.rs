//! The provider's answers: a charge, or an error in Stripe's format.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::{Charge, Refund};

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// An answer that can be stored under a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    pub(super) replayed: bool,
}

impl Answer {
    pub(super) fn charged(charge: &Charge) -> Self {
        // A struct of strings and integers always is JSON.
        let body = serde_json::to_value(charge).unwrap_or_default();
        Self { status: StatusCode::OK, body, replayed: false }
    }

    pub(super) fn refunded(refund: &Refund) -> Self {
        Self { status: StatusCode::OK, body: serde_json::to_value(refund).unwrap_or_default(), replayed: false }
    }

    pub(super) fn missing_charge(charge: &str) -> Self {
        let message = format!("No such charge: '{charge}'");
        let error = json!({ "type": "invalid_request_error", "code": "resource_missing", "message": message });
        Self::error(StatusCode::NOT_FOUND, error)
    }

    pub(super) fn already_refunded(charge: &str) -> Self {
        let message = format!("Charge {charge} has already been refunded.");
        let error = json!({ "type": "invalid_request_error", "code": "charge_already_refunded", "message": message });
        Self::error(StatusCode::BAD_REQUEST, error)
    }

    pub(super) fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }

    pub(super) fn invalid(param: &str, message: &str) -> Self {
        let error = json!({ "type": "invalid_request_error", "param": param, "message": message });
        Self::error(StatusCode::BAD_REQUEST, error)
    }

    pub(super) fn other_parameters(key: &str) -> Self {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. \
             Try using a key other than '{key}' if you meant to execute a different request."
        );
        Self::error(StatusCode::BAD_REQUEST, json!({ "type": "idempotency_error", "message": message }))
    }

    pub(super) fn in_use(key: &str) -> Self {
        let message = format!("There is currently another in-progress request using the key '{key}'.");
        let error = json!({ "type": "idempotency_error", "code": "idempotency_key_in_use", "message": message });
        Self::error(StatusCode::CONFLICT, error)
    }

    pub(super) fn declined() -> Self {
        let error = json!({ "type": "card_error", "code": "card_declined", "message": "Your card was declined." });
        Self::error(StatusCode::PAYMENT_REQUIRED, error)
    }

    pub(super) fn missing(key: &str) -> Self {
        let message = format!("No such charge with the key '{key}'");
        let error = json!({ "type": "invalid_request_error", "code": "resource_missing", "message": message });
        Self::error(StatusCode::NOT_FOUND, error)
    }

    pub(super) fn turned_away() -> Self {
        let error = json!({ "type": "invalid_request_error", "code": "rate_limit", "message": "Too many requests." });
        Self::error(StatusCode::TOO_MANY_REQUESTS, error)
    }

    pub(super) fn failed() -> Self {
        let error = json!({ "type": "api_error", "message": "An unknown error occurred." });
        Self::error(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    fn error(status: StatusCode, error: Value) -> Self {
        Self { status, body: json!({ "error": error }), replayed: false }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.replayed {
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}
