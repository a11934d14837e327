//! The idempotency key, as minted by the caller.

use std::fmt;

use crate::OwnerToken;

/// The caller's idempotency key: 1 to 255 visible ASCII characters, opaque, passed on unchanged.
///
/// The length follows the limit that payment APIs publish for the `Idempotency-Key` header; visible ASCII is what
/// an HTTP field value can carry without encoding (RFC 9110 section 5.5).
///
/// ```
/// use idempotency_core::{IdempotencyKey, KeyError};
///
/// assert_eq!(IdempotencyKey::new("8f1e0c1e").unwrap().as_str(), "8f1e0c1e");
/// assert_eq!(IdempotencyKey::new(" \t"), Err(KeyError::Blank));
/// assert_eq!(IdempotencyKey::new("k".repeat(256)), Err(KeyError::TooLong { length: 256 }));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

/// Why a text is no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is empty or all blank. Such a key would be shared by every caller that forgot to set one.
    #[error("the idempotency key is empty")]
    Blank,
    /// The text is longer than 255 characters. It is refused, never cut: two cut keys could be equal.
    #[error("the idempotency key has {length} characters, the limit is {}", IdempotencyKey::MAX_LENGTH)]
    TooLong {
        /// How many characters the text has.
        length: usize,
    },
    /// The text has a character outside visible ASCII (0x21 to 0x7E).
    #[error("the idempotency key has a character that is not visible ASCII at position {position}")]
    NotVisibleAscii {
        /// Position of the first such character, counted in bytes from zero.
        position: usize,
    },
}

impl IdempotencyKey {
    /// The longest key, in characters.
    pub const MAX_LENGTH: usize = 255;

    /// Checks a text and takes it as a key.
    ///
    /// # Errors
    ///
    /// [`KeyError`] says which rule the text breaks.
    pub fn new(key: impl Into<String>) -> Result<Self, KeyError> {
        let key = key.into();
        if key.trim().is_empty() {
            return Err(KeyError::Blank);
        }
        if let Some(position) = key.bytes().position(|byte| !byte.is_ascii_graphic()) {
            return Err(KeyError::NotVisibleAscii { position });
        }
        if key.len() > Self::MAX_LENGTH {
            return Err(KeyError::TooLong { length: key.len() });
        }
        Ok(Self(key))
    }

    /// A key that nobody else has: a token in base64url is visible ASCII.
    pub(crate) fn of_token(token: &OwnerToken) -> Self {
        Self(token.to_string())
    }

    /// The key of a hash in URL-safe base64: within the limits by construction.
    pub(crate) const fn from_hash(text: String) -> Self {
        Self(text)
    }

    /// The key as the caller sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Shows that there is a key, not which: keys can stand for a customer's order and do not belong into logs.
impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({} characters)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_inclusive() {
        assert!(IdempotencyKey::new("k").is_ok());
        assert!(IdempotencyKey::new("k".repeat(255)).is_ok());
        assert!(IdempotencyKey::new("0").is_ok());
        assert!(IdempotencyKey::new("false").is_ok());
    }

    #[test]
    fn blanks_controls_and_unicode_are_refused() {
        assert_eq!(IdempotencyKey::new(""), Err(KeyError::Blank));
        assert_eq!(IdempotencyKey::new("a b"), Err(KeyError::NotVisibleAscii { position: 1 }));
        assert_eq!(IdempotencyKey::new("a\u{7f}"), Err(KeyError::NotVisibleAscii { position: 1 }));
        assert_eq!(IdempotencyKey::new("ключ"), Err(KeyError::NotVisibleAscii { position: 0 }));
    }

    #[test]
    fn debug_does_not_show_the_key() {
        assert!(!format!("{:?}", IdempotencyKey::new("secret").unwrap()).contains("secret"));
    }
}
