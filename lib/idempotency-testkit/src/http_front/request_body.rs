//! The body of a request on its way into an event.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::request_headers::first;

/// The body's text and whether it is base64.
pub(super) fn encode(body: &[u8], is_text: bool) -> (String, bool) {
    match std::str::from_utf8(body) {
        Ok(body) if is_text => (body.to_owned(), false),
        // JSON cannot carry other bytes.
        _ => (BASE64_STANDARD.encode(body), true),
    }
}

/// The media type without its parameters, in lower case.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    first(headers, &CONTENT_TYPE).map(|content_type| essence(&content_type))
}

/// A media type or range without its parameters, in lower case.
pub(super) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What HTTP APIs, function URLs and load balancers take for text. The list is short: a form
/// (`application/x-www-form-urlencoded`) comes as base64, for example.
pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["application/json", "application/javascript", "application/xml"].contains(&media_type)
}
