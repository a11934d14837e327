//! The key on its way from function to function: opaque, put on what is sent and read back from what arrives.
//!
//! | to | what carries it | how |
//! |---|---|---|
//! | an HTTP API | the header `Idempotency-Key` | [`http_header`] |
//! | SQS, SNS | the message attribute `Idempotency-Key`, of type `String` | [`WithKey`] on the SDK's builders, with the features `sqs` and `sns`; else [`KEY_NAME`] |
//! | EventBridge, asynchronous invocation | the member `idempotencyKey` of the detail or payload | [`into_json`] |
//! | Kafka | the header `Idempotency-Key` | [`kafka_header`] |
//!
//! The wrappers read it back wherever they find it and prefer it to a key of their own, so one key goes from the first request to
//! the last effect. Never derive it again on the way.
//!
//! ```
//! use lambda_idempotency::{IdempotencyKey, propagation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = IdempotencyKey::new("order-42")?; // `attempt.key()` in a handler
//! let (name, value) = propagation::http_header(&key);
//! assert_eq!((name.as_str(), value.to_str()?), ("idempotency-key", "order-42"));
//!
//! let detail = propagation::into_json(serde_json::json!({ "order": 42 }), &key)?;
//! assert_eq!(detail.to_string(), r#"{"idempotencyKey":"order-42","order":42}"#);
//! # Ok(()) }
//! ```

#[cfg(feature = "sns")]
mod sns;
#[cfg(feature = "sqs")]
mod sqs;

use http::{HeaderName, HeaderValue};
use idempotency_core::IdempotencyKey;
use serde_json::Value;

use crate::{function::InvalidKey, http::IDEMPOTENCY_KEY};

/// The name of the message attribute or Kafka header that carries the key. It is written so and read in any case.
pub const KEY_NAME: &str = "Idempotency-Key";

/// The member of an event's detail, or of an asynchronous invocation's payload, that carries the key.
pub const KEY_MEMBER: &str = "idempotencyKey";

/// The header for a request to an HTTP API.
pub fn http_header(key: &IdempotencyKey) -> (HeaderName, HeaderValue) {
    // Visible ASCII cannot fail to be a header's value.
    (IDEMPOTENCY_KEY, HeaderValue::from_str(key.as_str()).unwrap_or_else(|_| HeaderValue::from_static("")))
}

/// The header for a Kafka record.
pub fn kafka_header(key: &IdempotencyKey) -> (&'static str, &[u8]) {
    (KEY_NAME, key.as_str().as_bytes())
}

/// A message that can carry the key: the builders of the AWS SDK for SQS (feature `sqs`) and SNS (feature `sns`), of single messages
/// and of those in a batch.
///
/// ```
/// # #[cfg(feature = "sqs")]
/// # async fn send(client: aws_sdk_sqs::Client, attempt: lambda_idempotency::Attempt) -> Result<(), Box<dyn std::error::Error>> {
/// use lambda_idempotency::propagation::WithKey;
///
/// client.send_message().queue_url("https://…").message_body("{}").idempotency_key(attempt.key()).send().await?;
/// # Ok(()) }
/// ```
pub trait WithKey {
    /// The same message with the key as an attribute.
    #[must_use]
    fn idempotency_key(self, key: &IdempotencyKey) -> Self;
}

/// The detail of an event, or the payload of an asynchronous invocation, with the key in it.
///
/// # Errors
///
/// [`NoObject`] unless it is a JSON object.
pub fn into_json(mut payload: Value, key: &IdempotencyKey) -> Result<Value, NoObject> {
    let members = payload.as_object_mut().ok_or(NoObject)?;
    members.insert(KEY_MEMBER.to_owned(), Value::from(key.as_str()));
    Ok(payload)
}

/// JSON that can carry no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only a JSON object can carry an idempotency key; wrap the payload in one")]
pub struct NoObject;

/// The key among a record's attributes, if one is there. It is never overlooked: one that cannot be used, or more than one, is an
/// error.
pub(crate) fn among<'a>(
    attributes: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> Option<Result<IdempotencyKey, InvalidKey>> {
    let mut keys = attributes.filter(|(name, _)| name.eq_ignore_ascii_case(KEY_NAME)).map(|(_, value)| value);
    let key = keys.next()?;
    Some(match (key, keys.next()) {
        (Some(key), None) => IdempotencyKey::new(key).map_err(InvalidKey::Text),
        (None, None) => Err(InvalidKey::NoText),
        (_, Some(_)) => Err(InvalidKey::Several),
    })
}

/// Takes the key out of JSON that carries one, so that what is left is what was sent.
pub(crate) fn out_of_json(payload: &mut Value) -> Option<Result<IdempotencyKey, InvalidKey>> {
    let key = payload.as_object_mut()?.remove(KEY_MEMBER)?;
    Some(match key.as_str() {
        Some(key) => IdempotencyKey::new(key).map_err(InvalidKey::Text),
        None => Err(InvalidKey::NoText),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_is_there_is_never_overlooked() {
        let among = |attributes: &[(&'static str, Option<&'static str>)]| among(attributes.iter().copied());
        assert_eq!(among(&[("trace", Some("x"))]), None);
        assert_eq!(among(&[("idempotency-KEY", Some("k"))]).unwrap().unwrap().as_str(), "k");
        assert!(matches!(among(&[(KEY_NAME, Some(" "))]), Some(Err(InvalidKey::Text(_)))));
        assert_eq!(among(&[(KEY_NAME, None)]), Some(Err(InvalidKey::NoText)));
        assert_eq!(among(&[(KEY_NAME, Some("a")), ("idempotency-key", Some("a"))]), Some(Err(InvalidKey::Several)));
    }

    #[test]
    fn json_gives_back_what_was_put_into_it() {
        let key = IdempotencyKey::new("k").unwrap();
        let mut payload = into_json(json!({ "a": 1 }), &key).unwrap();
        assert_eq!(out_of_json(&mut payload), Some(Ok(key.clone())));
        assert_eq!(payload, json!({ "a": 1 }));
        assert_eq!(out_of_json(&mut payload), None);
        assert_eq!(into_json(json!([1]), &key), Err(NoObject));
        assert_eq!(out_of_json(&mut json!({ "idempotencyKey": 7 })), Some(Err(InvalidKey::NoText)));
        assert_eq!(out_of_json(&mut json!("text")), None);
    }
}
