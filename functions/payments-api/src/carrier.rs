//! The carrier, over HTTP.

use lambda_http::Error;
use lambda_idempotency::{Attempt, IdempotencyKey};
use reqwest::{StatusCode, Url, redirect::Policy};
use serde::Deserialize;
use serde_json::json;

use crate::provider::{ProviderError, send};

/// The carrier's client. Connections are kept between invocations.
pub(crate) struct Carrier {
    http: reqwest::Client,
    shipments: Url,
}

#[derive(Deserialize)]
struct Shipment {
    id: String,
}

/// What the carrier said.
pub(crate) enum Booked {
    /// It fetches the parcel.
    Shipment { id: String },
    /// It does not serve the address.
    Refused,
}

impl Carrier {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let url = Url::parse(url).map_err(|error| format!("CARRIER_URL is not a URL: {error}"))?;
        // A redirect would be another request, after one that may have booked.
        let http = reqwest::Client::builder().redirect(Policy::none()).build()?;
        Ok(Self { http, shipments: url.join("v1/shipments")? })
    }

    /// Books a shipment under a key.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] says whether a shipment may have been booked.
    pub(crate) async fn book(
        &self,
        sku: &str,
        address: &str,
        key: &IdempotencyKey,
        attempt: &Attempt,
    ) -> Result<Booked, ProviderError> {
        let body = json!({ "sku": sku, "address": address });
        let request = self.http.post(self.shipments.clone()).header("Idempotency-Key", key.as_str()).json(&body);
        let response = send(request, attempt).await?;
        match response.status() {
            status if status.is_success() => {
                let Shipment { id } = response.json().await.map_err(ProviderError::unusable)?;
                Ok(Booked::Shipment { id })
            }
            StatusCode::UNPROCESSABLE_ENTITY => Ok(Booked::Refused),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Err(ProviderError::NotNow(response.status()))
            }
            status => Err(ProviderError::Failed(status)),
        }
    }
}
