//! Responses with a JSON body.

use http::{StatusCode, header};
use lambda_http::{Body, Error, Response};

/// A response with a JSON body.
pub(crate) fn json_response(status: StatusCode, body: &impl serde::Serialize) -> Result<Response<Body>, Error> {
    let body = Body::from(serde_json::to_string(body)?);
    Ok(Response::builder().status(status).header(header::CONTENT_TYPE, "application/json").body(body)?)
}
