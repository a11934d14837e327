//! Reading and checking a charge request.

use http::HeaderMap;
use serde_json::Value;

use super::answer::Answer;

/// Stripe's limit for keys.
const LONGEST_KEY: usize = 255;

/// What is charged. Equality is what "same parameters" means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) amount: u64,
    pub(super) currency: String,
    pub(super) customer: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChargeRequest {
    pub(super) account: String,
    pub(super) key: Option<String>,
    pub(super) parameters: Parameters,
}

impl ChargeRequest {
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, Answer> {
        let account = account(headers)?;
        let key = key(headers)?;
        let body: Value = serde_json::from_slice(body).map_err(|_| Answer::invalid("", "The body is not JSON."))?;
        let amount = body.get("amount").and_then(Value::as_u64).filter(|amount| *amount > 0);
        let amount = amount.ok_or_else(|| Answer::invalid("amount", "The amount must be a positive integer."))?;
        let parameters = Parameters { amount, currency: text(&body, "currency")?, customer: text(&body, "customer")? };
        Ok(Self { account, key, parameters })
    }
}

pub(super) fn account(headers: &HeaderMap) -> Result<String, Answer> {
    let account = headers.get("stripe-account").and_then(|value| value.to_str().ok());
    let account = account.filter(|account| !account.is_empty()).map(str::to_owned);
    account.ok_or_else(|| Answer::invalid("Stripe-Account", "The Stripe-Account header is missing."))
}

pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Answer> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= LONGEST_KEY);
    let key = key.ok_or_else(|| Answer::invalid("Idempotency-Key", "The key must have 1 to 255 characters."))?;
    Ok(Some(key.to_owned()))
}

pub(super) fn text(body: &Value, field: &str) -> Result<String, Answer> {
    let text = body.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| Answer::invalid(field, "This parameter is missing."))
}
