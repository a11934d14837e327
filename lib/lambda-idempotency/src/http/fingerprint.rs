//! What makes an HTTP request this request.

use http::{HeaderMap, header::CONTENT_TYPE};
use idempotency_core::{Fingerprint, JsonPointer};
use lambda_http::{Request, RequestExt};

/// The fingerprint over method, path, query and body. A JSON body counts in its canonical form, any other as the decoded
/// bytes. `excluded` are the places of a JSON body that do not count.
pub(crate) fn fingerprint(request: &Request, excluded: &[JsonPointer]) -> Fingerprint {
    let builder = Fingerprint::builder()
        .bytes("method", request.method().as_str().as_bytes())
        .bytes("path", path(request).as_bytes());
    let builder = query(request).into_iter().fold(builder, |builder, (name, value)| {
        builder.bytes("query name", name.as_bytes()).bytes("query value", value.as_bytes())
    });
    let body = request.body().as_ref();
    match is_json(request.headers()) {
        true => builder.json_without("body", body, excluded).finish(),
        false => builder.bytes("body", body).finish(),
    }
}

/// The path as the platform received it. The URI's path will not do where there is another: the URI is parsed anew from text,
/// and a decoded `#` or `?`, or dot segments, make different paths one.
pub(super) fn path(request: &Request) -> &str {
    match request.raw_http_path() {
        "" => request.uri().path(),
        path => path,
    }
}

/// The query's pairs, ordered by name: REST APIs and load balancers deliver a map without order. Values of one name keep
/// theirs.
pub(super) fn query(request: &Request) -> Vec<(String, String)> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut pairs: Vec<_> = match request.query_string_parameters_ref() {
        Some(parameters) => parameters.iter().map(owned).collect(),
        None => {
            let pairs = request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
            pairs.map(|pair| owned(pair.split_once('=').unwrap_or((pair, "")))).collect()
        }
    };
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    pairs
}

/// Whether the body is JSON by its content type (`application/json` or a `+json` suffix, RFC 6839). A body without a content
/// type is tried as JSON, because handlers read it as such too.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(CONTENT_TYPE) else { return true };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.to_ascii_lowercase().ends_with("+json")
}

#[cfg(test)]
mod tests {
    use lambda_http::{Body, http, request::from_str};

    use super::*;

    fn request(method: &str, uri: &str, content_type: &str, body: &str) -> Request {
        http::Request::builder()
            .method(method)
            .uri(uri)
            .header(CONTENT_TYPE, content_type)
            .body(Body::from(body))
            .unwrap()
    }

    fn of(method: &str, uri: &str, content_type: &str, body: &str) -> Fingerprint {
        fingerprint(&request(method, uri, content_type, body), &[])
    }

    #[test]
    fn spelling_of_json_and_order_of_query_names_do_not_count() {
        let json = "application/json; charset=utf-8";
        assert_eq!(of("POST", "/c", json, r#"{"a":1,"b":2}"#), of("POST", "/c", json, "{ \"b\": 2.0, \"a\": 1 }"));
        assert_eq!(of("POST", "/c?a=1&b=2", json, "1"), of("POST", "/c?b=2&a=1", json, "1"));
        assert_ne!(of("POST", "/c?a=1&a=2", json, "1"), of("POST", "/c?a=2&a=1", json, "1"));
    }

    #[test]
    fn the_order_of_a_rest_apis_query_map_does_not_count() {
        // `lambda_http` builds the URI out of a hash map; a few tries would meet another order.
        let event = r#"{"resource":"/c","path":"/c","httpMethod":"POST","headers":{},"multiValueHeaders":{},
            "multiValueQueryStringParameters":{"a":["1","2"],"b":["3"],"c":["4"],"d":["5"]},
            "requestContext":{"httpMethod":"POST","stage":"prod"},"body":"{}","isBase64Encoded":false}"#;
        let first = fingerprint(&from_str(event).unwrap(), &[]);
        assert!((0..20).all(|_| fingerprint(&from_str(event).unwrap(), &[]) == first));
    }

    #[test]
    fn a_path_counts_as_the_platform_received_it() {
        let event = |raw_path: &str, query: &str| {
            let event = format!(
                r#"{{"version":"2.0","rawPath":"{raw_path}","rawQueryString":"{query}","headers":{{}},
                "requestContext":{{"http":{{"method":"POST","path":"/"}},"stage":"$default"}},"isBase64Encoded":false}}"#
            );
            fingerprint(&from_str(&event).unwrap(), &[])
        };
        let all = [
            event("/files/a", ""),
            event("/files/a#1", ""),
            event("/files/a#2", ""),
            event("/files/a#2", "z=1"),
            event("/files/a?z=1", ""),
            event("/files/x/../a", ""),
            event("/files/a/", ""),
            event("/files/a", "z=1"),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn excluded_members_do_not_count_in_json_bodies_only() {
        let excluded = [JsonPointer::declare("/sent_at")];
        let of = |content_type, body| fingerprint(&request("POST", "/c", content_type, body), &excluded);
        let (a, b) = (r#"{"a":1,"sent_at":1}"#, r#"{"sent_at":2,"a":1}"#);
        for json in ["application/json", "application/vnd.api+json; charset=utf-8"] {
            assert_eq!(of(json, a), of(json, b));
            assert_eq!(of(json, a), of(json, r#"{"a":1}"#));
            assert_ne!(of(json, a), of(json, r#"{"a":2,"sent_at":1}"#));
        }
        assert_ne!(of("text/plain", a), of("text/plain", b));
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Keys in flight during an upgrade must keep their fingerprint: these values are a promise of schema 1.
        let json = "application/json";
        let stored = [
            of("POST", "/charges?b=2&a=1&a=x%20y", json, r#"{"b": 1.0, "a": "\u0078"}"#),
            of("PATCH", "/charges", "text/plain", "a=1"),
            of("POST", "/charges", json, r#"{"a":1,"a":2}"#),
            of("POST", "/charges", json, ""),
        ]
        .map(|fingerprint| format!("{fingerprint:?}"));
        let expected = [
            "KeXIxOwbokf7-3dTQC9nQcdP5jKd5CeWjjH0ZvLXM0c",
            "akzNTqFcjiG0B6FvQ8jh-3jFpSTzAQX0q5B8-PUSD3I",
            "0qW82Q0HtRbxf82U9_bYC-FFgntD63Ks6vIMD5TkkWA",
            "gWcCkFhSV60QvF6HGeqtTUbvsbMPN2TNYALx77SQr3w",
        ];
        assert_eq!(stored, expected.map(|hash| format!("Fingerprint({hash})")));
    }

    #[test]
    fn method_path_query_and_body_count() {
        let all = [
            of("POST", "/c", "application/json", "{}"),
            of("PATCH", "/c", "application/json", "{}"),
            of("POST", "/d", "application/json", "{}"),
            of("POST", "/c?a=1", "application/json", "{}"),
            of("POST", "/c", "application/json", "[]"),
            of("POST", "/c", "text/plain", "{}"),
            of("POST", "/c", "text/plain", "{ }"),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
    }
}
