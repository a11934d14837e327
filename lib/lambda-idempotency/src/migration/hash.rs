//! The hashes by which Powertools knows payloads.
//!
//! Both are computed as the packages do it, and compared with hashes that the packages made: `aws-lambda-powertools` 3.37.0 (Python) and
//! `@aws-lambda-powertools/idempotency` 2.35.0 (TypeScript), in `tests/migration`.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Number, Value};

/// A payload whose hash here might not be the one that Powertools computes. Say the old row's id in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HashError {
    /// A number that the languages read or write in their own ways: an integer beyond 64 bits (TypeScript: 53), or a fraction of more than
    /// 15 digits.
    #[error(
        "the payload has a number that is not written in the same way everywhere; compute the old row's id yourself"
    )]
    Number,
    /// TypeScript: names of members that differ in case only have no defined order, and a member `__proto__` gets lost.
    #[error("the payload has member names whose order is not defined; compute the old row's id yourself")]
    Members,
}

/// The hash of a payload in Python: MD5 of `json.dumps(payload, sort_keys=True)`, in hexadecimal digits.
///
/// `payload` is what the old function's `event_key_jmespath` (or `payload_validation_jmespath`) selects from the event; the whole event
/// where there is none. The row's id is `{function name}.{module}.{handler's qualified name}#{hash}`, or `{key_prefix}#{hash}`.
///
/// ```
/// use lambda_idempotency::migration::python_hash;
/// use serde_json::json;
///
/// assert_eq!(python_hash(&json!("order-42")).unwrap(), "58b9ccd7589db5276c9ec8bdeed796eb");
/// ```
///
/// # Errors
///
/// [`HashError`] where the result might be another than in Python.
pub fn python_hash(payload: &Value) -> Result<String, HashError> {
    let mut text = String::new();
    python(payload, &mut text)?;
    Ok(format!("{:x}", md5::compute(text)))
}

/// The hash of a payload in TypeScript: MD5 of the JSON with sorted members, in base64. As [`python_hash`]; the row's id is
/// `{function name}.{wrapped function's name}#{hash}`, `{function name}#{hash}` where that has none, or `{keyPrefix}#{hash}`.
///
/// ```
/// use lambda_idempotency::migration::typescript_hash;
/// use serde_json::json;
///
/// assert_eq!(typescript_hash(&json!("order-42")).unwrap(), "WLnM11idtSdsnsi97teW6w==");
/// ```
///
/// # Errors
///
/// [`HashError`] where the result might be another than in TypeScript.
pub fn typescript_hash(payload: &Value) -> Result<String, HashError> {
    let mut text = String::new();
    typescript(payload, &mut text)?;
    Ok(STANDARD.encode(*md5::compute(text)))
}

/// `json.dumps` with sorted members: a space behind each comma and colon, and nothing but ASCII.
fn python(value: &Value, to: &mut String) -> Result<(), HashError> {
    match value {
        Value::Number(number) => *to += &python_number(number)?,
        Value::String(text) => python_text(text, to),
        Value::Array(values) => {
            to.push('[');
            for (index, value) in values.iter().enumerate() {
                *to += if index > 0 { ", " } else { "" };
                python(value, to)?;
            }
            to.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // By code points, which is the order of the bytes of UTF-8.
            members.sort_by_key(|(name, _)| *name);
            to.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                *to += if index > 0 { ", " } else { "" };
                python_text(name, to);
                *to += ": ";
                python(value, to)?;
            }
            to.push('}');
        }
        other => *to += &other.to_string(),
    }
    Ok(())
}

fn python_text(text: &str, to: &mut String) {
    to.push('"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(b'"') => *to += "\\\"",
            Ok(b'\\') => *to += "\\\\",
            Ok(b'\n') => *to += "\\n",
            Ok(b'\r') => *to += "\\r",
            Ok(b'\t') => *to += "\\t",
            Ok(0x0c) => *to += "\\f",
            Ok(0x08) => *to += "\\b",
            Ok(plain @ b' '..=b'~') => to.push(char::from(plain)),
            // Writing into a text cannot fail.
            _ => _ = write!(to, "\\u{unit:04x}"),
        }
    }
    to.push('"');
}

fn python_number(number: &Number) -> Result<String, HashError> {
    if number.is_i64() || number.is_u64() {
        return Ok(number.to_string());
    }
    let (sign, digits, exponent) = digits(number)?;
    // `repr`: exponents from -4 to 15 are written out.
    Ok(match exponent {
        -4..=15 => {
            let text = written_out(&digits, exponent);
            let fraction = if text.contains('.') { "" } else { ".0" };
            format!("{sign}{text}{fraction}")
        }
        _ => format!("{sign}{}e{}{:02}", pointed(&digits), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    })
}

/// `JSON.stringify` of an object whose members were put in by the order of their names in lower case.
fn typescript(value: &Value, to: &mut String) -> Result<(), HashError> {
    match value {
        Value::Number(number) => *to += &javascript_number(number)?,
        Value::Array(values) => {
            to.push('[');
            for (index, value) in values.iter().enumerate() {
                *to += if index > 0 { "," } else { "" };
                typescript(value, to)?;
            }
            to.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (place(name), name, value)).collect();
            members.sort_by(|(a, ..), (b, ..)| a.cmp(b));
            let is_odd = members.iter().any(|(_, name, _)| *name == "__proto__");
            if is_odd || members.windows(2).any(|pair| matches!(pair, [(a, ..), (b, ..)] if a == b)) {
                return Err(HashError::Members);
            }
            to.push('{');
            for (index, (_, name, value)) in members.into_iter().enumerate() {
                *to += if index > 0 { "," } else { "" };
                // Texts are written as JavaScript does: only quotes, backslashes and control characters are escaped.
                *to += &Value::from(name.as_str()).to_string();
                to.push(':');
                typescript(value, to)?;
            }
            to.push('}');
        }
        other => *to += &other.to_string(),
    }
    Ok(())
}

/// Where JavaScript has a member: those whose names are array indices first, by number; the others as they were put in.
fn place(name: &str) -> (bool, u32, Vec<u16>) {
    let index = name.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == name);
    (index.is_none(), index.unwrap_or(0), name.to_lowercase().encode_utf16().collect())
}

fn javascript_number(number: &Number) -> Result<String, HashError> {
    const MAX_SAFE: u64 = (1 << 53) - 1;
    if let Some(integer) = number.as_i64() {
        return if integer.unsigned_abs() <= MAX_SAFE { Ok(integer.to_string()) } else { Err(HashError::Number) };
    }
    if number.is_u64() {
        return Err(HashError::Number);
    }
    if number.as_f64() == Some(0.0) {
        return Ok("0".to_owned());
    }
    let (sign, digits, exponent) = digits(number)?;
    // ECMAScript, `Number::toString`: exponents from -7 to 20 are written out.
    Ok(match exponent {
        -6..=20 => format!("{sign}{}", written_out(&digits, exponent)),
        _ => format!("{sign}{}e{exponent:+}", pointed(&digits)),
    })
}

/// Sign, digits and exponent of the shortest form of a fraction: `12.5` is `125` and 1. Only such as every parser reads alike.
fn digits(number: &Number) -> Result<(&'static str, String, i32), HashError> {
    let value = number.as_f64().filter(|value| value.is_finite()).ok_or(HashError::Number)?;
    let shortest = format!("{:e}", value.abs());
    let (digits, exponent) = shortest.split_once('e').ok_or(HashError::Number)?;
    let (digits, exponent): (String, i32) = (digits.replace('.', ""), exponent.parse().map_err(|_| HashError::Number)?);
    // An integer that is none in Rust may have been one in the text.
    let is_ambiguous =
        value.fract() == 0.0 && (value.abs() >= 9_007_199_254_740_992.0 || value == 0.0 && value.is_sign_negative());
    if digits.len() > 15 || exponent.abs() > 22 || is_ambiguous {
        return Err(HashError::Number);
    }
    Ok((if value.is_sign_negative() { "-" } else { "" }, digits, exponent))
}

/// Digits with a point behind the first.
fn pointed(digits: &str) -> String {
    let mut pointed = digits.to_owned();
    if pointed.len() > 1 {
        pointed.insert(1, '.');
    }
    pointed
}

/// Digits without an exponent.
fn written_out(digits: &str, exponent: i32) -> String {
    let Ok(before) = usize::try_from(exponent) else {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    };
    match digits.len() <= before + 1 {
        true => format!("{digits}{}", "0".repeat(before + 1 - digits.len())),
        false => {
            let (whole, fraction) = digits.split_at(before + 1);
            format!("{whole}.{fraction}")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_languages_read_or_write_differently_is_refused() {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for odd in ["1e20", "100000000000000000000", "-0", "-0.0", "0.12345678901234567", "1e-30", "[{\"a\":1e300}]"] {
            assert_eq!(python_hash(&parse(odd)), Err(HashError::Number), "{odd}");
        }
        for odd in ["9007199254740993", "18446744073709551615", "0.12345678901234567"] {
            assert_eq!(typescript_hash(&parse(odd)), Err(HashError::Number), "{odd}");
        }
        assert_eq!(typescript_hash(&json!({ "a": 1, "A": 2 })), Err(HashError::Members));
        assert_eq!(typescript_hash(&json!([{ "__proto__": 1 }])), Err(HashError::Members));
    }
}
