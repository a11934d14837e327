//! What a function returns as an HTTP response, in the fields of any kind.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde::Deserialize;

use super::ResponseError;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionResult {
    pub(super) status_code: u16,
    #[serde(default)]
    pub(super) status_description: Option<String>,
    #[serde(default)]
    pub(super) headers: Option<BTreeMap<String, HeaderText>>,
    #[serde(default)]
    pub(super) multi_value_headers: Option<BTreeMap<String, Vec<HeaderText>>>,
    #[serde(default)]
    pub(super) cookies: Option<Vec<String>>,
    #[serde(default)]
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) is_base64_encoded: bool,
}

/// API Gateway accepts numbers and booleans as header values.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum HeaderText {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

impl HeaderText {
    fn value(&self) -> Result<HeaderValue, http::Error> {
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
        };
        Ok(HeaderValue::from_str(&text)?)
    }
}

/// Adds one header of a result. Names in another case are the same header: a result has both as two values.
pub(super) fn append(headers: &mut HeaderMap, name: &str, value: &HeaderText) -> Result<(), http::Error> {
    headers.append(HeaderName::from_bytes(name.as_bytes())?, value.value()?);
    Ok(())
}

/// The response.
pub(super) fn finished(
    result: &FunctionResult,
    mut headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Bytes>, ResponseError> {
    // They describe a connection that the function does not have; the server sets its own.
    for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    let mut response = Response::new(body);
    *response.status_mut() = status(result.status_code)?;
    *response.headers_mut() = headers;
    Ok(response)
}

/// An interim response (1xx) is not a response to a request, so it is as invalid as 99 is.
fn status(code: u16) -> Result<StatusCode, http::Error> {
    let code = if code < 200 { 0 } else { code };
    Ok(StatusCode::from_u16(code)?)
}
