//! Who may look and press: only the page itself. Another site in the same browser can send requests here, so loopback is no protection.
//!
//! - A site that lets its own name lead to 127.0.0.1 (DNS rebinding) sends that name as `Host`.
//! - A page of another origin says so in `Origin` and `Sec-Fetch-Site` (Fetch Standard; Fetch Metadata Request Headers), and it cannot
//!   send the token's header without asking first (a CORS preflight), which nothing here grants.
//! - The token is in the page's own document, which another origin cannot read, frame or embed.

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::CliError;

/// The header with the token.
pub(super) const TOKEN: HeaderName = HeaderName::from_static("x-page-token");

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What every answer says: nothing but the page's own files runs, it is in nobody's frame, and nothing is kept.
pub(super) const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The hosts that the page answers to, and its token.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: [String; 2],
    token: String,
}

impl Guard {
    pub(super) fn new(bound: SocketAddr) -> Result<Self, CliError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        let token = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { hosts: [bound.to_string(), format!("localhost:{}", bound.port())], token })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request is for this page, by whatever name.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        match text(headers, &header::HOST) {
            Some(host) if self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) => Ok(()),
            _ => Err((
                StatusCode::FORBIDDEN,
                "this is not the page's address: open the one that `idempotency local` printed",
            )),
        }
    }

    /// Whether a request for data, or to do something, comes from the page.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        self.check_host(headers)?;
        let host = text(headers, &header::HOST).unwrap_or_default();
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|of| of.eq_ignore_ascii_case(host));
        let foreign = headers.contains_key(header::ORIGIN) && !text(headers, &header::ORIGIN).is_some_and(own);
        let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
        if foreign || site.is_some_and(|site| site != b"same-origin") {
            return Err((StatusCode::FORBIDDEN, "only the page itself may do this"));
        }
        match text(headers, &TOKEN) == Some(self.token()) {
            true => Ok(()),
            false => Err((StatusCode::FORBIDDEN, "the token is missing, or of another run: load the page again")),
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host, the other headers, and whether they are the page's own.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], bool);

    #[test]
    fn only_the_page_itself_may_look_and_press() {
        let guard = Guard::new("127.0.0.1:4000".parse().unwrap()).unwrap();
        let token = guard.token();
        assert_eq!(token.len(), 32);
        let rows: [Row<'_>; 10] = [
            ("127.0.0.1:4000", &[("x-page-token", token)], true),
            ("localhost:4000", &[("x-page-token", token), ("origin", "http://localhost:4000")], true),
            ("127.0.0.1:4000", &[("x-page-token", token), ("sec-fetch-site", "same-origin")], true),
            ("127.0.0.1:4000", &[], false),
            ("127.0.0.1:4000", &[("x-page-token", "00")], false),
            ("evil.example:4000", &[("x-page-token", token)], false),
            ("127.0.0.1:4000", &[("x-page-token", token), ("origin", "http://evil.example")], false),
            ("127.0.0.1:4000", &[("x-page-token", token), ("origin", "null")], false),
            // Another port is another origin, and yet the same site.
            ("127.0.0.1:4000", &[("x-page-token", token), ("origin", "http://127.0.0.1:4001")], false),
            ("127.0.0.1:4000", &[("x-page-token", token), ("sec-fetch-site", "same-site")], false),
        ];
        for (host, others, is_own) in rows {
            let mut headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            headers.extend(others.iter().map(|(name, value)| {
                (HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse::<HeaderValue>().unwrap())
            }));
            assert_eq!(guard.check(&headers).is_ok(), is_own, "{host} {others:?}");
        }
        assert!(guard.check(&HeaderMap::new()).is_err());
    }
}
