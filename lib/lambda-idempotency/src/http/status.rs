//! The status resource of a request that is being carried out: `GET {path}/idempotency/{operation}/{key}`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderValue, Method, header::CACHE_CONTROL};
use idempotency_core::{IdempotencyKey, LookedUp, RecordKey, Store};
use lambda_http::Request;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{
    HttpOperation, Reply, answers,
    fingerprint::{path, query},
    operation::route,
    run::deadline,
};
use crate::{Idempotency, Mode};

/// The segment before operation and key.
const SEGMENT: &str = "idempotency";

/// Before a key that is not written as it is. No such key begins with it.
const ENCODED: char = '~';

/// Query parameters that say which request is meant, where its method or path is not the usual one.
const METHOD: &str = "method";
const SLASH: &str = "slash";

/// What cannot stand in a path segment (RFC 3986 section 3.3: a `pchar` is unreserved, a sub-delimiter, `:` or `@`).
const NO_PCHAR: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'/')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'\\');

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
    let mut reply = answer(idempotency, operation, request, prefix, &key).await;
    // One caller's result is nothing for a cache, and "in flight" is true for a moment.
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Some(reply)
}

async fn answer<S: Store>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: &Request,
    prefix: &str,
    key: &IdempotencyKey,
) -> Reply {
    let scope = match operation.scope.scope(request) {
        Ok(scope) => scope,
        Err(problem) => return problem.into_response().into(),
    };
    let Some(route) = route_asked_for(operation, request, prefix) else { return answers::no_result() };
    // Nothing is in flight by this table where it is not used.
    if idempotency.mode() == Mode::Off {
        return answers::no_result();
    }
    // What another region did may not have come here yet.
    if let Err(not_home) = idempotency.engine().at_home(&scope) {
        return answers::misdirected(&not_home);
    }
    let record = RecordKey::new(idempotency.namespace(), &operation.operation.on_route(route), &scope, key);
    let deadline = deadline(idempotency, operation, request);
    match idempotency.engine().look_up(&record, deadline, &operation.policy).await {
        Ok(LookedUp::Nothing) => answers::no_result(),
        Ok(LookedUp::Ended(replay)) => answers::replayed(replay),
        Ok(LookedUp::InFlight { retry_after }) => answers::in_progress(retry_after),
        Ok(LookedUp::Uncertain) => answers::uncertain(),
        Ok(LookedUp::Stuck) => answers::stuck(),
        Err(error) => answers::not_found_out(&error),
    }
}

/// Which route's result is asked for: that of the first protected method and the path as it is, if the query says nothing else.
fn route_asked_for(operation: &HttpOperation, request: &Request, prefix: &str) -> Option<String> {
    let query = query(request);
    let said = |name: &str| query.iter().find(|(said, _)| said == name).map(|(_, value)| value.as_str());
    let method = match said(METHOD) {
        Some(method) => Method::from_bytes(method.as_bytes()).ok().filter(|method| operation.protects(method))?,
        None => operation.first_method()?.clone(),
    };
    let slash = if said(SLASH).is_some() { "/" } else { "" };
    Some(route(&method, &format!("{prefix}{slash}")))
}

/// The reference to the status resource of a request, relative to the request's own URI (RFC 3986 section 5.2), so that it
/// is right behind stages and path mappings that the function does not see. `None` for a path that no relative reference leads
/// back to.
pub(super) fn location(method: &Method, path: &str, operation: &HttpOperation, key: &IdempotencyKey) -> Option<String> {
    let last = path.rsplit('/').next().unwrap_or_default();
    if matches!(last, "." | "..") {
        return None;
    }
    let slash = if last.is_empty() { "" } else { "/" };
    let mut query = String::new();
    if operation.first_method() != Some(method) {
        query = format!("?{METHOD}={method}");
    }
    if last.is_empty() {
        query += if query.is_empty() { "?" } else { "&" };
        query += &format!("{SLASH}=1");
    }
    // `./` keeps a colon in the segment from being read as a scheme.
    let (last, name, key) = (segment(last), operation.operation.name(), written(key));
    Some(format!("./{last}{slash}{SEGMENT}/{name}/{key}{query}"))
}

/// A path segment as it may stand in a reference. Some platforms deliver paths decoded and others do not, so what is escaped
/// already stays, and what cannot stand there is escaped.
fn segment(segment: &str) -> String {
    let mut written = String::new();
    for (index, piece) in segment.split('%').enumerate() {
        if index > 0 {
            let escape = piece.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
            written += if escape { "%" } else { "%25" };
        }
        written.extend(utf8_percent_encode(piece, NO_PCHAR));
    }
    written
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
    // Some clients escape the tilde, and some platforms leave it so.
    let encoded = [ENCODED.to_string().as_str(), "%7E", "%7e"].into_iter().find_map(|mark| segment.strip_prefix(mark));
    let key = match encoded {
        Some(encoded) => String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()?,
        None => segment.to_owned(),
    };
    IdempotencyKey::new(key).ok()
}

/// The path of the request that is asked about, and its key, if `path` is a status resource of this operation.
fn asked_for<'a>(path: &'a str, operation: &str) -> Option<(&'a str, IdempotencyKey)> {
    let (rest, key) = path.rsplit_once('/')?;
    let prefix = rest.strip_suffix(operation)?.strip_suffix('/')?.strip_suffix(SEGMENT)?.strip_suffix('/')?;
    Some((prefix, read(key)?))
}

#[cfg(test)]
mod tests {
    use idempotency_core::Operation;

    use super::*;
    use crate::http::scope;

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

    fn operation() -> HttpOperation {
        HttpOperation::new(Operation::declare("create-charge", 1), scope::none())
    }

    /// Resolution by RFC 3986 section 5.2.3: what follows the last slash of the base is replaced.
    fn resolve(path: &str, location: &str) -> String {
        let (parent, _) = path.rsplit_once('/').unwrap();
        format!("{parent}/{}", location.strip_prefix("./").unwrap())
    }

    #[test]
    fn a_location_leads_back_to_the_route_of_its_request_and_to_no_other() {
        let mut seen = Vec::new();
        for method in [Method::POST, Method::PATCH] {
            for path in ["/charges", "/charges/", "/v1/charges", "/a:b", "/", "//", "/%41"] {
                let location = location(&method, path, &operation(), &key("k")).unwrap();
                let uri = resolve(path, &location);
                let asked = http::Request::get(&uri).body(lambda_http::Body::Empty).unwrap();
                let (prefix, read) = asked_for(asked.uri().path(), "create-charge").unwrap();
                assert_eq!(read, key("k"));
                assert_eq!(route_asked_for(&operation(), &asked, prefix), Some(route(&method, path)), "{uri}");
                assert!(!seen.contains(&uri), "{uri}");
                seen.push(uri);
            }
        }
        assert_eq!(
            seen.first().map(String::as_str),
            Some("/charges/idempotency/create-charge/k"),
            "the usual one is plain"
        );
    }

    #[test]
    fn a_location_is_a_valid_reference_whatever_the_platform_decoded() {
        for (path, written) in [
            ("/v1/a#b", "./a%23b/"),
            ("/v1/a?b", "./a%3Fb/"),
            ("/v1/a b", "./a%20b/"),
            ("/v1/100%", "./100%25/"),
            ("/v1/%2f", "./%2f/"),
            ("/v1/k\u{e4}se", "./k%C3%A4se/"),
            ("/v1/a\r\nb", "./a%0D%0Ab/"),
        ] {
            let location = location(&Method::POST, path, &operation(), &key("k")).unwrap();
            assert!(location.starts_with(written), "{location}");
            assert!(http::HeaderValue::try_from(&location).is_ok() && location.is_ascii(), "{location}");
        }
        for path in ["/v1/..", "/."] {
            assert_eq!(location(&Method::POST, path, &operation(), &key("k")), None);
        }
    }

    #[test]
    fn an_unknown_or_unprotected_method_asks_for_nothing() {
        for query in ["?method=GET", "?method=%20", "?method="] {
            let uri = format!("/charges/idempotency/create-charge/k{query}");
            let asked = http::Request::get(uri).body(lambda_http::Body::Empty).unwrap();
            assert_eq!(route_asked_for(&operation(), &asked, "/charges"), None, "{query}");
        }
    }

    #[test]
    fn other_paths_are_no_status_resource() {
        for path in [
            "/charges",
            "/charges/ch_1",
            "/charges/idempotency/other/k",
            "/charges/xidempotency/create-charge/k",
            "/charges/idempotency/create-charge/",
            "",
        ] {
            assert!(asked_for(path, "create-charge").is_none(), "{path}");
        }
        assert_eq!(read("%7EYS9i"), read("~YS9i"));
    }
}
