//! `POST /transfers`, and the accounts that money is transferred between.

use http::StatusCode;
use lambda_http::{Body, Error, Request, Response};
use lambda_idempotency::{
    Attempt, Refused, StageError,
    http::{Classify, Failure, FromRequest, Json, Reply},
    idempotent,
};
use serde_json::json;

use crate::{
    account::{NewAccount, NewTransfer, Transfer},
    accounts::{Accounts, CREDIT, DEBIT},
    config::tenant_scope,
    named_by_path::named_by_path,
    response::json_response,
};

/// Moves money between two accounts of a tenant. The whole effect is three writes, which commit with the response: one request, and
/// nothing to take back.
#[idempotent(operation = "transfer", version = 1, scope = tenant_scope(), atomic)]
pub(crate) async fn transfer(
    Json(asked): Json<NewTransfer>,
    attempt: Attempt,
    accounts: &Accounts,
) -> Result<Response<Body>, TransferError> {
    if asked.from == asked.to {
        return Err(TransferError::SameAccount);
    }
    // The same on every attempt, so that a duplicate shows the same.
    let transfer = Transfer { id: attempt.step_key("transfer"), asked };
    for write in accounts.writes(&attempt, &transfer)? {
        attempt.stage(write)?;
    }
    Ok(json_response(StatusCode::CREATED, &transfer)?)
}

/// Why no money was moved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransferError {
    #[error("an account cannot transfer to itself")]
    SameAccount,
    #[error("the account has less than the amount")]
    InsufficientFunds,
    #[error("there is no such account")]
    NoSuchAccount,
    #[error("the transfer cannot be staged")]
    Stage(#[from] StageError),
    #[error("no response could be made")]
    Response(#[from] Error),
}

impl Classify for TransferError {
    fn classify(self) -> Failure {
        let status = match self {
            Self::SameAccount => StatusCode::BAD_REQUEST,
            // Under this key that stays so, as a declined card does; a new key is a new transfer.
            Self::InsufficientFunds => StatusCode::PAYMENT_REQUIRED,
            Self::NoSuchAccount => StatusCode::NOT_FOUND,
            // Nothing is written before the end, whatever happens.
            Self::Stage(_) | Self::Response(_) => {
                return Failure::Retryable { retry_after: None, source: self.into() };
            }
        };
        match json_response(status, &json!({ "refused": self.to_string() })) {
            Ok(response) => Failure::Permanent(Box::new(response)),
            Err(source) => Failure::Retryable { retry_after: None, source },
        }
    }

    fn refused(refused: Refused) -> Option<Self> {
        match (refused.name(), refused.item()) {
            (DEBIT, Some(_)) => Some(Self::InsufficientFunds),
            (DEBIT | CREDIT, None) => Some(Self::NoSuchAccount),
            _ => None,
        }
    }
}

/// `PUT /accounts/{id}`: opens an account with a balance; one that is open stays as it is.
pub(crate) async fn open_account(accounts: &Accounts, request: &Request, id: &str) -> Result<Reply, Error> {
    let tenant = match tenant_scope().scope(request) {
        Ok(tenant) => tenant,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    let Json(asked) = match Json::<NewAccount>::from_request(request) {
        Ok(asked) => asked,
        Err(rejection) => return Ok((*rejection).into()),
    };
    let id = match named_by_path(id) {
        Ok(id) => id,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    let tenant = tenant.as_tenant().unwrap_or_default();
    let is_new = accounts.open(tenant, id.as_str(), asked.balance.get()).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    show(accounts, tenant, id.as_str(), status).await
}

/// `GET /accounts/{id}`.
pub(crate) async fn show_account(accounts: &Accounts, request: &Request, id: &str) -> Result<Reply, Error> {
    match tenant_scope().scope(request) {
        Ok(tenant) => show(accounts, tenant.as_tenant().unwrap_or_default(), id, StatusCode::OK).await,
        Err(problem) => Ok(problem.into_response().into()),
    }
}

async fn show(accounts: &Accounts, tenant: &str, id: &str, status: StatusCode) -> Result<Reply, Error> {
    match accounts.get(tenant, id).await? {
        Some(account) => Ok(json_response(status, &account)?.into()),
        None => Ok(json_response(StatusCode::NOT_FOUND, &json!({ "message": "there is no such account" }))?.into()),
    }
}
