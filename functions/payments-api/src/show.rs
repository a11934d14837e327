//! `GET /charges/{id}`.

use http::StatusCode;
use lambda_http::{Error, Request};
use lambda_idempotency::http::Reply;
use serde_json::json;

use crate::{charges::Charges, config, response::json_response};

/// Answers a tenant's own charge; another tenant's is as good as none.
pub(crate) async fn show_charge(charges: &Charges, request: &Request, id: &str) -> Result<Reply, Error> {
    let tenant = match config::tenant_scope().scope(request) {
        Ok(tenant) => tenant,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    match charges.get(tenant.as_tenant().unwrap_or_default(), id).await? {
        Some(charge) => Ok(json_response(StatusCode::OK, &charge)?.into()),
        None => Ok(json_response(StatusCode::NOT_FOUND, &json!({ "message": "there is no such charge" }))?.into()),
    }
}
