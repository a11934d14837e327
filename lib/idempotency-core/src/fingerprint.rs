//! The hash of a request, by which the same key with another request is noticed.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{canonical_json, hash::PartsHasher};

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

    /// Adds a part that is JSON, in its RFC 8785 canonical form; what has none ([`canonical_json`] says what) goes in
    /// as the bytes it is, so the fingerprint is always there, stable, and never equal for two different texts.
    #[must_use]
    pub fn json(self, name: &str, text: &[u8]) -> Self {
        match canonical_json(text) {
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
mod tests {
    use super::*;

    fn json(text: &str) -> Fingerprint {
        Fingerprint::builder().json("body", text.as_bytes()).finish()
    }

    #[test]
    fn equal_json_shares_a_fingerprint_and_different_json_does_not() {
        assert_eq!(json(r#"{"a":1,"b":[1.50]}"#), json(r#"{ "b": [15e-1], "a": 1.0 }"#));
        assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":"1"}"#));
        assert_ne!(json(r#"{"a":null}"#), json("{}"));
        assert_ne!(json("9007199254740992"), json("9007199254740993"));
        assert_ne!(json(r#"{"amount":1,"amount":2}"#), json(r#"{"amount":2}"#));
    }

    #[test]
    fn kind_and_name_of_a_part_count() {
        assert_ne!(json("{}"), Fingerprint::builder().bytes("body", b"{}").finish());
        assert_ne!(
            Fingerprint::builder().bytes("a", b"bc").finish(),
            Fingerprint::builder().bytes("ab", b"c").finish()
        );
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Keys in flight during an upgrade must keep their fingerprint: this value is a promise of schema 1.
        assert_eq!(
            format!("{:?}", json(r#"{"amount":1200.5,"currency":"EUR"}"#)),
            "Fingerprint(RmMnN2nrU8fzrrXu_JDChNxpkzImiCea6xwmta8ryFM)"
        );
    }
}
