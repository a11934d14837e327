//! Which handler serves a request.

use http::{HeaderValue, Method, StatusCode, header};
use lambda_http::{Error, Request, RequestExt};
use lambda_idempotency::http::Reply;
use serde_json::json;

use crate::{
    config::App,
    create::{create_charge, json_response},
    show::show_charge,
};

/// Serves one request.
pub(crate) async fn route(app: &App, request: Request) -> Result<Reply, Error> {
    // The raw path, because the URI's has the stage in front where a stage is named.
    let path = request.raw_http_path().to_owned();
    // One spelling of each path: the path is part of a request's identity, so another spelling would be another operation.
    match (request.method(), path.strip_prefix("/charges")) {
        (&Method::POST, Some("")) => create_charge(&app.idempotency, &app.provider, &app.charges, request).await,
        (_, Some("")) => method_not_allowed("POST"),
        (method, Some(rest)) => match rest.strip_prefix('/').filter(|id| !id.is_empty() && !id.contains('/')) {
            Some(id) if method == Method::GET => show_charge(&app.charges, &request, id).await,
            // The status resource of a charge that is being made.
            None if method == Method::GET && rest.starts_with("/idempotency/create-charge/") => {
                create_charge(&app.idempotency, &app.provider, &app.charges, request).await
            }
            Some(_) => method_not_allowed("GET"),
            None => not_found(),
        },
        _ => not_found(),
    }
}

fn not_found() -> Result<Reply, Error> {
    let known = json!({ "message": "there is POST /charges and GET /charges/{id}" });
    Ok(json_response(StatusCode::NOT_FOUND, &known)?.into())
}

fn method_not_allowed(allowed: &'static str) -> Result<Reply, Error> {
    let mut response = json_response(StatusCode::METHOD_NOT_ALLOWED, &json!({ "message": "method not allowed" }))?;
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    Ok(response.into())
}
