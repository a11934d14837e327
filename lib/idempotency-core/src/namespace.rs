//! Which deployment a record belongs to.

use crate::operation::is_plain_name;

/// Separates deployments (dev, stage, prod) that share a table, so that they never share a record.
///
/// ```
/// use idempotency_core::Namespace;
///
/// assert_eq!(Namespace::new("prod").unwrap().as_str(), "prod");
/// assert!(Namespace::new("prod#eu").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace(String);

/// The text is no namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "namespace {namespace:?} must be 1 to {} characters out of letters, digits, '-', '_' and '.'",
    Namespace::MAX_LENGTH
)]
pub struct NamespaceError {
    namespace: String,
}

impl Namespace {
    /// The longest namespace, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Checks a text and takes it as a namespace.
    ///
    /// # Errors
    ///
    /// When the text is empty, too long, or has another character than letters, digits, `-`, `_` and `.`.
    pub fn new(namespace: impl Into<String>) -> Result<Self, NamespaceError> {
        let namespace = namespace.into();
        if is_plain_name(&namespace, Self::MAX_LENGTH) {
            Ok(Self(namespace))
        } else {
            Err(NamespaceError { namespace })
        }
    }

    /// The namespace's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
