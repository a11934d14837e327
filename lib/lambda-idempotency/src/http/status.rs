//! The status resource of a request that is being carried out: `GET {path}/idempotency/{operation}/{key}`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::Method;
use idempotency_core::{IdempotencyKey, LookedUp, RecordKey, Store};
use lambda_http::Request;

use super::{HttpOperation, Reply, answers, fingerprint::path, run::deadline};
use crate::Idempotency;

/// The segment before operation and key.
const SEGMENT: &str = "idempotency";

/// Before a key that is not written as it is. No such key begins with it.
const ENCODED: char = '~';

/// Answers the status resource of an operation: 202 and `Retry-After` while a request is being carried out, its stored
/// response when it is done, 404 when there is neither. `None` when the request is for something else.
///
/// The caller's scope is read as for the operation itself, so that nobody sees another tenant's response. [`run`](super::run)
/// does this by itself for operations with [`InFlight::Accepted`](super::InFlight::Accepted); call it where such a route leads
/// to another handler.
///
/// Dropping the future changes nothing.
///
/// ```
/// # use lambda_http::{Body, Error, http};
/// # use lambda_idempotency::{Idempotency, Namespace, Operation, http::{HttpOperation, scope, status}};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let idempotency = Idempotency::new(idempotency_core::MemoryStore::default(), Namespace::new("dev")?);
/// let operation = HttpOperation::new(Operation::declare("create-order", 1), scope::none());
/// let request = http::Request::get("/orders/idempotency/create-order/k-1").body(Body::Empty)?;
/// let response = status(&idempotency, &operation, &request).await.ok_or("another resource")?;
/// assert_eq!(response.status(), 404);
/// # Ok(()) }
/// ```
pub async fn status<S: Store>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: &Request,
) -> Option<Reply> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let (prefix, key) = asked_for(path(request), operation.operation.name())?;
    let Some(key) = key else { return Some(answers::no_result()) };
    let scope = match operation.scope.scope(request) {
        Ok(scope) => scope,
        Err(problem) => return Some(problem.into_response().into()),
    };
    let deadline = deadline(idempotency, operation, request);
    for route in operation.routes(prefix) {
        let record = RecordKey::new(idempotency.namespace(), &operation.operation.on_route(route), &scope, &key);
        match idempotency.engine().look_up(&record, deadline, &operation.policy).await {
            Ok(LookedUp::Nothing) => {}
            Ok(LookedUp::Ended(replay)) => return Some(answers::replayed(replay)),
            Ok(LookedUp::InFlight { retry_after }) => return Some(answers::in_progress(retry_after)),
            Ok(LookedUp::Uncertain) => return Some(answers::uncertain()),
            Err(error) => return Some(answers::not_found_out(&error)),
        }
    }
    Some(answers::no_result())
}

/// The reference to the status resource of a request, relative to the request's own URI (RFC 3986 section 5.2), so that it
/// is right behind stages and path mappings that the function does not see.
pub(super) fn location(path: &str, operation: &str, key: &IdempotencyKey) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    let slash = if last.is_empty() { "" } else { "/" };
    // The path is shown as it came; what is not allowed in a reference would have been refused by the platform. `./` keeps a
    // colon in it from being read as a scheme.
    format!("./{last}{slash}{SEGMENT}/{operation}/{}", written(key))
}

/// A key as a path segment. Platforms decode percent signs in paths or do not, so nothing is left to decode: what is not plain
/// is written in base64url.
fn written(key: &IdempotencyKey) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let dots_only = key.as_str().bytes().all(|byte| byte == b'.');
    match key.as_str().bytes().all(plain) && !dots_only {
        true => key.as_str().to_owned(),
        false => format!("{ENCODED}{}", URL_SAFE_NO_PAD.encode(key.as_str())),
    }
}

/// The key of a path segment; `None` when there is no such key.
fn read(segment: &str) -> Option<IdempotencyKey> {
    let key = match segment.strip_prefix(ENCODED) {
        Some(encoded) => String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()?,
        None => segment.to_owned(),
    };
    IdempotencyKey::new(key).ok()
}

/// The path of the request that is asked about, and its key, if `path` is a status resource of this operation.
fn asked_for<'a>(path: &'a str, operation: &str) -> Option<(&'a str, Option<IdempotencyKey>)> {
    let (rest, key) = path.rsplit_once('/')?;
    let prefix = rest.strip_suffix(operation)?.strip_suffix('/')?.strip_suffix(SEGMENT)?.strip_suffix('/')?;
    Some((prefix, read(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> IdempotencyKey {
        IdempotencyKey::new(key).unwrap()
    }

    #[test]
    fn every_key_survives_its_way_through_a_path() {
        let longest = "k/%".repeat(85);
        for text in ["8f1e0c1e-a", "a/b", "%41", "~a", ".", "..", "a.b", "?#", "a~", "+", longest.as_str()] {
            let written = written(&key(text));
            assert!(!written.contains(['/', '%', '?', '#', '+']) && written != "." && written != "..", "{written}");
            assert_eq!(read(&written), Some(key(text)));
        }
        assert_eq!(written(&key("8f1e0c1e-a")), "8f1e0c1e-a", "the usual key is readable");
    }

    #[test]
    fn a_location_leads_back_to_the_path_of_its_request() {
        for (path, resolved) in [
            ("/charges", "/charges/idempotency/create-charge/k"),
            ("/v1/charges", "/v1/charges/idempotency/create-charge/k"),
            ("/a:b", "/a:b/idempotency/create-charge/k"),
            ("/charges/", "/charges/idempotency/create-charge/k"),
            ("/", "/idempotency/create-charge/k"),
        ] {
            let location = location(path, "create-charge", &key("k"));
            // Resolution by RFC 3986 section 5.2.3: what follows the last slash of the base is replaced.
            let (parent, _) = path.rsplit_once('/').unwrap();
            assert_eq!(format!("{parent}/{}", location.strip_prefix("./").unwrap()), resolved);
            let (prefix, read) = asked_for(resolved, "create-charge").unwrap();
            assert!(prefix == path || format!("{prefix}/") == path, "{prefix}");
            assert_eq!(read, Some(key("k")));
        }
    }

    #[test]
    fn other_paths_are_no_status_resource() {
        for path in
            ["/charges", "/charges/ch_1", "/charges/idempotency/other/k", "/charges/xidempotency/create-charge/k", ""]
        {
            assert!(asked_for(path, "create-charge").is_none(), "{path}");
        }
        assert_eq!(asked_for("/charges/idempotency/create-charge/", "create-charge"), Some(("/charges", None)));
    }
}
