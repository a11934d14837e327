//! Values and failures on their way into the record and out of it.

use bytes::Bytes;
use idempotency_core::{Outcome, Replay};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Done, Error, Failed};

/// A value that can be stored and replayed: anything that implements [`Serialize`] and
/// [`DeserializeOwned`](serde::de::DeserializeOwned), by its JSON.
///
/// The value that comes back must be the one that went in: what serde leaves out is missing in the first caller's value too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored and replayed",
    label = "this value must implement `serde::Serialize` and `serde::Deserialize` for any lifetime",
    note = "duplicates get the stored value, so it is written as JSON and read again; derive both for a type of your own, which must own its data"
)]
pub trait Storable: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Storable for T {}

/// The head of a stored outcome: one line of JSON, before the JSON of the value or failure.
#[derive(Serialize, Deserialize)]
struct Head {
    v: u8,
    result: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Value,
    Failure,
    Omitted,
}

/// What a failure says of which nothing else can be read.
const FORGOTTEN: &str = "the operation failed for good in an earlier call, and what it said cannot be read";

/// The version of the stored form.
const VERSION: u8 = 1;

/// What to store of a value, and the value as a replay will have it. A value that cannot be written, or not be read again,
/// must not lose the record: the first caller gets it as it is, and replays say that it is missing.
pub(super) fn value<R: Storable>(value: R) -> (R, Outcome) {
    let json = match serde_json::to_vec(&value) {
        Ok(json) => json,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the value cannot be written as JSON, replays will lack it"
            );
            return (value, omitted());
        }
    };
    match serde_json::from_slice(&json) {
        Ok(read) => (read, Outcome::new(encode(Kind::Value, &json)).or_reduced(encode(Kind::Omitted, &[]))),
        Err(error) => {
            log_misfit(&error, "the value cannot be read again from its JSON, replays will lack it");
            (value, omitted())
        }
    }
}

/// What to store of a failure: the whole, or the message alone if the whole cannot be stored.
pub(super) fn failure(failed: &Failed) -> Outcome {
    // Texts and JSON cannot fail to be JSON.
    let json = |failed: &Failed| encode(Kind::Failure, &serde_json::to_vec(failed).unwrap_or_default());
    Outcome::new(json(failed)).or_reduced(json(&Failed::new(failed.message())))
}

/// What a stored outcome says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StoredOutcome {
    /// The function gave this value.
    Value(Value),
    /// It failed for good.
    Failure(Failed),
    /// It gave a value that could not be stored.
    Omitted,
}

/// What a function stores of a value, for whoever says in its place what became of a call: its later calls get this value.
///
/// ```
/// use lambda_idempotency::function::{StoredOutcome, read_stored};
///
/// let stored = b"{\"v\":1,\"result\":\"value\"}\n[1]";
/// assert_eq!(read_stored(stored), Some(StoredOutcome::Value(serde_json::json!([1]))));
/// ```
pub fn stored_value(value: &Value) -> Outcome {
    stored_json(&value.to_string())
}

/// The same of a value that is JSON already.
pub(crate) fn stored_json(json: &str) -> Outcome {
    Outcome::new(encode(Kind::Value, json.as_bytes())).or_reduced(encode(Kind::Omitted, &[]))
}

/// The same of a failure for good.
pub fn stored_failure(failed: &Failed) -> Outcome {
    failure(failed)
}

/// Reads what a function has stored; `None` when the bytes are none that this version wrote.
pub fn read_stored(stored: &[u8]) -> Option<StoredOutcome> {
    let (head, json) = decode(stored)?;
    Some(match head.result {
        Kind::Value => StoredOutcome::Value(serde_json::from_slice(json).ok()?),
        Kind::Failure => StoredOutcome::Failure(serde_json::from_slice(json).ok()?),
        Kind::Omitted => StoredOutcome::Omitted,
    })
}

/// What a later call gets.
pub(super) fn replay<R: Storable, E>(replay: &Replay) -> Result<Done<R>, Error<E>> {
    // A failure stays one, whatever has become of what it said.
    let or_failed = |error| if replay.is_failure() { Error::Failed(Failed::new(FORGOTTEN)) } else { error };
    let Some(stored) = replay.body() else { return Err(or_failed(Error::ResultOmitted)) };
    let Some((head, json)) = decode(stored) else {
        tracing::error!("the stored result has a form that this version does not know");
        return Err(or_failed(Error::ResultUnreadable));
    };
    let misfit = |error: serde_json::Error| {
        log_misfit(&error, "the stored result does not fit the function's type");
        Error::ResultUnreadable
    };
    match head.result {
        Kind::Value => serde_json::from_slice(json).map(Done::before).map_err(misfit),
        Kind::Failure => Err(serde_json::from_slice(json).map_or_else(|error| or_failed(misfit(error)), Error::Failed)),
        Kind::Omitted => Err(Error::ResultOmitted),
    }
}

fn omitted() -> Outcome {
    Outcome::new(encode(Kind::Omitted, &[]))
}

fn encode(result: Kind, json: &[u8]) -> Bytes {
    // A head of words and numbers cannot fail to be JSON.
    let mut bytes = serde_json::to_vec(&Head { v: VERSION, result }).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(json);
    bytes.into()
}

fn decode(stored: &[u8]) -> Option<(Head, &[u8])> {
    let end = stored.iter().position(|byte| *byte == b'\n')?;
    let (head, json) = stored.split_at(end);
    let (head, json): (Head, _) = (serde_json::from_slice(head).ok()?, json.get(1..)?);
    (head.v == VERSION).then_some((head, json))
}

/// serde's messages repeat the value that does not fit, and stored values do not belong into logs.
fn log_misfit(error: &serde_json::Error, what: &str) {
    tracing::error!(line = error.line(), column = error.column(), kind = ?error.classify(), "{what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_never_changes() {
        // Results that are stored must stay readable.
        assert_eq!(encode(Kind::Value, b"[1]"), &b"{\"v\":1,\"result\":\"value\"}\n[1]"[..]);
        assert_eq!(encode(Kind::Omitted, b""), &b"{\"v\":1,\"result\":\"omitted\"}\n"[..]);
        let failed = Failed::new("never").with_data(serde_json::json!(7));
        let stored = Outcome::new(&b"{\"v\":1,\"result\":\"failure\"}\n{\"message\":\"never\",\"data\":7}"[..])
            .or_reduced(&b"{\"v\":1,\"result\":\"failure\"}\n{\"message\":\"never\"}"[..]);
        assert_eq!(failure(&failed), stored);
    }

    #[test]
    fn foreign_bytes_are_no_result() {
        for bytes in
            [&b""[..], b"no newline", b"{}\n", b"{\"v\":2,\"result\":\"value\"}\n1", b"{\"v\":1,\"result\":\"x\"}\n1"]
        {
            assert!(decode(bytes).is_none(), "{bytes:?}");
        }
    }
}
