//! The headers of a request on their way into an event, and what all kinds read from them.

use std::collections::BTreeMap;

use http::header::{CONNECTION, HOST, TRANSFER_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::ReceivedRequest;

/// Stands in for whom the front authenticated: see the [module's documentation](super).
const TENANT: HeaderName = HeaderName::from_static("x-tenant-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What the function sees: the client's headers without those of the connection, and what every front adds.
pub(super) fn forwarded(headers: &HeaderMap, received: &ReceivedRequest) -> HeaderMap {
    let mut forwarded = headers.clone();
    for name in [CONNECTION, TRANSFER_ENCODING, TENANT] {
        forwarded.remove(name);
    }
    // A client's own `x-forwarded-for` stays in front.
    let before = joined(headers).remove(FORWARDED_FOR.as_str()).map(|before| format!("{before}, ")).unwrap_or_default();
    let added = [
        (FORWARDED_FOR, format!("{before}{}", received.source_ip)),
        // For its clients the front is always HTTPS.
        (HeaderName::from_static("x-forwarded-port"), "443".to_owned()),
        (HeaderName::from_static("x-forwarded-proto"), "https".to_owned()),
        (HeaderName::from_static("x-amzn-trace-id"), received.trace_id()),
    ];
    for (name, value) in added {
        if let Ok(value) = HeaderValue::try_from(value) {
            forwarded.insert(name, value);
        }
    }
    forwarded
}

/// One value for each name: all of them, joined by commas.
pub(super) fn joined(headers: &HeaderMap) -> BTreeMap<String, String> {
    all(headers).into_iter().map(|(name, values)| (name, values.join(","))).collect()
}

/// One value for each name: the last.
pub(super) fn last(headers: &HeaderMap) -> BTreeMap<String, String> {
    all(headers).into_iter().filter_map(|(name, mut values)| Some((name, values.pop()?))).collect()
}

/// All values of each name, in order.
pub(super) fn all(headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
    let names = headers.keys();
    names.map(|name| (name.as_str().to_owned(), headers.get_all(name).iter().map(text).collect())).collect()
}

/// Whom the front authenticated.
pub(super) fn tenant(headers: &HeaderMap) -> Option<String> {
    headers.get(TENANT).map(text)
}

/// The first value of a header.
pub(super) fn first(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(text)
}

/// The host without its port.
pub(super) fn domain(headers: &HeaderMap) -> String {
    let host = first(headers, &HOST).unwrap_or_else(|| "localhost".to_owned());
    host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned()
}

pub(super) fn user_agent(headers: &HeaderMap) -> String {
    first(headers, &USER_AGENT).unwrap_or_default()
}

pub(super) fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use std::time::Duration;

    #[test]
    fn the_fronts_own_headers_are_added_and_the_connections_and_the_tenants_left_out() {
        let request = Request::get("/")
            .header("x-forwarded-for", "203.0.113.9")
            .header("connection", "close")
            .header("x-tenant-id", "t")
            .header("x-thing", "a")
            .header("x-thing", "b")
            .body(())
            .unwrap();
        let request_id = "5759e988-bd86-4e3f-b3e1-000000000000".to_owned();
        let received =
            ReceivedRequest { source_ip: [192, 0, 2, 1].into(), at: Duration::from_secs(1_466_362_246), request_id };

        let headers = forwarded(request.headers(), &received);

        assert_eq!(headers["x-forwarded-for"], "203.0.113.9, 192.0.2.1");
        assert_eq!(headers["x-forwarded-proto"], "https");
        assert_eq!(headers["x-amzn-trace-id"], "Root=1-5766e986-5759e988bd864e3fb3e10000");
        assert!(!headers.contains_key("connection") && !headers.contains_key("x-tenant-id"));
        assert_eq!(joined(&headers)["x-thing"], "a,b");
        assert_eq!(last(&headers)["x-thing"], "b");
        assert_eq!(all(&headers)["x-thing"], ["a", "b"]);
    }
}
