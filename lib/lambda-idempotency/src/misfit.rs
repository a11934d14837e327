//! What is wrong with JSON, in words that repeat none of it.

use std::fmt::Display;

/// Where JSON does not fit, and how: `customer.id: invalid type, expected a string`. `whole` names what has the JSON.
///
/// serde's messages name types, fields and positions; a message about a wrong value would also repeat the value, so only its
/// beginning is kept.
pub(crate) fn misfit(path: &str, error: &impl Display, whole: &str) -> String {
    let message = error.to_string();
    let detail = match message.split_once(": ") {
        Some((what, rest)) if what.starts_with("invalid ") => {
            let expected = rest.rsplit_once(", expected ").map_or("another one", |(_, expected)| expected);
            format!("{what}, expected {expected}")
        }
        _ => match ["unknown variant", "unknown field"].into_iter().find(|what| message.starts_with(what)) {
            // What is quoted next is the caller's own word; what follows says what is expected.
            Some(what) => {
                // The last one: the caller's word may have anything in it.
                let rest = ["`, expected ", "`, there are no "]
                    .into_iter()
                    .find_map(|end| message.rfind(end).and_then(|place| message.get(place + 3..)));
                rest.map_or_else(|| what.to_owned(), |rest| format!("{what}, {rest}"))
            }
            None => message,
        },
    };
    // The root, and a path that broke off.
    let path = if matches!(path, "." | "?") { whole } else { path };
    format!("{path}: {detail}")
}
