//! `POST /charges`.

use http::{StatusCode, header};
use lambda_http::{Body, Error, Response};
use lambda_idempotency::{
    Attempt,
    http::{Classify, Failure, Json},
    idempotent,
};
use serde_json::json;

use crate::{
    charge::{Charge, NewCharge},
    charges::Charges,
    config::{on_abandoned, tenant},
    provider::{Charged, Provider, ProviderError},
};

/// Charges at the provider, keeps the charge, and answers 201 with its place.
#[idempotent(operation = "create-charge", version = 1, scope = tenant(), on_abandoned = on_abandoned())]
pub(crate) async fn create_charge(
    Json(asked): Json<NewCharge>,
    attempt: Attempt,
    provider: &Provider,
    charges: &Charges,
) -> Result<Response<Body>, CreateError> {
    let transaction = match provider.charge(&asked, &attempt).await? {
        Charged::Succeeded { transaction } => transaction,
        // A refusal is a result like any other: retries get the same one.
        Charged::Declined { code } => {
            return Ok(json_response(StatusCode::PAYMENT_REQUIRED, &json!({ "declined": code }))?);
        }
    };
    let charge = Charge { id: transaction, asked };
    charges.put(attempt.scope().as_tenant().unwrap_or_default(), &charge).await?;
    let mut response = json_response(StatusCode::CREATED, &charge)?;
    let location = format!("/charges/{}", charge.id).parse().map_err(Error::from)?;
    response.headers_mut().insert(header::LOCATION, location);
    Ok(response)
}

/// Why no answer could be given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The charge was made and could not be kept.
    #[error("the charge was made and then something failed")]
    AfterTheCharge(#[from] Error),
}

impl Classify for CreateError {
    fn classify(self) -> Failure {
        match self {
            Self::Provider(error) => error.classify(),
            Self::AfterTheCharge(error) => Failure::Abandoned(error),
        }
    }
}

/// A response with a JSON body.
pub(crate) fn json_response(status: StatusCode, body: &impl serde::Serialize) -> Result<Response<Body>, Error> {
    let body = Body::from(serde_json::to_string(body)?);
    Ok(Response::builder().status(status).header(header::CONTENT_TYPE, "application/json").body(body)?)
}
