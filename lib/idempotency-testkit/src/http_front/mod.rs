//! An HTTP server that stands in front of a local function as AWS's HTTP services do.
//!
//! Each request becomes an event and each result a response, as the documentation of the [kind](HttpKind) says.
//! [`HttpKind::event`] and [`HttpKind::response`] are pure and can be used without the server.
//!
//! | kind | event | repeated headers and parameters | path | a result without `statusCode` |
//! |---|---|---|---|---|
//! | HTTP API | payload format 2.0 | joined by commas; cookies apart | decoded | is the body of a 200 |
//! | REST API | Lambda proxy | the last, and all | as sent | is an error |
//! | load balancer | ALB | the last | as sent, query too | is an error |
//! | the same with multi-value headers | ALB | all | as sent, query too | is an error |
//! | function URL | payload format 2.0 | joined by commas; cookies apart | as sent | is the body of a 200 |
//!
//! # Who calls
//!
//! One thing differs from AWS: the value of an `x-tenant-id` request header becomes what the front would have authenticated,
//! and the header is removed. Without the header nobody is authenticated.
//!
//! | kind | where the value is |
//! |---|---|
//! | HTTP API | the claim `sub`, as of a JWT authorizer |
//! | REST API | the claim `sub`, as of a Cognito authorizer |
//! | load balancer | the header `x-amzn-oidc-identity`, as of an `authenticate-oidc` action |
//! | function URL | the IAM user id, as of a signed request to a URL with `AWS_IAM` |
//!
//! # When the function has no response
//!
//! | what happens | HTTP API | REST API | load balancer | function URL |
//! |---|---|---|---|---|
//! | the function fails, crashes or times out, or its result is no response | 500 | 502 | 502 | 502 |
//! | no sandbox is free | 503 | 500 | 502 | 429 |
//! | the front does not wait longer | 503 after 30 s | 504 after 29 s | | |
//! | the body is over the front's limit, or the event over Lambda's 6 MB | 413 (10 MB) | 413 (10 MB) | 413 (1 MB) | 413 (6 MB) |
//! | the result is over the front's limit | | | 502 (1 MB) | |
//!
//! API Gateway and function URLs say it as `{"message": …}`, a load balancer in a page of HTML.
//!
//! # Binary bodies of a REST API
//!
//! The API's `binaryMediaTypes` are `application/octet-stream` and `image/*`: request bodies of these types are base64 in the
//! event, and a base64 result is decoded if the first media type in the request's `Accept` is one of them. A client that does
//! not ask for it gets the base64 text, as in AWS.
//!
//! # What is not emulated
//!
//! Header names are lower-case (API Gateway REST APIs and load balancers keep the case of HTTP/1.1 clients); REST APIs rename
//! some response headers to `x-amzn-remapped-…`; nothing is routed, cached or throttled by the front itself.

mod alb;
mod error;
mod fields;
mod function_result;
mod function_url;
mod http_api;
mod kind;
mod own_answer;
mod payload_v2;
mod query;
mod received;
mod request_body;
mod request_headers;
mod request_time;
mod rest_api;
mod server;

pub use error::{HttpFrontError, ResponseError};
pub use kind::{HttpKind, UnknownHttpKind};
pub use received::ReceivedRequest;
pub use server::HttpFront;
