//! JSON in the one spelling that equal values share.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

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
    let value: IJson = serde_json::from_slice(text)?;
    Ok(serde_json_canonicalizer::to_vec(&value)?)
}

/// A JSON value that was checked for the I-JSON rules while it was read.
///
/// It is a type of its own, because what `serde_json::Value` does with numbers depends on cargo features that any other
/// crate in the program may turn on, and a fingerprint must not.
#[derive(Debug, PartialEq)]
enum IJson {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(String),
    Array(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl Serialize for IJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::String(value) => serializer.serialize_str(value),
            Self::Array(values) => serializer.collect_seq(values),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

impl<'de> Deserialize<'de> for IJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IJsonVisitor)
    }
}

struct IJsonVisitor;

impl<'de> Visitor<'de> for IJsonVisitor {
    type Value = IJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an I-JSON value")
    }

    fn visit_unit<E>(self) -> Result<IJson, E> {
        Ok(IJson::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<IJson, E> {
        Ok(IJson::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<IJson, E> {
        integer(value).ok_or_else(|| E::custom(TOO_LARGE))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<IJson, E> {
        i64::try_from(value).ok().and_then(integer).ok_or_else(|| E::custom(TOO_LARGE))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<IJson, E> {
        // An integer literal too long for 64 bits also arrives here, already rounded.
        float(value).ok_or_else(|| E::custom(TOO_LARGE))
    }

    fn visit_str<E>(self, value: &str) -> Result<IJson, E> {
        Ok(IJson::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<IJson, E> {
        Ok(IJson::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<IJson, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        Ok(IJson::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<IJson, A::Error> {
        let mut object = BTreeMap::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == NUMBER {
                return number(&members.next_value::<String>()?).ok_or_else(|| A::Error::custom(TOO_LARGE));
            }
            if object.insert(name, members.next_value()?).is_some() {
                return Err(A::Error::custom("a member name stands twice in one object"));
            }
        }
        Ok(IJson::Object(object))
    }
}

const TOO_LARGE: &str = "number beyond ±(2^53 - 1)";

/// How `serde_json` hands over numbers when some crate in the program turns its feature `arbitrary_precision` on: as a map
/// with this member.
const NUMBER: &str = "$serde_json::private::Number";

/// Whether numbers are handed over as such maps.
static NUMBERS_ARE_MAPS: LazyLock<bool> = LazyLock::new(|| {
    struct Probe(bool);
    impl<'de> Deserialize<'de> for Probe {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Is;
            impl<'de> Visitor<'de> for Is {
                type Value = Probe;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a number")
                }
                fn visit_f64<E>(self, _: f64) -> Result<Probe, E> {
                    Ok(Probe(false))
                }
                fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Probe, A::Error> {
                    Ok(Probe(true))
                }
            }
            deserializer.deserialize_any(Is)
        }
    }
    serde_json::from_str("1.5").is_ok_and(|Probe(is)| is)
});

/// The number behind [`NUMBER`]. Where numbers are not handed over so, a caller wrote that member, and the text has no
/// canonical form.
fn number(literal: &str) -> Option<IJson> {
    if !*NUMBERS_ARE_MAPS {
        return None;
    }
    match literal.parse::<i64>() {
        Ok(value) => integer(value),
        Err(_) => literal.parse().ok().and_then(float),
    }
}

fn integer(value: i64) -> Option<IJson> {
    (value.unsigned_abs() <= MAX_SAFE_INTEGER).then_some(IJson::Integer(value))
}

fn float(value: f64) -> Option<IJson> {
    (value.abs() <= MAX_SAFE_INTEGER as f64).then_some(IJson::Float(value))
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
            r#"{"$serde_json::private::Number":"1"}"#,
            "{",
            "",
            &deep,
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_whatever_form_serde_json_hands_them_over_in() {
        assert_eq!(canonical("1.2e3").as_deref(), Some("1200"));
        assert_eq!(canonical("0.1").as_deref(), Some("0.1"));
        // Needs exact parsing of floats (the feature `float_roundtrip`): the next double is another number.
        assert_eq!(canonical("51.24817837550540").as_deref(), Some("51.2481783755054"));
        assert!(!*NUMBERS_ARE_MAPS, "this build tests the ordinary form only");
    }

    #[test]
    fn the_largest_safe_integers_stay_exact() {
        assert_eq!(canonical("9007199254740991").as_deref(), Some("9007199254740991"));
        assert_ne!(canonical("9007199254740991"), canonical("9007199254740990"));
    }
}
