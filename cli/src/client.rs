//! A client of the payments API.

use std::time::Duration;

use reqwest::header::{LOCATION, RETRY_AFTER};
use serde_json::json;

use crate::CliError;

/// A charge to send.
#[derive(Clone, Copy)]
pub(crate) struct Charge<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) key: &'a str,
    pub(crate) amount: u64,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) replayed: bool,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
    pub(crate) took: Duration,
}

pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    pub(crate) fn new(base: &str) -> Result<Self, CliError> {
        Ok(Self { http: reqwest::Client::builder().build()?, url: format!("{base}/charges") })
    }

    /// Charges at the provider itself, past the API, as another system with the same account would.
    pub(crate) async fn charge_at_provider(&self, provider: &str, charge: &Charge<'_>) -> Result<(), CliError> {
        let request = self.http.post(format!("{provider}/v1/charges"));
        let request = request.header("Stripe-Account", charge.tenant).header("Idempotency-Key", charge.key);
        request.json(&body(charge)).send().await?.error_for_status()?;
        Ok(())
    }

    pub(crate) async fn charge(&self, charge: &Charge<'_>) -> Result<Answer, CliError> {
        let begin = now();
        let response = self
            .http
            .post(&self.url)
            .header("x-tenant-id", charge.tenant)
            .header("Idempotency-Key", charge.key)
            .json(&body(charge))
            .send()
            .await?;
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (replayed, location) = (header("idempotent-replayed").is_some(), header(LOCATION.as_str()));
        let retry_after =
            header(RETRY_AFTER.as_str()).and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let (status, body) = (response.status().as_u16(), response.text().await?);
        Ok(Answer { status, replayed, retry_after, location, body, took: begin.elapsed() })
    }
}

/// The provider keeps equal parameters apart from others, so both callers send the same body.
fn body(charge: &Charge<'_>) -> serde_json::Value {
    json!({ "amount": charge.amount, "currency": "EUR", "customer": "cus_42" })
}

#[expect(clippy::disallowed_methods, reason = "the demo shows how long a request took")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
