//! Events with something wrong.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Json, Trigger};
use crate::Choices;

/// Texts that have broken parsers: empty, blank, quoted, joined, with escapes, controls, other scripts, other meanings.
pub(crate) const ODD: [&str; 30] = [
    "",
    " ",
    "\t",
    "0",
    "false",
    "null",
    "k-2",
    "\"k-2\"",
    "\"k-2",
    "\"k\\\"2\"",
    "\"k-2\";a=1",
    "\"\"",
    "a,b",
    "a b",
    "a\nb",
    "a\r\nx: y",
    "\u{0}",
    "\u{7f}",
    "ключ",
    "caf\u{e9}",
    "\u{202e}k",
    "#",
    "?",
    "/../..//%2e%2e/",
    "%",
    "%ff",
    "a=1&a=2&&=&b",
    "http://[::1]:99999/",
    "user:pass@host",
    "\u{1f600}",
];

const NUMBERS: [&str; 12] = [
    "0",
    "-0",
    "-1",
    "1.5",
    "1e2",
    "9007199254740993",
    "4294967296",
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "1e400",
    "-1e-400",
];

const METHODS: [&str; 10] = ["POST", "PATCH", "PUT", "GET", "DELETE", "OPTIONS", "post", "PO ST", "", "LONGMETHOD"];

const BODIES: [&str; 10] = [
    "",
    "{}",
    "null",
    "[]",
    "{\"amount\":8,\"currency\":\"EUR\",\"customer\":\"c\"} x",
    "{\"amount\":8,\"amount\":9,\"currency\":\"EUR\",\"customer\":\"c\"}",
    "{\"amount\":-8,\"currency\":\"EUR\",\"customer\":\"c\"}",
    "{\"amount\":1e30,\"currency\":\"EUR\",\"customer\":\"c\"}",
    "{\"amount\":\"8\",\"currency\":null,\"customer\":\"c\"}",
    "{\"customer\":\"\\ud800\",\"amount\":8,\"currency\":\"EUR\"}",
];

/// The trigger's event with up to five things changed; sometimes none.
pub(super) fn mutated(trigger: &Trigger, choices: &mut Choices<'_>) -> Json {
    let mut event = trigger.event();
    // The amount says how the handler ends.
    if choices.once_in(2) {
        *event.make(&["body"]) = Json::String(charge(choices));
    }
    for _ in 0..choices.below(6) {
        match choices.below(12) {
            0 | 1 => key(&mut event, choices),
            2 => method(trigger, &mut event, choices),
            3 => tenant(trigger, &mut event, choices),
            4..=6 => body(&mut event, choices),
            7 => request_line(&mut event, choices),
            _ => anywhere(&mut event, choices),
        }
    }
    event
}

fn key(event: &mut Json, choices: &mut Choices<'_>) {
    let value = match choices.below(4) {
        0 => "k".repeat(choices.one_of(&[1, 254, 255, 256, 5000])),
        1 => format!("\"{}\"", choices.one_of(&ODD)),
        _ => choices.one_of(&ODD).to_owned(),
    };
    let name = choices.one_of(&["idempotency-key", "Idempotency-Key", "IDEMPOTENCY-KEY", "idempotency_key"]);
    match choices.below(4) {
        0 => remove_header(event, "idempotency-key"),
        1 => add_header(event, name, value, choices),
        _ => {
            remove_header(event, "idempotency-key");
            add_header(event, name, value, choices);
        }
    }
}

fn method(trigger: &Trigger, event: &mut Json, choices: &mut Choices<'_>) {
    *event.make(trigger.kind.method()) = Json::String(choices.one_of(&METHODS).to_owned());
}

fn tenant(trigger: &Trigger, event: &mut Json, choices: &mut Choices<'_>) {
    let value = match choices.below(3) {
        0 => Json::Null,
        1 => Json::Number(choices.one_of(&NUMBERS).to_owned()),
        _ => Json::String(choices.one_of(&ODD).to_owned()),
    };
    match trigger.tenant {
        [name] => {
            if choices.once_in(2) {
                remove_header(event, name);
            }
            let value = value.as_str().unwrap_or_default().to_owned();
            add_header(event, name, value, choices);
        }
        path => *event.make(path) = value,
    }
}

fn charge(choices: &mut Choices<'_>) -> String {
    let amount = choices.below(1200);
    format!(r#"{{"amount":{amount},"currency":"EUR","customer":"cus_{}"}}"#, choices.below(3))
}

fn body(event: &mut Json, choices: &mut Choices<'_>) {
    let text = match choices.below(3) {
        0 => choices.one_of(&BODIES).to_owned(),
        _ => charge(choices),
    };
    let (text, flag) = match choices.below(8) {
        0 | 1 => (STANDARD.encode(text), Json::Bool(true)),
        2 => (text, Json::Bool(true)),
        3 => (STANDARD.encode(text).replace('=', ""), Json::Bool(true)),
        4 => (text, Json::String("true".into())),
        5 => (text, Json::Null),
        _ => (text, Json::Bool(false)),
    };
    *event.make(&["body"]) = Json::String(text);
    *event.make(&["isBase64Encoded"]) = flag;
    if choices.once_in(4) {
        remove_header(event, "content-type");
        let types =
            ["application/json", "application/problem+json", "text/plain", "application/json;;charset", "/", ""];
        let value = choices.one_of(&types).to_owned();
        add_header(event, "content-type", value, choices);
    }
}

fn request_line(event: &mut Json, choices: &mut Choices<'_>) {
    let value = choices.one_of(&ODD).to_owned();
    let names = ["path", "rawPath", "rawQueryString", "resource", "host", "x-forwarded-proto", "queries", "stage"];
    match choices.one_of(&names) {
        name @ ("host" | "x-forwarded-proto") => {
            remove_header(event, name);
            add_header(event, name, value, choices);
        }
        "queries" => {
            let one = Json::Object(vec![(value.clone(), Json::String(value.clone()))]);
            let many = Json::Object(vec![(value.clone(), Json::Array(vec![Json::String(value)]))]);
            *event.make(&["queryStringParameters"]) = one;
            *event.make(&["multiValueQueryStringParameters"]) = many;
        }
        "stage" => *event.make(&["requestContext", "stage"]) = Json::String(value),
        name @ ("path" | "rawPath") => *event.make(&[name]) = Json::String(format!("/charges/{value}")),
        name => *event.make(&[name]) = Json::String(value),
    }
}

/// Changes any value of the event.
pub(crate) fn anywhere(event: &mut Json, choices: &mut Choices<'_>) {
    let number = choices.below(event.count());
    let Some(value) = event.nth(number) else { return };
    match choices.below(10) {
        0 => *value = Json::Null,
        1 => *value = Json::String(choices.one_of(&ODD).to_owned()),
        2 => *value = Json::Number(choices.one_of(&NUMBERS).to_owned()),
        3 => *value = Json::Bool(choices.once_in(2)),
        4 => *value = Json::Array(vec![value.clone()]),
        5 => *value = Json::Object(vec![(choices.one_of(&ODD).to_owned(), value.clone())]),
        6 => *value = (0..choices.one_of(&[3, 120, 200])).fold(Json::Null, |inner, _| Json::Array(vec![inner])),
        _ => members(value, choices),
    }
}

/// Removes, repeats or renames a member, or splices something into a text.
fn members(value: &mut Json, choices: &mut Choices<'_>) {
    match value {
        Json::Object(members) if !members.is_empty() => {
            let index = choices.below(members.len());
            match choices.below(4) {
                0 => drop(members.remove(index)),
                1 => {
                    let (name, value) = members[index].clone();
                    members.push((name, value));
                }
                2 => {
                    let (name, _) = members[index].clone();
                    members.push((name.to_ascii_uppercase(), Json::String(choices.one_of(&ODD).to_owned())));
                }
                _ => members[index].0 = choices.one_of(&ODD).to_owned(),
            }
        }
        Json::String(text) => {
            let at = text.char_indices().map(|(at, _)| at).nth(choices.below(text.len().max(1))).unwrap_or_default();
            text.insert_str(at, choices.one_of(&ODD));
        }
        _ => {}
    }
}

fn remove_header(event: &mut Json, name: &str) {
    for map in ["headers", "multiValueHeaders"] {
        if event.get(map).is_none() {
            continue;
        }
        if let Json::Object(members) = event.make(&[map]) {
            members.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        }
    }
}

/// Adds a header where the event has headers, in one map or in both.
fn add_header(event: &mut Json, name: &str, value: String, choices: &mut Choices<'_>) {
    let only = choices.below(6);
    for (index, map) in ["headers", "multiValueHeaders"].into_iter().enumerate() {
        if only == index || event.get(map).is_none() {
            continue;
        }
        let value = Json::String(value.clone());
        if let Json::Object(members) = event.make(&[map]) {
            let value = if map == "headers" { value } else { Json::Array(vec![value]) };
            members.push((name.to_owned(), value));
        }
    }
}
