//! What a handler takes, read before the key is claimed.

use http::Method;
use idempotency_core::Attempt;
use lambda_http::{Body, Request, Response};
use serde::de::DeserializeOwned;

use super::{HttpOperation, Problem, ProblemType};
use crate::misfit::misfit;

/// A request that is refused before its key is claimed. Nothing is stored.
pub type Rejection = Box<Response<Body>>;

/// A handler's argument, read from the request before the key is claimed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a request",
    label = "not a handler argument",
    note = "a handler takes arguments that implement `FromRequest` (`Json<T>`, `Request`), one `Attempt`, and references to shared state",
    note = "a function that is no HTTP handler says what identifies a call: `#[idempotent(…, key = [invoice.id])]`"
)]
pub trait FromRequest: Sized {
    /// Reads the argument.
    ///
    /// # Errors
    ///
    /// The response that refuses the request. It is not stored.
    fn from_request(request: &Request) -> Result<Self, Rejection>;
}

/// The whole request.
impl FromRequest for Request {
    fn from_request(request: &Request) -> Result<Self, Rejection> {
        Ok(request.clone())
    }
}

/// The body, read as JSON. A body that does not fit is answered 400 with the path to what is wrong; the answer repeats none
/// of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Json<T> {
    fn from_request(request: &Request) -> Result<Self, Rejection> {
        let mut deserializer = serde_json::Deserializer::from_slice(request.body().as_ref());
        let value = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| invalid(&error.path().to_string(), error.inner()))?;
        deserializer.end().map_err(|error| invalid(".", &error))?;
        Ok(Self(value))
    }
}

fn invalid(path: &str, error: &serde_json::Error) -> Rejection {
    let detail = misfit(path, error, "the body");
    Box::new(Problem::new(ProblemType::RequestInvalid, detail).into_response())
}

/// How a handler takes its [`Attempt`]: always, or only when the request's method is protected.
pub trait FromAttempt: Sized {
    /// Takes the attempt, if the request has one.
    ///
    /// # Errors
    ///
    /// The response that refuses the request.
    fn from_attempt(attempt: Option<Attempt>, operation: &HttpOperation, method: &Method) -> Result<Self, Rejection>;
}

/// The handler serves protected methods only; others are answered 405.
impl FromAttempt for Attempt {
    fn from_attempt(attempt: Option<Attempt>, operation: &HttpOperation, method: &Method) -> Result<Self, Rejection> {
        attempt.ok_or_else(|| {
            let detail = format!("{method} is not among the methods that this operation serves");
            Box::new(Problem::new(ProblemType::MethodNotAllowed, detail).with_allow(operation.allow()).into_response())
        })
    }
}

/// The handler serves other methods too, without an attempt.
impl FromAttempt for Option<Attempt> {
    fn from_attempt(attempt: Option<Attempt>, _: &HttpOperation, _: &Method) -> Result<Self, Rejection> {
        Ok(attempt)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Charge {
        amount: u32,
        customer: Customer,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Customer {
        id: String,
    }

    fn detail(body: &str) -> String {
        let request = lambda_http::http::Request::new(Body::from(body));
        let rejection = Json::<Charge>::from_request(&request).unwrap_err();
        assert_eq!(rejection.status(), 400);
        let problem: serde_json::Value = serde_json::from_slice(rejection.body()).unwrap();
        problem["detail"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_body_that_does_not_fit_is_refused_with_the_path() {
        assert!(
            detail(r#"{"amount":1,"customer":{"id":7}}"#).starts_with("customer.id: invalid type, expected a string")
        );
        assert!(detail(r#"{"amount":-1,"customer":{"id":"c"}}"#).starts_with("amount: invalid value, expected u32"));
        assert!(detail(r#"{"amount":1,"customer":{}}"#).starts_with("customer: missing field `id`"));
        assert!(detail(r#"{"amount":1,"customer":{"id":"c"},"tip":1}"#).starts_with("tip: unknown field, expected"));
        assert!(detail("").starts_with("the body: EOF"));
        assert!(detail("{").starts_with("the body: EOF"));
        assert!(detail(r#"{"amount":1,"customer":{"id":"c"}} x"#).starts_with("the body: trailing characters"));
    }

    #[test]
    fn the_answer_does_not_repeat_an_unknown_word() {
        #[derive(Debug, Deserialize)]
        enum Kind {
            Card,
        }
        let request = lambda_http::http::Request::new(Body::from(r#""4111111111111111""#));
        let rejection = Json::<Kind>::from_request(&request).unwrap_err();
        let text = str::from_utf8(rejection.body().as_ref()).unwrap().to_owned();
        assert!(!text.contains("4111") && text.contains("unknown variant, expected `Card`"), "{text}");
    }

    #[test]
    fn the_answer_does_not_repeat_the_value() {
        assert!(!detail(r#"{"amount":"4111111111111111","customer":{"id":"c"}}"#).contains("4111"));
    }
}
