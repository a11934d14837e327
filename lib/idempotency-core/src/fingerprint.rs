//! The hash of a request, by which the same key with another request is noticed.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{JsonPointer, canonical_json::canonical_json_without, hash::PartsHasher};

/// SHA-256 of what makes a request this request: method, route, query and body for HTTP, the payload elsewhere.
///
/// The name is that of the IETF draft "The Idempotency-Key HTTP Header Field".
///
/// ```
/// use idempotency_core::Fingerprint;
///
/// let a = Fingerprint::builder().json("body", br#"{"amount": 1200, "currency": "EUR"}"#).finish();
/// let b = Fingerprint::builder().json("body", br#"{"currency":"EUR","amount":1.2e3}"#).finish();
/// let c = Fingerprint::builder().json("body", br#"{"currency":"EUR","amount":1201}"#).finish();
/// assert_eq!(a, b);
/// assert_ne!(a, c);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

/// Collects the parts of a request. The order of calls matters; each part carries its name and kind.
pub struct FingerprintBuilder(PartsHasher);

impl Fingerprint {
    /// Starts a fingerprint.
    pub fn builder() -> FingerprintBuilder {
        // The domain carries the version of this form; it changes only together with the record's schema.
        FingerprintBuilder(PartsHasher::new("idempotency-fingerprint-v1"))
    }

    /// The fingerprint with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FingerprintBuilder {
    /// Adds a part as it is.
    #[must_use]
    pub fn bytes(self, name: &str, bytes: &[u8]) -> Self {
        Self(self.0.part(name.as_bytes()).part(b"bytes").part(bytes))
    }

    /// Adds a part that is JSON, in its RFC 8785 canonical form; what has none ([`canonical_json`](crate::canonical_json) says what) goes in
    /// as the bytes it is, so the fingerprint is always there, stable, and never equal for two different texts.
    #[must_use]
    pub fn json(self, name: &str, text: &[u8]) -> Self {
        self.json_without(name, text, &[])
    }

    /// Adds a part that is JSON, without what stands at these places: members that a client sets anew on each retry, such as the
    /// time of sending. With and without them, and whatever they are, the fingerprint is the same.
    ///
    /// * Nothing at a place: no effect, nor has the same place twice, or a place below another that is excluded.
    /// * Elements of an array are excluded by their index in the text as sent; the rest closes up, so `[1, 2]` without `/0` is
    ///   equal to `[3, 2]` without it. `-` and indices with leading zeros lead to no element.
    /// * What holds the excluded member stays: `{"trace": {"id": 1}}` without `/trace/id` is `{"trace": {}}`.
    /// * A text that has no canonical form counts as the bytes it is, excluded members too.
    ///
    /// Changing the places changes the fingerprints of texts that have something there: retries that are under way are
    /// then refused as other requests until their records expire, unless the operation gets a new version.
    ///
    /// ```
    /// use idempotency_core::{Fingerprint, JsonPointer};
    ///
    /// const SENT_AT: JsonPointer = JsonPointer::declare("/sent_at");
    /// let body = |text: &[u8]| Fingerprint::builder().json_without("body", text, &[SENT_AT]).finish();
    /// assert_eq!(body(br#"{"amount": 1, "sent_at": "19:00"}"#), body(br#"{"amount": 1, "sent_at": "19:01"}"#));
    /// assert_ne!(body(br#"{"amount": 1, "sent_at": "19:00"}"#), body(br#"{"amount": 2, "sent_at": "19:00"}"#));
    /// ```
    #[must_use]
    pub fn json_without(self, name: &str, text: &[u8], excluded: &[JsonPointer]) -> Self {
        match canonical_json_without(text, excluded) {
            Ok(canonical) => Self(self.0.part(name.as_bytes()).part(b"json").part(&canonical)),
            Err(_) => self.bytes(name, text),
        }
    }

    /// The fingerprint of all parts.
    pub fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finish())
    }
}

impl fmt::Debug for FingerprintBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintBuilder")
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({})", URL_SAFE_NO_PAD.encode(self.0))
    }
}

#[cfg(test)]
mod tests;
