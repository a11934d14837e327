//! What an answer means to who waits for a definite one.

use http::{HeaderMap, StatusCode, header::RETRY_AFTER};
use serde_json::{Value, json};

use super::{OtherConflict, problem::problem};
use crate::http::{IDEMPOTENT_REPLAYED, ProblemType};

/// What an answer means to who waits for a definite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is the answer, and stays it.
    Definite,
    /// The request is being carried out, or was a moment ago. No answer, and no failure.
    InFlight,
    /// Something failed that may not fail again.
    Transient,
    /// The key was used with another request. No repetition changes that.
    Mismatch,
    /// An attempt was lost and nobody knows whether it took effect. The callee stays with that.
    OutcomeUnknown,
    /// The same, but asking again may tell more.
    NotKnownYet,
    /// The request was carried out, and its answer cannot be read.
    ResultUnreadable,
    /// The request failed, and something that it had done before could not be undone. The callee stays with that.
    Stuck,
}

impl Meaning {
    /// What an answer to a request with a key means.
    pub(super) fn with_key(status: StatusCode, headers: &HeaderMap, body: &[u8], other: OtherConflict) -> Self {
        // A stored answer is the same for ever, whatever its status is.
        if headers.get(IDEMPOTENT_REPLAYED).is_some_and(|value| value == "true") {
            return Self::Definite;
        }
        match (status, problem(headers, body)) {
            (StatusCode::CONFLICT, Some(ProblemType::Conflict)) => Self::InFlight,
            (StatusCode::CONFLICT, _) => match other {
                OtherConflict::AskAgain => Self::InFlight,
                OtherConflict::Answer => Self::Definite,
            },
            (StatusCode::ACCEPTED, _) if is_in_flight(headers, body) => Self::InFlight,
            (StatusCode::UNPROCESSABLE_ENTITY, Some(ProblemType::Mismatch)) => Self::Mismatch,
            (_, Some(ProblemType::ResultUnreadable)) => Self::ResultUnreadable,
            (_, Some(ProblemType::CompensationStuck)) => Self::Stuck,
            (_, Some(ProblemType::CommitRefused)) => Self::Definite,
            // Where the callee can ask the outside world, it says when to come for what that says.
            (_, Some(ProblemType::OutcomeUnknown)) if headers.contains_key(RETRY_AFTER) => Self::NotKnownYet,
            (_, Some(ProblemType::OutcomeUnknown)) => Self::OutcomeUnknown,
            _ => Self::without_key(status),
        }
    }

    /// What the status alone means. An unknown one means what the first of its class does (RFC 9110 section 15).
    pub(super) fn without_key(status: StatusCode) -> Self {
        match status {
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => Self::Transient,
            StatusCode::NOT_IMPLEMENTED | StatusCode::HTTP_VERSION_NOT_SUPPORTED => Self::Definite,
            status if status.is_server_error() => Self::Transient,
            _ => Self::Definite,
        }
    }
}

/// What an operation with [`InFlight::Accepted`](crate::http::InFlight::Accepted) answers. An application's own answer that looks the
/// same is a replay when it comes again.
fn is_in_flight(headers: &HeaderMap, body: &[u8]) -> bool {
    let says_so = serde_json::from_slice::<Value>(body).is_ok_and(|body| body == json!({ "status": "in_flight" }));
    says_so && headers.contains_key(RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::http::Problem;

    const OTHER: OtherConflict = OtherConflict::AskAgain;

    fn of(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Meaning {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect();
        Meaning::with_key(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes(), OTHER)
    }

    fn of_problem(kind: ProblemType, retry_after: bool) -> Meaning {
        let problem = Problem::new(kind, "");
        let problem = if retry_after { problem.with_retry_after(std::time::Duration::from_secs(1)) } else { problem };
        let (parts, body) = problem.into_response().into_parts();
        Meaning::with_key(parts.status, &parts.headers, &body, OTHER)
    }

    #[test]
    fn a_status_alone() {
        for status in
            [200, 201, 202, 204, 301, 303, 304, 400, 401, 402, 403, 404, 405, 410, 412, 413, 421, 422, 451, 501, 505]
        {
            assert_eq!(of(status, &[], ""), Meaning::Definite, "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504, 507, 520, 599] {
            assert_eq!(of(status, &[], ""), Meaning::Transient, "{status}");
        }
    }

    #[test]
    fn a_conflict_is_an_answer_only_if_it_is_stored() {
        assert_eq!(of_problem(ProblemType::Conflict, true), Meaning::InFlight);
        assert_eq!(of_problem(ProblemType::Conflict, false), Meaning::InFlight);
        assert_eq!(of(409, &[], r#"{"error":"taken"}"#), Meaning::InFlight);
        assert_eq!(of(409, &[("idempotent-replayed", "false")], ""), Meaning::InFlight);
        assert_eq!(of(409, &[("idempotent-replayed", "true")], r#"{"error":"taken"}"#), Meaning::Definite);
    }

    #[test]
    fn an_unclear_conflict_is_an_answer_by_choice_and_a_clear_one_never() {
        let of = |headers: &HeaderMap, body: &[u8]| {
            Meaning::with_key(StatusCode::CONFLICT, headers, body, OtherConflict::Answer)
        };
        assert_eq!(of(&HeaderMap::new(), b"taken"), Meaning::Definite);
        let (parts, body) = Problem::new(ProblemType::Conflict, "").into_response().into_parts();
        assert_eq!(of(&parts.headers, &body), Meaning::InFlight);
    }

    #[test]
    fn accepted_is_in_flight_only_in_this_toolkits_words() {
        let (later, in_flight) = (("retry-after", "1"), r#"{"status":"in_flight"}"#);
        assert_eq!(of(202, &[later], in_flight), Meaning::InFlight);
        assert_eq!(of(202, &[], in_flight), Meaning::Definite);
        assert_eq!(of(202, &[later], r#"{"status":"in_flight","id":7}"#), Meaning::Definite);
        assert_eq!(of(202, &[later, ("idempotent-replayed", "true")], in_flight), Meaning::Definite);
        assert_eq!(of(200, &[later], in_flight), Meaning::Definite);
    }

    #[test]
    fn this_toolkits_problems() {
        assert_eq!(of_problem(ProblemType::Mismatch, false), Meaning::Mismatch);
        assert_eq!(of_problem(ProblemType::OutcomeUnknown, false), Meaning::OutcomeUnknown);
        assert_eq!(of_problem(ProblemType::OutcomeUnknown, true), Meaning::NotKnownYet);
        assert_eq!(of_problem(ProblemType::ResultUnreadable, false), Meaning::ResultUnreadable);
        assert_eq!(of_problem(ProblemType::CompensationStuck, false), Meaning::Stuck);
        for kind in
            [ProblemType::StoreUnavailable, ProblemType::Retryable, ProblemType::NotCommitted, ProblemType::Undoing]
        {
            assert_eq!(of_problem(kind, true), Meaning::Transient);
        }
        for kind in
            [ProblemType::KeyMissing, ProblemType::KeyInvalid, ProblemType::ScopeMissing, ProblemType::CommitRefused]
        {
            assert_eq!(of_problem(kind, false), Meaning::Definite);
        }
    }

    #[test]
    fn a_stored_answer_is_definite_whatever_its_status_is() {
        for status in [409, 422, 429, 500, 503] {
            assert_eq!(of(status, &[("idempotent-replayed", "true")], ""), Meaning::Definite, "{status}");
        }
    }
}
