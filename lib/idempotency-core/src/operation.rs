//! What is being done: a named, versioned operation.

use std::{borrow::Cow, fmt};

/// A named, versioned operation, such as `create-charge` version 1, and for HTTP the route it was called on.
///
/// The name is written by hand, so that renaming a function does not change the identity of keys in flight. The
/// version is raised when the meaning of a request changes; old keys then do not collide with new ones.
///
/// ```
/// use idempotency_core::Operation;
///
/// let operation = Operation::new("create-charge", 1).unwrap();
/// assert_eq!(operation.to_string(), "create-charge#v1");
/// assert!(Operation::new("create#charge", 1).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    name: Cow<'static, str>,
    version: u32,
    route: Option<String>,
}

/// Why a name and version are no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// The name has another length or another character than allowed.
    #[error(
        "operation name {name:?} must be 1 to {} characters out of letters, digits, '-', '_' and '.'",
        Operation::MAX_NAME_LENGTH
    )]
    Name {
        /// The refused name.
        name: String,
    },
    /// Versions count from 1.
    #[error("the version of operation {name:?} is 0; versions count from 1")]
    VersionZero {
        /// The operation's name.
        name: String,
    },
}

impl Operation {
    /// The longest name, in characters.
    pub const MAX_NAME_LENGTH: usize = 64;

    /// An operation of this name and version.
    ///
    /// The name is part of the partition key in plain text, so that an operator can read it and a policy can
    /// name it; `#` separates the key's parts and is not allowed in it.
    ///
    /// # Errors
    ///
    /// When the name is empty, too long, has another character than letters, digits, `-`, `_` and `.`, or when the
    /// version is 0.
    pub fn new(name: impl Into<String>, version: u32) -> Result<Self, OperationError> {
        let name = name.into();
        if !is_plain_name(&name, Self::MAX_NAME_LENGTH) {
            return Err(OperationError::Name { name });
        }
        if version == 0 {
            return Err(OperationError::VersionZero { name });
        }
        Ok(Self { name: Cow::Owned(name), version, route: None })
    }

    /// An operation whose name and version stand in the code. In a `const` a mistake is a compile error.
    ///
    /// ```
    /// use idempotency_core::Operation;
    ///
    /// const CHARGE: Operation = Operation::declare("create-charge", 1);
    /// ```
    ///
    /// ```compile_fail
    /// # use idempotency_core::Operation;
    /// const CHARGE: Operation = Operation::declare("create#charge", 1);
    /// ```
    ///
    /// # Panics
    ///
    /// Where [`new`](Self::new) gives an error.
    pub const fn declare(name: &'static str, version: u32) -> Self {
        assert!(
            is_plain_name(name, Self::MAX_NAME_LENGTH),
            "an operation's name must be 1 to 64 characters out of letters, digits, '-', '_' and '.'"
        );
        assert!(version > 0, "an operation's version counts from 1");
        Self { name: Cow::Borrowed(name), version, route: None }
    }

    /// The same operation, called on this route (method and path). Another route is another operation.
    #[must_use]
    pub fn on_route(&self, route: impl Into<String>) -> Self {
        Self { route: Some(route.into()), ..self.clone() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version, from 1.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The route, for HTTP operations.
    pub fn route(&self) -> Option<&str> {
        self.route.as_deref()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#v{}", self.name, self.version)
    }
}

/// Whether `name` can stand in a partition key in plain text.
pub(crate) const fn is_plain_name(name: &str, max_length: usize) -> bool {
    let mut rest = name.as_bytes();
    if rest.is_empty() || rest.len() > max_length {
        return false;
    }
    while let [byte, others @ ..] = rest {
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'.') {
            return false;
        }
        rest = others;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_mandatory_and_counts_from_one() {
        assert_eq!(Operation::new("charge", 0), Err(OperationError::VersionZero { name: "charge".into() }));
    }

    #[test]
    fn names_cannot_break_out_of_the_partition_key() {
        for name in ["", "a#b", "a b", "a/b", "ä", &"a".repeat(65)] {
            assert!(matches!(Operation::new(name, 1), Err(OperationError::Name { .. })), "{name:?}");
        }
    }
}
