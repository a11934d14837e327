//! JSON in the one spelling that equal values share.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// The largest integer that every JSON implementation keeps exactly: 2^53 - 1 (RFC 7493 section 2.2).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The bytes are not I-JSON (RFC 7493), so they have no canonical form that keeps their meaning.
///
/// Not I-JSON are: syntax errors, a member name twice in one object, integers beyond ±(2^53 - 1), lone surrogates,
/// and nesting deeper than 127 levels.
#[derive(Debug, thiserror::Error)]
#[error("the text is not I-JSON: {0}")]
pub struct CanonicalJsonError(#[from] serde_json::Error);

/// The RFC 8785 canonical form of a JSON text.
///
/// Member order, white space, escapes and number spelling of equal values give the same bytes. A text that is not
/// I-JSON is refused rather than read one of several possible ways: two bodies that another parser could tell apart
/// must never share a canonical form.
///
/// ```
/// use idempotency_core::canonical_json;
///
/// assert_eq!(canonical_json(br#"{"b": 1.0, "a": "\u0078"}"#).unwrap(), br#"{"a":"x","b":1}"#);
/// assert!(canonical_json(br#"{"amount": 1, "amount": 2}"#).is_err());
/// assert!(canonical_json(b"9007199254740993").is_err());
/// ```
///
/// # Errors
///
/// [`CanonicalJsonError`] when the text is not I-JSON.
pub fn canonical_json(text: &[u8]) -> Result<Vec<u8>, CanonicalJsonError> {
    let IJson(value) = serde_json::from_slice(text)?;
    Ok(serde_json_canonicalizer::to_vec(&value)?)
}

/// A JSON value that was checked for the I-JSON rules while it was read.
struct IJson(Value);

impl<'de> Deserialize<'de> for IJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IJsonVisitor).map(IJson)
    }
}

struct IJsonVisitor;

impl<'de> Visitor<'de> for IJsonVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an I-JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        check_integer(value.unsigned_abs())?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        check_integer(value)?;
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // An integer literal too long for 64 bits also arrives here, already rounded.
        if value.abs() > MAX_SAFE_INTEGER as f64 {
            return Err(E::custom("number beyond ±(2^53 - 1)"));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(IJson(value)) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, IJson(value))) = members.next_entry::<String, IJson>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a member name stands twice in one object"));
            }
        }
        Ok(Value::Object(object))
    }
}

fn check_integer<E: serde::de::Error>(magnitude: u64) -> Result<(), E> {
    if magnitude > MAX_SAFE_INTEGER { Err(E::custom("integer beyond ±(2^53 - 1)")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        canonical_json(text.as_bytes()).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_examples_of_rfc_8785() {
        // RFC 8785 sections 3.2.2 and 3.2.3 (the integer beyond 2^53 of 3.2.2 is not I-JSON and left out).
        let text = r#"{"numbers":[4.50,2e-3,0.000000000000000000000000001],
            "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
        let expected = "{\"literals\":[null,true,false],\"numbers\":[4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(canonical(text).as_deref(), Some(expected));
        // Sorting is by UTF-16 code units: the emoji (a surrogate pair) stands before U+FB33.
        let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(text).as_deref(), Some(expected));
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(canonical(r#"{ "a":1e2, "b":"\u00e9" }"#), canonical(r#"{"b":"é","a":100}"#));
        assert_eq!(canonical("-0.0"), canonical("0"));
    }

    #[test]
    fn texts_that_parsers_read_differently_have_no_canonical_form() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":1}"#,
            "9007199254740992",
            "-9007199254740993",
            "123456789012345678901234567890",
            "1e400",
            r#""\ud800""#,
            "{",
            "",
            &deep,
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    #[test]
    fn the_largest_safe_integers_stay_exact() {
        assert_eq!(canonical("9007199254740991").as_deref(), Some("9007199254740991"));
        assert_ne!(canonical("9007199254740991"), canonical("9007199254740990"));
    }
}
