//! The `Idempotency-Key` request header.

use http::{HeaderMap, HeaderName, HeaderValue};
use idempotency_core::{IdempotencyKey, KeyError};
use sfv::{BareItem, Item, Parser};

/// The request header that carries the caller's key (IETF draft "The Idempotency-Key HTTP Header Field").
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Why a request has no usable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyHeaderError {
    /// There is no header, or it is empty or blank.
    #[error(
        "send an Idempotency-Key header: a value of your choice, new for every operation and the same on its retries"
    )]
    Missing,
    /// There is more than one header, or one with several values. A gateway may have joined them by a comma.
    #[error("send exactly one Idempotency-Key; this request has several, or a comma outside quotes")]
    Several,
    /// The value begins with a quote and is no string by RFC 9651.
    #[error("the Idempotency-Key begins with a quote but is not one quoted string")]
    Quoting,
    /// The value breaks a rule for keys.
    #[error("{0}")]
    Key(KeyError),
}

/// The key in a request's headers: bare, or as a quoted string (RFC 9651 section 3.3.3); both spellings are the same key.
///
/// ```
/// use lambda_http::http::HeaderMap;
/// use lambda_idempotency::http::{IDEMPOTENCY_KEY, KeyHeaderError, key_from_headers};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(key_from_headers(&headers), Err(KeyHeaderError::Missing));
/// headers.insert(IDEMPOTENCY_KEY, "\"order-42\"".parse().unwrap());
/// assert_eq!(key_from_headers(&headers).unwrap().as_str(), "order-42");
/// ```
///
/// Of several headers a REST API delivers the last as if it were the only one (`headers` holds one value per name, and
/// `lambda_http` prefers it to `multiValueHeaders`), and so does a load balancer without multi-value headers; the other kinds
/// let two keys be noticed, and they are refused.
///
/// # Errors
///
/// [`KeyHeaderError`] says what is wrong, in words for the caller.
pub fn key_from_headers(headers: &HeaderMap) -> Result<IdempotencyKey, KeyHeaderError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let value = values.next().ok_or(KeyHeaderError::Missing)?;
    if values.next().is_some() {
        return Err(KeyHeaderError::Several);
    }
    let key = if value.as_bytes().trim_ascii_start().starts_with(b"\"") { quoted(value)? } else { bare(value)? };
    IdempotencyKey::new(key).map_err(|error| match error {
        KeyError::Blank => KeyHeaderError::Missing,
        error => KeyHeaderError::Key(error),
    })
}

fn quoted(value: &HeaderValue) -> Result<String, KeyHeaderError> {
    match Parser::new(value.as_bytes()).parse::<Item>() {
        Ok(Item { bare_item: BareItem::String(key), .. }) => Ok(String::from(key)),
        _ => Err(KeyHeaderError::Quoting),
    }
}

fn bare(value: &HeaderValue) -> Result<String, KeyHeaderError> {
    let bytes = value.as_bytes().trim_ascii();
    // API Gateway's HTTP APIs join repeated headers by commas ("Working with AWS Lambda proxy integrations for HTTP APIs",
    // payload format 2.0), so two headers arrive as one value here.
    if bytes.contains(&b',') {
        return Err(KeyHeaderError::Several);
    }
    // What is not UTF-8 is not visible ASCII either; the replacement character makes the check below say where.
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[&[u8]]) -> Result<String, KeyHeaderError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value).unwrap());
        }
        key_from_headers(&headers).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn bare_and_quoted_values_are_the_same_key() {
        assert_eq!(key(&[b"order-42"]).unwrap(), "order-42");
        assert_eq!(key(&[b"\"order-42\""]).unwrap(), "order-42");
        assert_eq!(key(&[b"  order-42 "]).unwrap(), "order-42");
        assert_eq!(key(&[br#""a\"b\\c""#]).unwrap(), r#"a"b\c"#);
        assert_eq!(key(&[b"\"a,b\""]).unwrap(), "a,b");
    }

    #[test]
    fn missing_empty_and_blank_are_missing() {
        for values in [&[][..], &[&b""[..]], &[b"   "], &[b"\"\""], &[b"\"  \""]] {
            assert_eq!(key(values), Err(KeyHeaderError::Missing), "{values:?}");
        }
    }

    #[test]
    fn several_keys_are_refused_also_when_a_gateway_joined_them() {
        assert_eq!(key(&[b"a", b"b"]), Err(KeyHeaderError::Several));
        assert_eq!(key(&[b"a", b"a"]), Err(KeyHeaderError::Several));
        assert_eq!(key(&[b"a,b"]), Err(KeyHeaderError::Several));
        assert_eq!(key(&[b"\"a\",\"b\""]), Err(KeyHeaderError::Quoting));
    }

    #[test]
    fn the_limit_is_255_characters_of_the_key_itself() {
        let (longest, longer) = ("k".repeat(255), "k".repeat(256));
        assert_eq!(key(&[longest.as_bytes()]).unwrap(), longest);
        assert_eq!(key(&[format!("\"{longest}\"").as_bytes()]).unwrap(), longest);
        for value in [longer.clone(), format!("\"{longer}\"")] {
            let error = KeyHeaderError::Key(KeyError::TooLong { length: 256 });
            assert_eq!(key(&[value.as_bytes()]), Err(error));
        }
    }

    #[test]
    fn broken_quotes_and_invisible_characters_are_refused() {
        for value in [&b"\"open"[..], b"\"a\"b", br#""bad\escape""#] {
            assert_eq!(key(&[value]), Err(KeyHeaderError::Quoting), "{value:?}");
        }
        assert!(matches!(key(&[b"a b"]), Err(KeyHeaderError::Key(KeyError::NotVisibleAscii { position: 1 }))));
        assert!(matches!(key(&[b"a\xff"]), Err(KeyHeaderError::Key(KeyError::NotVisibleAscii { position: 1 }))));
    }
}
