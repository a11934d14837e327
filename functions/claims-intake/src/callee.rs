//! A service that is called over HTTP.

use std::time::Duration;

use lambda_idempotency::{Attempt, IdempotencyKey, propagation::http_header};
use lambda_runtime::Error;
use reqwest::{Client, Response, StatusCode, Url, redirect::Policy};
use serde::Serialize;

/// The longest wait for an answer where the platform sets no nearer limit.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// What is kept of the invocation's time for what comes behind a call.
const RESERVE: Duration = Duration::from_secs(1);

/// Something that takes JSON by POST. Connections are kept between invocations.
pub(crate) struct Callee {
    http: Client,
    url: Url,
}

/// Why there is no usable answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The request never left.
    #[error("it cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// There was no time left to ask.
    #[error("no time is left to ask it")]
    NoTime,
    /// It was turned away before anything was done: too many requests, our credentials, our configuration.
    #[error("it turned the request away with status {0}")]
    NotNow(StatusCode),
    /// It is about this request, and the same each time.
    #[error("it refuses the request with status {0}")]
    Refused(StatusCode),
    /// The request left and no usable answer came: it may have been carried out.
    #[error("it gave no usable answer")]
    NoAnswer(#[source] reqwest::Error),
    /// It failed: the request may have been carried out.
    #[error("it failed with status {0}")]
    Failed(StatusCode),
}

impl Callee {
    /// What stands at `path` below the URL in the environment variable of this name.
    pub(crate) fn new(variable: &str, base: &str, path: &str) -> Result<Self, Error> {
        // An error means that a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = Url::parse(base).map_err(|error| format!("environment variable {variable} is no URL: {error}"))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(format!("environment variable {variable} must begin with http:// or https://").into());
        }
        // A redirect would be another request, after one that may have been carried out.
        Ok(Self { http: Client::builder().redirect(Policy::none()).build()?, url: base.join(path)? })
    }

    /// Sends a request, within what is left of the invocation. Gives an answer that says yes.
    pub(crate) async fn post(
        &self,
        body: &(impl Serialize + Sync),
        key: Option<&IdempotencyKey>,
        attempt: &Attempt,
    ) -> Result<Response, CallError> {
        let wait = wait(attempt.remaining()).ok_or(CallError::NoTime)?;
        let request = self.http.post(self.url.clone()).timeout(wait).json(body);
        let request = key.map(http_header).into_iter().fold(request, |request, (name, key)| request.header(name, key));
        let response = request.send().await.map_err(CallError::unsent)?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status @ (StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY) => {
                Err(CallError::Refused(status))
            }
            // One that is still at work for an earlier attempt's key says 409.
            status if status.is_client_error() || status == StatusCode::SERVICE_UNAVAILABLE => {
                Err(CallError::NotNow(status))
            }
            status => Err(CallError::Failed(status)),
        }
    }
}

impl CallError {
    /// An answer that broke off or says something else. The address stays out of the log: it may have credentials in it.
    pub(crate) fn unusable(error: reqwest::Error) -> Self {
        Self::NoAnswer(error.without_url())
    }

    fn unsent(error: reqwest::Error) -> Self {
        match error.is_connect() || error.is_builder() {
            true => Self::Unreachable(error.without_url()),
            false => Self::unusable(error),
        }
    }
}

/// How long to wait for an answer; `None` where no time is left. No time at all is a local host without deadlines.
fn wait(remaining: Duration) -> Option<Duration> {
    match remaining {
        Duration::ZERO => Some(LONGEST_WAIT),
        remaining => remaining.checked_sub(RESERVE).filter(|wait| !wait.is_zero()).map(|wait| wait.min(LONGEST_WAIT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_before_the_invocation_does() {
        let seconds = Duration::from_secs;
        assert_eq!(
            [0, 1, 3, 60].map(|left| wait(seconds(left))),
            [Some(LONGEST_WAIT), None, Some(seconds(2)), Some(LONGEST_WAIT)]
        );
    }

    #[test]
    fn what_is_no_address_of_a_service_is_told_by_its_variable() {
        for base in ["summaries", "file:///tmp/x", "http://"] {
            let told = Callee::new("SUMMARISER_URL", base, "v1/summaries").map(|_| ()).unwrap_err().to_string();
            assert!(told.contains("SUMMARISER_URL"), "{told}");
        }
    }
}
