//! What a definite answer says about its way.

use idempotency_core::IdempotencyKey;
use reqwest::Response;

/// Under which key a request got its definite answer, and after how many attempts. It is an extension of the response.
#[derive(Clone, Debug)]
pub struct Resolved {
    key: IdempotencyKey,
    attempts: u32,
}

impl Resolved {
    pub(super) const fn new(key: IdempotencyKey, attempts: u32) -> Self {
        Self { key, attempts }
    }

    /// That of a response. `None` for the response to a request without a key.
    pub fn of(response: &Response) -> Option<&Self> {
        response.extensions().get()
    }

    /// The key that all attempts had.
    pub const fn key(&self) -> &IdempotencyKey {
        &self.key
    }

    /// How many requests were sent, the answered one included.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }
}
