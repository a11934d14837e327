//! Which handler serves a request.

use http::{HeaderValue, Method, StatusCode, header};
use lambda_http::{Error, Request, RequestExt};
use lambda_idempotency::http::Reply;
use serde_json::json;

use crate::{
    config::App,
    create::create_charge,
    order::{fill_stock, place_order},
    response::json_response,
    show::show_charge,
    transfer::{open_account, show_account, transfer},
};

/// Serves one request.
pub(crate) async fn route(app: &App, request: Request) -> Result<Reply, Error> {
    // The raw path, because the URI's has the stage in front where a stage is named.
    let path = request.raw_http_path().to_owned();
    // One spelling of each path: the path is part of a request's identity, so another spelling would be another operation.
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let (method, idempotency) = (request.method(), &app.idempotency);
    match (method, parts.as_slice()) {
        (&Method::POST, ["charges"]) => create_charge(idempotency, &app.provider, &app.charges, request).await,
        // The status resource of a charge that is being made.
        (&Method::GET, ["charges", "idempotency", "create-charge", key]) if !key.is_empty() => {
            create_charge(idempotency, &app.provider, &app.charges, request).await
        }
        (&Method::GET, ["charges", id]) if !id.is_empty() => show_charge(&app.charges, &request, id).await,
        (&Method::POST, ["transfers"]) => transfer(idempotency, &app.accounts, request).await,
        (&Method::PUT, ["accounts", id]) if !id.is_empty() => open_account(&app.accounts, &request, id).await,
        (&Method::GET, ["accounts", id]) if !id.is_empty() => show_account(&app.accounts, &request, id).await,
        (&Method::POST, ["orders"]) => place_order(idempotency, &app.provider, &app.shop, request).await,
        (&Method::PUT, ["stock", sku]) if !sku.is_empty() => fill_stock(&app.shop, &request, sku).await,
        (_, ["charges" | "transfers" | "orders"]) => method_not_allowed("POST"),
        (_, ["charges", id]) if !id.is_empty() => method_not_allowed("GET"),
        (_, ["accounts", id]) if !id.is_empty() => method_not_allowed("GET, PUT"),
        (_, ["stock", sku]) if !sku.is_empty() => method_not_allowed("PUT"),
        _ => not_found(),
    }
}

fn not_found() -> Result<Reply, Error> {
    let known = json!({ "message": "there is POST /charges, /transfers and /orders, GET /charges/{id}, GET and PUT /accounts/{id}, PUT /stock/{sku}" });
    Ok(json_response(StatusCode::NOT_FOUND, &known)?.into())
}

fn method_not_allowed(allowed: &'static str) -> Result<Reply, Error> {
    let mut response = json_response(StatusCode::METHOD_NOT_ALLOWED, &json!({ "message": "method not allowed" }))?;
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    Ok(response.into())
}
