//! The demo's client of the payments API.

use std::time::Duration;

use reqwest::header::{LOCATION, RETRY_AFTER};
use serde_json::json;

use crate::CliError;

/// A charge to send.
pub(super) struct Charge {
    pub(super) tenant: &'static str,
    pub(super) key: &'static str,
    pub(super) amount: u64,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) replayed: bool,
    pub(super) retry_after: Option<Duration>,
    pub(super) location: Option<String>,
    pub(super) body: String,
    pub(super) took: Duration,
}

pub(super) struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    pub(super) fn new(base: &str) -> Result<Self, CliError> {
        Ok(Self { http: reqwest::Client::builder().build()?, url: format!("{base}/charges") })
    }

    pub(super) async fn charge(&self, charge: &Charge) -> Result<Answer, CliError> {
        let begin = now();
        let response = self
            .http
            .post(&self.url)
            .header("x-tenant-id", charge.tenant)
            .header("Idempotency-Key", charge.key)
            .json(&json!({ "amount": charge.amount, "currency": "EUR", "customer": "cus_42" }))
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

#[expect(clippy::disallowed_methods, reason = "the demo shows how long a request took")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
