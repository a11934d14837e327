//! The payment provider, over HTTP.

use std::time::Duration;

use lambda_http::Error;
use lambda_idempotency::{
    Attempt, IdempotencyKey,
    http::{Classify, Failure, Problem, ProblemType},
};
use reqwest::{RequestBuilder, Response, StatusCode, Url, redirect::Policy};
use serde::Deserialize;
use serde_json::json;

use crate::charge::{Amount, Charge, Currency, Name, NewCharge};

/// The longest wait for the provider where the platform sets no nearer limit.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// What is kept of the invocation's time for storing the outcome.
const RESERVE: Duration = Duration::from_millis(500);

/// The provider's client. Connections are kept between invocations.
pub(crate) struct Provider {
    http: reqwest::Client,
    charges: Url,
    refunds: Url,
}

/// What the provider did.
pub(crate) enum Charged {
    /// It charged, now or at an earlier attempt with the same key.
    Succeeded { transaction: String },
    /// It refused the card, and will again under this key.
    Declined { code: String },
}

/// What the provider knows about a key.
pub(crate) enum Found {
    /// The charge that was made.
    Charge(Charge),
    /// No charge was made.
    Nothing,
    /// A request with this key is at work.
    InProgress,
}

/// A charge as the provider tells it, and more that is not needed here.
#[derive(Deserialize)]
struct ChargeMade {
    id: String,
    amount: Amount,
    currency: Currency,
    customer: Name,
}

#[derive(Deserialize)]
struct Transaction {
    id: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalDetail,
}

#[derive(Deserialize)]
struct RefusalDetail {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    code: Option<String>,
}

/// Why it is not known that the provider charged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// The request never left, so nothing was charged.
    #[error("the payment provider cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// There was no time left to ask, so nothing was charged.
    #[error("no time is left to ask the payment provider")]
    NoTime,
    /// The provider turned the request away, so nothing was charged: too many requests, or our credentials.
    #[error("the payment provider turned the request away with status {0}")]
    NotNow(StatusCode),
    /// The provider is working on this key for another attempt.
    #[error("the payment provider is still working on this key")]
    InProgress,
    /// The request left and no usable answer came: the charge may have been made.
    #[error("the payment provider gave no usable answer")]
    NoAnswer(#[source] reqwest::Error),
    /// The provider failed: the charge may have been made.
    #[error("the payment provider failed with status {0}")]
    Failed(StatusCode),
    /// The provider refuses the request as it is.
    #[error("the payment provider refuses the request as {0}")]
    Refused(String),
}

impl Provider {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        // An error means that a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = Url::parse(url).map_err(|error| format!("PAYMENT_PROVIDER_URL is not a URL: {error}"))?;
        // A redirect would be another request, after one that may have charged.
        let http = reqwest::Client::builder().redirect(Policy::none()).build()?;
        Ok(Self { http, charges: url.join("v1/charges")?, refunds: url.join("v1/refunds")? })
    }

    /// Charges under a key, in the tenant's account.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] says whether a charge may have been made.
    pub(crate) async fn charge(
        &self,
        charge: &NewCharge,
        key: &IdempotencyKey,
        attempt: &Attempt,
    ) -> Result<Charged, ProviderError> {
        let request = self.http.post(self.charges.clone()).header("Idempotency-Key", key.as_str()).json(charge);
        let response = send(request, attempt).await?;
        match response.status() {
            status if status.is_success() => {
                let Transaction { id } = response.json().await.map_err(ProviderError::unusable)?;
                Ok(Charged::Succeeded { transaction: id })
            }
            StatusCode::PAYMENT_REQUIRED => {
                let Refusal { error } = response.json().await.map_err(ProviderError::unusable)?;
                Ok(Charged::Declined { code: error.code.unwrap_or(error.kind) })
            }
            StatusCode::CONFLICT => Err(ProviderError::InProgress),
            // Refused before anything was done, for a reason that is not the request's.
            status @ (StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::TOO_EARLY
            | StatusCode::TOO_MANY_REQUESTS) => Err(ProviderError::NotNow(status)),
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => {
                let Refusal { error } = response.json().await.map_err(ProviderError::unusable)?;
                Err(ProviderError::Refused(error.kind))
            }
            // Whatever else is said, a charge may have been made.
            status => Err(ProviderError::Failed(status)),
        }
    }

    /// Gives a charge back under a key.
    ///
    /// # Errors
    ///
    /// When it is not known that it was given back.
    pub(crate) async fn refund(
        &self,
        charge: &str,
        key: &IdempotencyKey,
        attempt: &Attempt,
    ) -> Result<(), ProviderError> {
        let request = self.http.post(self.refunds.clone()).header("Idempotency-Key", key.as_str());
        let response = send(request.json(&json!({ "charge": charge })), attempt).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => {
                let Refusal { error } = response.json().await.map_err(ProviderError::unusable)?;
                Err(ProviderError::Refused(error.code.unwrap_or(error.kind)))
            }
            StatusCode::TOO_MANY_REQUESTS => Err(ProviderError::NotNow(response.status())),
            status => Err(ProviderError::Failed(status)),
        }
    }

    /// Asks for the charge that was made under a key.
    ///
    /// # Errors
    ///
    /// When the provider does not say.
    pub(crate) async fn find(&self, key: &IdempotencyKey, attempt: &Attempt) -> Result<Found, ProviderError> {
        let mut url = self.charges.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(["by-key", key.as_str()]);
        }
        let response = send(self.http.get(url), attempt).await?;
        match response.status() {
            StatusCode::OK => {
                let ChargeMade { id, amount, currency, customer } =
                    response.json().await.map_err(ProviderError::unusable)?;
                Ok(Found::Charge(Charge { id, asked: NewCharge { amount, currency, customer } }))
            }
            StatusCode::NOT_FOUND => Ok(Found::Nothing),
            StatusCode::CONFLICT => Ok(Found::InProgress),
            status => Err(ProviderError::Failed(status)),
        }
    }
}

/// Sends a request for the tenant's account, within what is left of the invocation.
pub(crate) async fn send(request: RequestBuilder, attempt: &Attempt) -> Result<Response, ProviderError> {
    let wait = match attempt.remaining() {
        // The deadline has passed: a local host without deadlines.
        Duration::ZERO => LONGEST_WAIT,
        remaining if remaining <= RESERVE => return Err(ProviderError::NoTime),
        remaining => (remaining - RESERVE).min(LONGEST_WAIT),
    };
    let account = attempt.scope().as_tenant().unwrap_or_default();
    let sent = request.timeout(wait).header("Stripe-Account", account).send().await;
    sent.map_err(ProviderError::unsent)
}

impl ProviderError {
    /// An answer that broke off or says something else. The address stays out of the log: it has the key of a step in it, or credentials.
    pub(crate) fn unusable(error: reqwest::Error) -> Self {
        Self::NoAnswer(error.without_url())
    }

    fn unsent(error: reqwest::Error) -> Self {
        match error.is_connect() || error.is_builder() {
            true => Self::Unreachable(error.without_url()),
            false => Self::unusable(error),
        }
    }

    /// Whether the same request may be answered later.
    pub(crate) const fn may_pass(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

impl Classify for ProviderError {
    fn classify(self) -> Failure {
        match self {
            Self::Unreachable(_) | Self::NoTime | Self::NotNow(_) => {
                Failure::Retryable { retry_after: None, source: self.into() }
            }
            Self::InProgress => Failure::Retryable { retry_after: Some(Duration::from_secs(1)), source: self.into() },
            Self::NoAnswer(_) | Self::Failed(_) => Failure::Abandoned(self.into()),
            Self::Refused(_) => {
                let problem = Problem::new(ProblemType::RequestInvalid, self.to_string());
                Failure::Permanent(Box::new(problem.into_response()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[tokio::test]
    async fn an_error_does_not_tell_the_address_which_has_the_key_of_a_step_in_it() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Nothing listens there.
        let sent = reqwest::get("http://127.0.0.1:1/v1/charges/by-key/k3y").await.unwrap_err();
        assert!(sent.to_string().contains("k3y"), "{sent}");
        let ProviderError::Unreachable(error) = ProviderError::unsent(sent) else { panic!("it cannot be reached") };
        assert!(error.url().is_none() && !format!("{error} {error:?} {:?}", error.source()).contains("k3y"));

        let odd = http::Response::new("no JSON");
        let response = reqwest::Response::from(odd);
        let error = response.json::<u32>().await.unwrap_err();
        let ProviderError::NoAnswer(error) = ProviderError::unusable(error) else { panic!("it gave no usable answer") };
        assert!(error.url().is_none());
    }
}
