//! Which headers a replay has.

use http::{HeaderName, header};

/// A header that replays leave out unless the operation says otherwise ([`HttpOperation::replay_headers`]).
///
/// There is no way to replay hop-by-hop fields (RFC 9110 section 7.6.1) or the length: they belong to a connection.
///
/// [`HttpOperation::replay_headers`]: super::HttpOperation::replay_headers
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplayHeader {
    /// `Set-Cookie`. Whoever repeats the request gets the cookies of its first response: a session, if that is what they hold.
    /// Only allow it where the scope says who the caller is.
    SetCookie,
    /// `Date`, of the first response.
    Date,
}

impl ReplayHeader {
    const fn name(self) -> HeaderName {
        match self {
            Self::SetCookie => header::SET_COOKIE,
            Self::Date => header::DATE,
        }
    }
}

/// Hop-by-hop fields (RFC 9110 section 7.6.1), and the length, which the platform sets.
const OF_A_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
];

/// The date, and cookies, which may have been another session's.
const HELD_BACK: [HeaderName; 2] = [header::DATE, header::SET_COOKIE];

/// Which headers a replay has: what an operation chose.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplayedHeaders(Vec<HeaderName>);

impl ReplayedHeaders {
    pub(super) fn new(allowed: impl IntoIterator<Item = ReplayHeader>) -> Self {
        Self(allowed.into_iter().map(ReplayHeader::name).collect())
    }

    /// Whether a header belongs to one delivery only.
    pub(super) fn leave_out(&self, name: &HeaderName) -> bool {
        OF_A_CONNECTION.contains(name) || (HELD_BACK.contains(name) && !self.0.contains(name))
    }
}

/// Whether the values of a header must not be joined by commas: a cookie's attributes hold commas of their own (RFC 6265 section
/// 3).
pub(super) fn stay_apart(name: &HeaderName) -> bool {
    name == header::SET_COOKIE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_allows_a_header_of_a_connection() {
        let all = ReplayedHeaders::new([ReplayHeader::SetCookie, ReplayHeader::Date]);
        assert!(OF_A_CONNECTION.iter().all(|name| all.leave_out(name)));
        assert!(HELD_BACK.iter().all(|name| !all.leave_out(name)));
        assert!(HELD_BACK.iter().all(|name| ReplayedHeaders::default().leave_out(name)));
        assert!(!ReplayedHeaders::default().leave_out(&header::LOCATION));
    }
}
