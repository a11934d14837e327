//! What a request allows its caller to do.

use http::Method;
use idempotency_core::IdempotencyKey;
use reqwest::Request;

use super::{ClientError, mint_key};
use crate::{
    http::{IDEMPOTENCY_KEY, key_from_headers},
    propagation,
};

/// What a request allows its caller to do.
pub(super) enum Kind {
    /// It has a key: repeat it until a definite answer.
    Keyed(IdempotencyKey),
    /// It is idempotent by its method's definition (RFC 9110 section 9.2.2): repeat it while the answer is transient.
    Repeatable,
    /// It must not be repeated, or cannot be.
    Once,
}

impl Kind {
    /// Gives a key to a request that needs one and has none. One that is there is kept as it is written.
    pub(super) fn of(request: &mut Request, methods: &[Method]) -> Result<Self, ClientError> {
        let repeatable = request.body().is_none_or(|body| body.as_bytes().is_some());
        let key = if request.headers().contains_key(IDEMPOTENCY_KEY) {
            key_from_headers(request.headers())?
        } else if methods.contains(request.method()) {
            let key = mint_key();
            let (name, value) = propagation::http_header(&key);
            request.headers_mut().insert(name, value);
            key
        } else if repeatable && request.method().is_idempotent() {
            return Ok(Self::Repeatable);
        } else {
            return Ok(Self::Once);
        };
        if repeatable { Ok(Self::Keyed(key)) } else { Err(ClientError::BodyNotRepeatable { key }) }
    }

    pub(super) fn key(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::Keyed(key) => Some(key),
            Self::Repeatable | Self::Once => None,
        }
    }
}
