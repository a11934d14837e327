//! A failure for good.

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A failure for good: it is stored, and every later call with the same key gets the same one without running.
///
/// ```
/// use lambda_idempotency::function::Failed;
/// use serde_json::json;
///
/// let failed = Failed::new("the address does not exist").with_data(json!({ "code": "no-such-address" }));
/// assert_eq!(failed.to_string(), "the address does not exist");
/// assert_eq!(failed.data()["code"], "no-such-address");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    message: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    data: Value,
}

impl Failed {
    /// A failure with this message. It is stored as it is, so leave out what a later caller must not see.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), data: Value::Null }
    }

    /// The same failure with what a caller needs to act on it, such as a code.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data, ..self }
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was said besides the message; null if nothing.
    pub const fn data(&self) -> &Value {
        &self.data
    }

    /// The same as a type of your own.
    ///
    /// # Errors
    ///
    /// When the data is not of this type, such as when another version stored it.
    pub fn data_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&self.data)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failed {}
