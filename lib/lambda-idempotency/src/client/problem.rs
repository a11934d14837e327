//! This toolkit's problems as a caller reads them.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::http::ProblemType;

/// Before the names of this toolkit's problem types.
const URN: &str = "urn:problem-type:idempotency:";

/// The types that mean something else to a caller than their status does.
const KNOWN: [ProblemType; 6] = [
    ProblemType::Conflict,
    ProblemType::Mismatch,
    ProblemType::OutcomeUnknown,
    ProblemType::ResultUnreadable,
    ProblemType::CommitRefused,
    ProblemType::CompensationStuck,
];

#[derive(Deserialize)]
struct Members {
    #[serde(rename = "type")]
    kind: String,
}

/// Which of this toolkit's problems an answer is, if it is one that a caller needs to know.
pub(super) fn problem(headers: &HeaderMap, body: &[u8]) -> Option<ProblemType> {
    let media_type = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim();
    if !media_type.eq_ignore_ascii_case("application/problem+json") {
        return None;
    }
    let members: Members = serde_json::from_slice(body).ok()?;
    let name = members.kind.strip_prefix(URN)?;
    KNOWN.into_iter().find(|known| known.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Problem;

    #[test]
    fn what_the_callees_side_writes_is_read() {
        for known in KNOWN {
            let (parts, body) = Problem::new(known, "").into_response().into_parts();
            assert_eq!(problem(&parts.headers, &body), Some(known));
        }
        let (parts, body) = Problem::new(ProblemType::StoreUnavailable, "").into_response().into_parts();
        assert_eq!(problem(&parts.headers, &body), None, "its status says all");
    }

    #[test]
    fn what_others_write_is_none_of_these() {
        let read = |media_type: &str, body: &str| {
            problem(&[(CONTENT_TYPE, media_type.parse().unwrap())].into_iter().collect(), body.as_bytes())
        };
        let conflict = r#"{"type":"urn:problem-type:idempotency:conflict"}"#;
        assert_eq!(read("Application/Problem+JSON; charset=utf-8", conflict), Some(ProblemType::Conflict));
        assert_eq!(read("application/json", conflict), None);
        for body in ["", "[]", "{}", r#"{"type":7}"#, r#"{"type":"about:blank"}"#, r#"{"type":"conflict"}"#] {
            assert_eq!(read("application/problem+json", body), None, "{body}");
        }
    }
}
