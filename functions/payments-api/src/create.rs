//! `POST /charges`.

use http::{StatusCode, header};
use lambda_http::{Body, Error, Request, Response};
use lambda_idempotency::{
    Attempt,
    http::{Classify, Failure, Json, Probed},
    idempotent,
};
use serde_json::json;

use crate::{
    charge::{Charge, NewCharge},
    charges::Charges,
    config::{in_flight, on_abandoned, tenant_scope},
    provider::{Charged, Found, Provider, ProviderError},
    response::json_response,
};

/// Charges at the provider, keeps the charge, and answers 201 with its place.
#[idempotent(
    operation = "create-charge",
    version = 1,
    scope = tenant_scope(),
    on_abandoned = on_abandoned(),
    probe = |attempt, request| find_charge(attempt, request, provider, charges),
    in_flight = in_flight(),
)]
pub(crate) async fn create_charge(
    Json(asked): Json<NewCharge>,
    attempt: Attempt,
    provider: &Provider,
    charges: &Charges,
) -> Result<Response<Body>, CreateError> {
    let transaction = match provider.charge(&asked, attempt.key(), &attempt).await? {
        Charged::Succeeded { transaction } => transaction,
        // A refusal is a result like any other: retries get the same one.
        Charged::Declined { code } => {
            return Ok(json_response(StatusCode::PAYMENT_REQUIRED, &json!({ "declined": code }))?);
        }
    };
    Ok(keep(Charge { id: transaction, asked }, &attempt, charges).await?)
}

/// Asks the provider what became of a lost attempt's charge. What is left to do, is done: the charge is kept.
async fn find_charge(
    attempt: Attempt,
    request: Request,
    provider: &Provider,
    charges: &Charges,
) -> Result<Probed<Response<Body>>, Error> {
    let asked: NewCharge = serde_json::from_slice(request.body())?;
    Ok(match provider.find(attempt.key(), &attempt).await? {
        // Somebody else has used the key at the provider, which will refuse it for this charge.
        Found::Charge(charge) if charge.asked != asked => Probed::DidNotHappen,
        Found::Charge(charge) => Probed::Happened(keep(charge, &attempt, charges).await?),
        // Should a request of the lost attempt still be on its way, the provider takes it and the next one for the same: they
        // have one key. A provider without keys would have to be asked once that request cannot arrive any more.
        Found::Nothing => Probed::DidNotHappen,
        Found::InProgress => Probed::Unknown,
    })
}

/// Keeps a charge and answers 201 with its place.
async fn keep(charge: Charge, attempt: &Attempt, charges: &Charges) -> Result<Response<Body>, Error> {
    charges.put(attempt, &charge).await?;
    let mut response = json_response(StatusCode::CREATED, &charge)?;
    let location = format!("/charges/{}", charge.id).parse()?;
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
