//! The `Idempotency-Key` header: what is a key, and which spellings are the same.

use http::{HeaderMap, HeaderName, HeaderValue};
use lambda_idempotency::http::key_from_headers;

/// What the header's values must be read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This key.
    Key(String),
    /// No key.
    Refused,
    /// This key or none: RFC 9651 lets an item have parameters, which mean nothing here.
    KeyOrRefused(String),
}

/// Checks the reading of a header with these values. Values that no HTTP stack would carry are left out.
pub fn check(values: &[&[u8]]) {
    let carried: Vec<HeaderValue> = values.iter().filter_map(|value| HeaderValue::from_bytes(value).ok()).collect();
    let bytes: Vec<&[u8]> = carried.iter().map(HeaderValue::as_bytes).collect();
    let read = read(&carried, HeaderName::from_static("idempotency-key"));
    match expected(&bytes) {
        Expected::Key(key) => assert_eq!(read, Some(key), "{carried:?}"),
        Expected::Refused => assert_eq!(read, None, "{carried:?}"),
        Expected::KeyOrRefused(key) => assert!(read.as_ref().is_none_or(|read| *read == key), "{carried:?}"),
    }
    let shouted = HeaderName::from_bytes(b"IDEMPOTENCY-KEY").unwrap();
    assert_eq!(self::read(&carried, shouted), read, "the case of the name counts: {carried:?}");
    if let Some(key) = read {
        assert!((1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()), "{key:?}");
        assert_eq!(carried.len(), 1, "one of several was chosen");
        check_spellings(&key);
    }
}

/// Checks that every way to write a key is read as that key.
pub fn check_spellings(key: &str) {
    let quoted = format!("\"{}\"", key.replace('\\', r"\\").replace('"', "\\\""));
    let mut spellings = vec![quoted.clone(), format!("  {quoted} ")];
    // A bare key cannot begin with a quote, and a gateway joins two headers by a comma.
    if !key.starts_with('"') && !key.contains(',') {
        spellings.extend([key.to_owned(), format!("\t{key} ")]);
    }
    for spelling in spellings {
        let value = HeaderValue::from_str(&spelling).unwrap();
        let read = read(&[value], HeaderName::from_static("idempotency-key"));
        assert_eq!(read.as_deref(), Some(key), "{spelling:?}");
    }
}

fn read(values: &[HeaderValue], name: HeaderName) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.extend(values.iter().map(|value| (name.clone(), value.clone())));
    key_from_headers(&headers).ok().map(|key| key.as_str().to_owned())
}

/// What these values of one request's header must be read as.
pub fn expected(values: &[&[u8]]) -> Expected {
    let [value] = values else { return Expected::Refused };
    let quoted = value.trim_ascii().starts_with(b"\"");
    if !quoted {
        let key = value.trim_ascii();
        return if key.contains(&b',') { Expected::Refused } else { key_or_refused(key.to_vec()) };
    }
    // RFC 9651 section 4.2: leading and trailing spaces go, tabs do not.
    let Some(opened) = value.strip_prefix(b"\"").or_else(|| trim_spaces(value).strip_prefix(b"\"")) else {
        return Expected::Refused;
    };
    let Some((key, rest)) = unquoted(opened) else { return Expected::Refused };
    let key = key_or_refused(key);
    match (trim_spaces(rest), key) {
        (b"", key) => key,
        ([b';', ..], Expected::Key(key)) => Expected::KeyOrRefused(key),
        _ => Expected::Refused,
    }
}

fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] | [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}

/// The string that was opened before, and what stands behind its end (RFC 9651 section 4.2.5).
fn unquoted(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut text = Vec::new();
    let mut rest = bytes;
    loop {
        rest = match rest {
            [b'"', rest @ ..] => return Some((text, rest)),
            [b'\\', escaped @ (b'"' | b'\\'), rest @ ..] => {
                text.push(*escaped);
                rest
            }
            [b'\\', ..] | [] => return None,
            [byte @ 0x20..=0x7e, rest @ ..] => {
                text.push(*byte);
                rest
            }
            _ => return None,
        }
    }
}

fn key_or_refused(key: Vec<u8>) -> Expected {
    match (1..=255).contains(&key.len()) && key.iter().all(|byte| (0x21..=0x7e).contains(byte)) {
        true => Expected::Key(String::from_utf8(key).unwrap()),
        false => Expected::Refused,
    }
}
