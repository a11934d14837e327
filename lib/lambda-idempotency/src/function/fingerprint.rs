//! What makes a call this call.

use std::cmp::Reverse;

use idempotency_core::{Fingerprint, JsonPointer};
use serde_json::Value;

/// The fingerprint of the arguments, a JSON object, without what stands at the excluded places.
///
/// Integers beyond 2^53 have no canonical form (RFC 8785 is about I-JSON), and then the text counts as it is. So the text is made
/// to be always the same for the same arguments: members are sorted, and the excluded places are left out before.
pub(super) fn fingerprint(mut arguments: Value, excluded: &[JsonPointer]) -> Fingerprint {
    exclude(&mut arguments, excluded);
    arguments.sort_all_objects();
    // A `Value` cannot fail to be JSON.
    let text = serde_json::to_vec(&arguments).unwrap_or_default();
    Fingerprint::builder().json("arguments", &text).finish()
}

/// Leaves out what stands at these places, each meant on the whole value.
fn exclude(arguments: &mut Value, excluded: &[JsonPointer]) {
    let mut places: Vec<_> = excluded.iter().filter_map(|pointer| pointer.as_str().rsplit_once('/')).collect();
    // Deeper places first, and later elements of an array first, so that what is left out moves nothing that still will be.
    places.sort_by_key(|(parent, step)| Reverse((parent.split('/').count(), *parent, index(step), *step)));
    places.dedup();
    for (parent, step) in places {
        match arguments.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.remove(&step.replace("~1", "/").replace("~0", "~"));
            }
            Some(Value::Array(elements)) if index(step).is_some_and(|index| index < elements.len()) => {
                index(step).map(|index| elements.remove(index));
            }
            _ => {}
        }
    }
}

/// Decimal digits without a leading zero (RFC 6901 section 4).
fn index(step: &str) -> Option<usize> {
    let digits = step.bytes().all(|byte| byte.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    digits.then(|| step.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn without(mut value: Value, places: &[&str]) -> Value {
        let places: Vec<_> = places.iter().map(|place| JsonPointer::new(*place).unwrap()).collect();
        exclude(&mut value, &places);
        value
    }

    #[test]
    fn the_fingerprint_of_a_call_never_changes() {
        // Records that are stored must stay comparable. The first is the hash of a canonical form, the second of a text.
        let of = |arguments| format!("{:?}", fingerprint(arguments, &[]));
        assert_eq!(of(json!({ "b": 1.0, "a": "x" })), "Fingerprint(GybzKEmhaZyqw-J2_adNinYXjh5ZvsefhzqguvIfV5k)");
        assert_eq!(
            of(json!({ "b": 9_007_199_254_740_993_u64, "a": "x" })),
            "Fingerprint(ilABwl2Dgua9rPgb5Gk-RNi7fzLrkHbx_NJ4FJg8-ks)"
        );
    }

    #[test]
    fn places_are_meant_on_the_whole_value() {
        let value = json!({ "a": [0, { "x": 1, "y": 2 }, 2, 3], "b": { "c/d": 1, "e~": 2 }, "n": 1 });
        for places in [
            vec!["/a/0", "/a/1/x", "/a/2", "/a/2", "/b/c~1d", "/b/e~0", "/none/x", "/a/01", "/a/-", "/a/9", "/n/x"],
            vec!["/b/e~0", "/a/2", "/b/c~1d", "/a/1/x", "/a/0"],
        ] {
            assert_eq!(without(value.clone(), &places), json!({ "a": [{ "y": 2 }, 3], "b": {}, "n": 1 }), "{places:?}");
        }
        assert_eq!(without(value.clone(), &["/a/10", "/a/1", "/a"]), json!({ "b": { "c/d": 1, "e~": 2 }, "n": 1 }));
    }

    #[test]
    fn places_are_excluded_beside_an_integer_that_has_no_canonical_form() {
        let of = |sent_at: u64, id: u64| {
            fingerprint(json!({ "sent_at": sent_at, "id": id }), &[JsonPointer::declare("/sent_at")])
        };
        assert_eq!(of(1, u64::MAX), of(2, u64::MAX));
        assert_ne!(of(1, u64::MAX), of(1, u64::MAX - 1));
    }
}
