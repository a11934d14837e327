use bytes::Bytes;

use super::SqsError;

/// A message attribute: a data type and a value, as in the SQS API Reference, "MessageAttributeValue".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageAttribute {
    data_type: String,
    value: AttributeValue,
}

/// The value of a [`MessageAttribute`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// Of the data types `String` and `Number`, and of types made from them, such as `Number.int`.
    Text(String),
    /// Of the data type `Binary`, and of types made from it.
    Binary(Bytes),
}

impl MessageAttribute {
    /// An attribute of the data type `String`.
    pub fn string(value: impl Into<String>) -> Self {
        Self { data_type: "String".to_owned(), value: AttributeValue::Text(value.into()) }
    }

    /// An attribute of the data type `Number`. The digits are kept as they are written.
    pub fn number(value: impl Into<String>) -> Self {
        Self { data_type: "Number".to_owned(), value: AttributeValue::Text(value.into()) }
    }

    /// An attribute of the data type `Binary`.
    pub fn binary(value: impl Into<Bytes>) -> Self {
        Self { data_type: "Binary".to_owned(), value: AttributeValue::Binary(value.into()) }
    }

    /// An attribute of any data type, such as `Number.int`.
    ///
    /// # Errors
    ///
    /// [`SqsError::InvalidAttribute`] when the data type does not begin with `String`, `Number` or `Binary`, or the value is
    /// not of that type.
    pub fn new(data_type: impl Into<String>, value: AttributeValue) -> Result<Self, SqsError> {
        let data_type = data_type.into();
        let base = data_type.split('.').next().unwrap_or_default();
        match (base, &value) {
            ("String" | "Number", AttributeValue::Text(_)) | ("Binary", AttributeValue::Binary(_)) => {
                Ok(Self { data_type, value })
            }
            _ => Err(SqsError::InvalidAttribute { name: data_type, why: "the value does not fit the data type" }),
        }
    }

    /// `String`, `Number`, `Binary`, or a type made from one of them.
    #[must_use]
    pub fn data_type(&self) -> &str {
        &self.data_type
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &AttributeValue {
        &self.value
    }

    /// How many bytes it adds to its message, without its name.
    pub(super) fn size(&self) -> usize {
        let value = match &self.value {
            AttributeValue::Text(text) => text.len(),
            AttributeValue::Binary(bytes) => bytes.len(),
        };
        self.data_type.len() + value
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.value {
            AttributeValue::Text(text) => text.is_empty(),
            AttributeValue::Binary(bytes) => bytes.is_empty(),
        }
    }
}

impl From<&str> for MessageAttribute {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

impl From<String> for MessageAttribute {
    fn from(value: String) -> Self {
        Self::string(value)
    }
}
