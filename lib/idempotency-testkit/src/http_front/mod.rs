//! An HTTP server that is an API Gateway HTTP API in front of a local function.
//!
//! Each request becomes an event in payload format 2.0 and each result a response, as described in
//! "Create AWS Lambda proxy integrations for HTTP APIs in API Gateway". [`event_from_request`] and
//! [`response_from_payload`] are pure and can be used without the server.
//!
//! One thing differs: the value of an `x-tenant-id` request header becomes the JWT claim `sub`, as if a
//! JWT authorizer had verified it, and the header is removed. Without the header there is no authorizer.
//!
//! | what happens | status | body |
//! |---|---|---|
//! | the function fails, crashes or times out, or its response is not one | 500 | `{"message":"Internal Server Error"}` |
//! | no sandbox is free, or the integration takes more than 30 s | 503 | `{"message":"Service Unavailable"}` |
//! | the request body is over 10 MB, or its event over Lambda's 6 MB | 413 | `{"message":"Request Entity Too Large"}` |
//!
//! Every response carries an `apigw-requestid` header with the request's id.

mod api_gateway_v2;
mod error;
mod query;
mod request_time;
mod response;
mod server;

pub use api_gateway_v2::{ReceivedRequest, event_from_request};
pub use error::{HttpFrontError, ResponseError};
pub use response::response_from_payload;
pub use server::HttpFront;
