//! JSON in the one spelling that equal values share.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

use crate::JsonPointer;

/// The largest integer that every JSON implementation keeps exactly: 2^53 - 1 (RFC 7493 section 2.2).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The bytes are not I-JSON (RFC 7493), so they have no canonical form that keeps their meaning.
///
/// [`canonical_json`] lists what is not I-JSON.
#[derive(Debug, thiserror::Error)]
#[error("the text is not I-JSON: {0}")]
pub struct CanonicalJsonError(#[from] serde_json::Error);

/// The RFC 8785 canonical form of a JSON text.
///
/// Member order, white space, escapes and number spelling of equal values give the same bytes. A text that is not
/// I-JSON is refused rather than read one of several possible ways: two bodies that another parser could tell apart
/// must never share a canonical form.
///
/// | text | result |
/// |---|---|
/// | member order, white space, escapes (`"\u0061"`, `"a"`), number spelling (`1`, `1.0`, `10e-1`; `-0`, `0`) | do not count |
/// | names that differ in case only, or in Unicode normalisation (`é`, `e\u0301`) | differ; names are sorted by UTF-16 code units, never folded |
/// | an absent member, `null`, `0`, `""`, `false`, `{}`, `[]` | differ |
/// | numbers up to 2^53 - 1 | equal when they are the same double: what differs only beyond 17 significant digits is equal, and what is nearer to 0 than a double can be is 0 |
/// | numbers beyond ±(2^53 - 1), however spelt (`9007199254740993`, `1e30`, `1e400`) | refused: two of them may be one double |
/// | `NaN`, `Infinity`, `01`, `+1`, `.5`, comments, trailing commas | refused: not JSON |
/// | a member name twice in one object, also by escapes | refused: parsers take the first, the last or none |
/// | a member named `$serde_json::private::Number` | refused: it is how `serde_json` spells a number inside |
/// | a lone surrogate (`"\ud800"`), bytes that are not UTF-8, a byte order mark | refused |
/// | nesting up to 127 levels | as any other |
/// | nesting of 128 levels and more | refused, without using the stack up |
/// | an empty text, two values, anything after the value | refused |
///
/// [`FingerprintBuilder::json`](crate::FingerprintBuilder::json) takes a refused text as the bytes it is: its retries must be
/// the same bytes.
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
    canonical_json_without(text, &[])
}

/// The canonical form of what is left of a JSON text without the members and elements at these places.
pub(crate) fn canonical_json_without(text: &[u8], excluded: &[JsonPointer]) -> Result<Vec<u8>, CanonicalJsonError> {
    let value: IJson = serde_json::from_slice(text)?;
    let excluded: Vec<_> = excluded.iter().map(JsonPointer::steps).collect();
    let excluded: Vec<_> = excluded.iter().map(Vec::as_slice).collect();
    Ok(serde_json_canonicalizer::to_vec(&value.without(&excluded))?)
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

impl IJson {
    /// The value without what is at the end of these steps. All of them are meant on the whole value: leaving out one element of an
    /// array does not move the others.
    fn without(self, excluded: &[&[String]]) -> Self {
        if excluded.is_empty() {
            return self;
        }
        match self {
            Self::Array(values) => {
                let values = values.into_iter().enumerate();
                Self::Array(values.filter_map(|(index, value)| value.kept(&index.to_string(), excluded)).collect())
            }
            Self::Object(members) => {
                let kept = |(name, value): (String, Self)| value.kept(&name, excluded).map(|value| (name, value));
                Self::Object(members.into_iter().filter_map(kept).collect())
            }
            scalar => scalar,
        }
    }

    /// What is left of the member or element that this step leads to.
    fn kept(self, step: &str, excluded: &[&[String]]) -> Option<Self> {
        let mut below = Vec::new();
        for steps in excluded {
            match steps.split_first() {
                Some((first, [])) if first == step => return None,
                Some((first, rest)) if first == step => below.push(rest),
                _ => {}
            }
        }
        Some(self.without(&below))
    }
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
                return number(&members.next_value::<Literal>()?.0).ok_or_else(|| A::Error::custom(TOO_LARGE));
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

/// What `serde_json` puts under [`NUMBER`]: the number as it was spelt.
///
/// It comes as an owned `String`. A string that stands in the text comes borrowed from it, or from the buffer in which its
/// escapes were resolved, and is no number, whatever features are on: a caller wrote that member (`serde_json`,
/// `NumberDeserializer` in `number.rs` and `Deserializer::deserialize_any` in `de.rs`).
struct Literal(String);

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LiteralVisitor)
    }
}

struct LiteralVisitor;

impl Visitor<'_> for LiteralVisitor {
    type Value = Literal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no member that serde_json uses inside")
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Literal, E> {
        Err(E::custom("a member has a name that serde_json uses inside"))
    }

    fn visit_string<E>(self, literal: String) -> Result<Literal, E> {
        Ok(Literal(literal))
    }
}

fn number(literal: &str) -> Option<IJson> {
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
mod tests;
