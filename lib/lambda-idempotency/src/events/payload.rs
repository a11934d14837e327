//! What a record says, and how it is read.

use std::borrow::Cow;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_dynamo::AttributeValue;
use serde_json::Value;

use crate::misfit::misfit;

/// What a record says: the body of a message, the detail of an event, the data of a stream's record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Payload {
    /// Bytes, usually JSON.
    Bytes(Bytes),
    /// JSON that came as part of the event's own.
    Json(Value),
    /// An item of a DynamoDB table.
    Item(serde_dynamo::Item),
}

impl Payload {
    /// The bytes. JSON that came as part of the event is written anew; an item is written as DynamoDB's JSON.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
            // A `Value` cannot fail to be JSON.
            Self::Json(value) => Cow::Owned(serde_json::to_vec(value).unwrap_or_default()),
            Self::Item(item) => Cow::Owned(item_json(item)),
        }
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Undecodable> {
        let read = match self {
            Self::Bytes(bytes) => {
                let mut deserializer = serde_json::Deserializer::from_slice(bytes);
                let read = serde_path_to_error::deserialize(&mut deserializer);
                if read.is_ok() {
                    deserializer.end().map_err(|error| Undecodable(misfit(".", &error, WHOLE)))?;
                }
                read
            }
            Self::Json(value) => serde_path_to_error::deserialize(value),
            Self::Item(item) => {
                let read = serde_path_to_error::deserialize(serde_dynamo::Deserializer::from_attribute_value(
                    AttributeValue::M(item.clone().into()),
                ));
                return read.map_err(|error| Undecodable::at(&error));
            }
        };
        read.map_err(|error| Undecodable::at(&error))
    }
}

/// An item in DynamoDB's JSON. Its attributes have no order; their JSON gets one.
pub(super) fn item_json(item: &serde_dynamo::Item) -> Vec<u8> {
    // An item cannot fail to be JSON.
    let mut value = serde_json::to_value(item).unwrap_or_default();
    value.sort_all_objects();
    serde_json::to_vec(&value).unwrap_or_default()
}

/// What the root of the JSON is called.
const WHOLE: &str = "the payload";

/// A record that cannot be read. It says where and what, and repeats nothing of the record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecodable(String);

impl Undecodable {
    fn at(error: &serde_path_to_error::Error<impl std::error::Error>) -> Self {
        Self(misfit(&error.path().to_string(), error.inner(), WHOLE))
    }

    /// A record that cannot be read because of this. The text goes to the log: it should repeat nothing of the record.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What a function of one record takes: any type that implements [`Deserialize`](serde::Deserialize) for its own data, read from
/// the payload's JSON; [`Delivered`] for the record around it as well; [`Raw`] for the payload as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a record",
    label = "this type must implement `serde::Deserialize` for any lifetime",
    note = "derive `Deserialize` for a type of your own, which must own its data; `Raw` is the payload as it is, `Delivered<T, R>` the payload and its record"
)]
pub trait FromRecord<R>: Sized {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// [`Undecodable`] says what does not fit. The record fails alone, and nothing is claimed for it.
    fn from_record(record: &R, payload: &Payload) -> Result<Self, Undecodable>;
}

#[diagnostic::do_not_recommend]
impl<R, T: DeserializeOwned> FromRecord<R> for T {
    fn from_record(_: &R, payload: &Payload) -> Result<Self, Undecodable> {
        payload.read()
    }
}

/// A payload with the record that brought it: for what the payload does not say, such as a message's attributes.
///
/// What the record says beside its payload is no part of its fingerprint, and differs between deliveries: receive counts, receipt
/// handles, times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivered<T, R> {
    /// What the record says.
    pub payload: T,
    /// The record, as Lambda delivered it.
    pub record: R,
}

impl<R: Clone, T: FromRecord<R>> FromRecord<R> for Delivered<T, R> {
    fn from_record(record: &R, payload: &Payload) -> Result<Self, Undecodable> {
        Ok(Self { payload: T::from_record(record, payload)?, record: record.clone() })
    }
}

/// A payload as it is, for one that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw(pub Bytes);

impl<R> FromRecord<R> for Raw {
    fn from_record(_: &R, payload: &Payload) -> Result<Self, Undecodable> {
        Ok(Self(match payload {
            Payload::Bytes(bytes) => bytes.clone(),
            _ => Bytes::from(payload.bytes().into_owned()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Order {
        id: u64,
        lines: Vec<Line>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Line {
        quantity: u32,
    }

    fn bytes(text: &'static str) -> Payload {
        Payload::Bytes(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn a_record_that_does_not_fit_says_where_and_repeats_nothing() {
        let why = |payload: Payload| Order::from_record(&(), &payload).unwrap_err().to_string();
        let secret = r#"{"id":1,"lines":[{"quantity":1},{"quantity":"secret"}]}"#;
        assert!(
            why(bytes(secret)).starts_with("lines[1].quantity: invalid type, expected u32"),
            "{}",
            why(bytes(secret))
        );
        assert!(why(Payload::Json(serde_json::from_str(secret).unwrap())).starts_with("lines[1].quantity: "));
        assert!(!why(bytes(secret)).contains("secret"));
        assert!(why(bytes("")).starts_with("the payload: EOF"));
        assert!(why(bytes(r#"{"id":1,"lines":[]} x"#)).starts_with("the payload: trailing"));
    }

    #[test]
    fn payload_and_record_are_given_as_they_are() {
        let payload = bytes(r#"{"id":1,"lines":[]}"#);
        let delivered = Delivered::<Order, &str>::from_record(&"record", &payload).unwrap();
        assert_eq!((delivered.payload.id, delivered.record), (1, "record"));
        assert_eq!(Raw::from_record(&(), &bytes("not JSON")).unwrap(), Raw(Bytes::from_static(b"not JSON")));
        assert_eq!(Raw::from_record(&(), &Payload::Json(json!({ "a": 1 }))).unwrap().0, r#"{"a":1}"#);
    }
}
