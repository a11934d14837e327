//! RFC 8785 canonical JSON: equal values agree, different values differ.

use std::{cmp::Ordering, fmt::Write as _};

use idempotency_core::{Fingerprint, canonical_json};
use serde_json::Value;

use crate::{Choices, events::Json};

/// Checks any bytes as a JSON text.
pub fn check(text: &[u8]) {
    let fingerprint = Fingerprint::builder().json("body", text).finish();
    let Ok(canonical) = canonical_json(text) else {
        let bytes = Fingerprint::builder().bytes("body", text).finish();
        assert_eq!(fingerprint, bytes, "what has no canonical form counts as the bytes it is");
        return;
    };
    assert_eq!(canonical_json(&canonical).unwrap(), canonical, "the canonical form is its own canonical form");
    assert_eq!(Fingerprint::builder().json("body", &canonical).finish(), fingerprint);
    let written = Json::parse(str::from_utf8(text).unwrap()).unwrap();
    assert!(unambiguous(&written), "parsers read this differently: {written}");
    // Whatever has a canonical form is JSON, of the same value.
    let (before, after): (Value, Value) =
        (serde_json::from_slice(text).unwrap(), serde_json::from_slice(&canonical).unwrap());
    assert!(same(&before, &after), "{before} became {after}");
    assert_eq!(
        serde_json_canonicalizer::to_vec(&before).unwrap(),
        canonical,
        "another canonicalizer gives another form"
    );
}

/// Whether no name stands twice in one object, and no integer is beyond what a double keeps exactly (RFC 7493).
fn unambiguous(text: &Json) -> bool {
    match text {
        Json::Number(literal) => {
            literal.parse::<i128>().is_err() || literal.parse().is_ok_and(|number: i64| number.unsigned_abs() < 1 << 53)
        }
        Json::Array(values) => values.iter().all(unambiguous),
        Json::Object(members) => members
            .iter()
            .enumerate()
            .all(|(i, (name, value))| unambiguous(value) && members.iter().skip(i + 1).all(|(other, _)| other != name)),
        _ => true,
    }
}

/// Checks that another spelling of a value agrees with it, and another value does not.
pub fn check_spellings(value: &Value, other: &Value, choices: &mut Choices<'_>) {
    let Ok(canonical) = canonical_json(value.to_string().as_bytes()) else { return };
    let mut spelled = String::new();
    spell(value, choices, &mut spelled);
    assert_eq!(canonical_json(spelled.as_bytes()).ok(), Some(canonical.clone()), "{value} spelled {spelled}");
    if let Ok(other_canonical) = canonical_json(other.to_string().as_bytes()) {
        assert_eq!(other_canonical == canonical, same(value, other), "{value} and {other}");
    }
}

/// Whether two values are the same: numbers by what they stand for.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// Writes a value with white space, order, escapes and number spellings of the choices' liking.
fn spell(value: &Value, choices: &mut Choices<'_>, out: &mut String) {
    space(choices, out);
    match value {
        Value::Number(number) => out.push_str(&number_spelled(number.as_f64().unwrap_or_default(), choices)),
        Value::String(text) => string(text, choices, out),
        Value::Array(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                spell(value, choices, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            let turn = choices.below(members.len().max(1));
            members.rotate_left(turn);
            out.push('{');
            for (i, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                space(choices, out);
                string(name, choices, out);
                space(choices, out);
                out.push(':');
                spell(value, choices, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
    }
    space(choices, out);
}

fn space(choices: &mut Choices<'_>, out: &mut String) {
    out.push_str(choices.one_of(&["", "", " ", "\n\t", "\r\n"]));
}

fn string(text: &str, choices: &mut Choices<'_>, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        if character < ' ' || matches!(character, '"' | '\\') || choices.once_in(4) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        } else {
            out.push(character);
        }
    }
    out.push('"');
}

/// A number in another spelling of the same double. Rust prints the shortest digits that give the double back.
fn number_spelled(number: f64, choices: &mut Choices<'_>) -> String {
    let plain = format!("{number}");
    match choices.below(4) {
        // Rust leaves the fraction of whole numbers out.
        1 if !plain.contains('.') => plain + ".000",
        2 => format!("{number:e}"),
        3 => format!("{number:E}"),
        _ => plain,
    }
}
