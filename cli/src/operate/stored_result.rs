//! The stored result of a record, for the eyes of an operator who asks for it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Response;
use idempotency_core::{Engine, Record};
use idempotency_dynamodb::DynamoDbStore;
use lambda_idempotency::{
    function::{self, StoredOutcome},
    http as over_http,
};
use serde_json::{Value, json};

use super::{connection::WITHIN, error::OperateError};

/// Reads it, in whichever form it was stored.
pub(crate) async fn read(engine: &Engine<DynamoDbStore>, record: &Record) -> Result<Value, OperateError> {
    let replay = engine.read_result(record, WITHIN).await;
    let replay = replay
        .map_err(|source| OperateError::Aws { what: "the stored result cannot be read", source: source.into() })?;
    match replay.body() {
        Some(body) => Ok(shown(body)),
        // A failure stays one without it.
        None if record.result.is_some() => Err(OperateError::Aws {
            what: "the stored result cannot be read",
            source: "parts of it are missing, or another version wrote it".into(),
        }),
        None => Ok(Value::Null),
    }
}

fn shown(stored: &[u8]) -> Value {
    if let Some(response) = over_http::read_stored(stored) {
        return response_shown(response);
    }
    match function::read_stored(stored) {
        Some(StoredOutcome::Value(value)) => json!({ "value": value }),
        Some(StoredOutcome::Failure(failed)) => {
            json!({ "failure": { "message": failed.message(), "data": failed.data() } })
        }
        Some(_) => json!({ "omitted": true }),
        None => json!({ "bytes_base64": STANDARD.encode(stored) }),
    }
}

fn response_shown(response: Response<lambda_http::Body>) -> Value {
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter().map(|(name, value)| json!([name.as_str(), value.to_str().unwrap_or_default()]));
    let headers: Vec<Value> = headers.collect();
    let (name, body) = match body {
        lambda_http::Body::Text(text) => ("body", text),
        lambda_http::Body::Binary(bytes) => ("body_base64", STANDARD.encode(bytes)),
        _ => ("body", String::new()),
    };
    json!({ "status": parts.status.as_u16(), "headers": headers, name: body })
}
