//! A Lambda function for the contract tests: it answers what the request's `x-answer` header asks for.
//!
//! Every run of its handler has a number, which its answer carries in `x-run`; `GET /runs` tells the last one.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderName, HeaderValue, StatusCode, header};
use lambda_http::{Body, Error, Request, RequestExt, Response, run, service_fn};
use lambda_idempotency::{Idempotency, http::Reply, idempotent};
use serde::Deserialize;
use serde_json::{Value, json};

static RUNS: AtomicU64 = AtomicU64::new(0);

/// What to answer.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Answer {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: AnswerBody,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerBody {
    #[default]
    Empty,
    Text(String),
    Base64(String),
    /// The request's own body.
    Echo,
    /// What the handler sees of the request, as JSON.
    Request,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let idempotency = Idempotency::from_env().await?;
    run(service_fn(|request| route(&idempotency, request))).await
}

async fn route(idempotency: &Idempotency, request: Request) -> Result<Reply, Error> {
    match request.raw_http_path() {
        "/value" => value(idempotency, request).await,
        _ => answer(idempotency, request).await,
    }
}

/// Answers as asked. Methods without a key get the number of runs.
#[idempotent(operation = "answer", version = 1, scope = none)]
async fn answer(request: Request) -> Result<Response<Body>, Error> {
    if request.method() == http::Method::GET {
        return Ok(Response::new(Body::from(RUNS.load(Ordering::SeqCst).to_string())));
    }
    let asked = match request.headers().get("x-answer") {
        Some(asked) => serde_json::from_slice(asked.as_bytes())?,
        None => Answer::default(),
    };
    let mut response = Response::new(match asked.body {
        AnswerBody::Empty => Body::Empty,
        AnswerBody::Text(text) => Body::Text(text),
        AnswerBody::Base64(text) => Body::Binary(BASE64_STANDARD.decode(text)?),
        AnswerBody::Echo => Body::Binary(request.body().as_ref().to_vec()),
        AnswerBody::Request => Body::Text(seen(&request).to_string()),
    });
    *response.status_mut() = StatusCode::from_u16(asked.status.unwrap_or(200))?;
    for (name, value) in asked.headers {
        response.headers_mut().append(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    response.headers_mut().insert("x-run", next_run());
    Ok(response)
}

/// Answers with the JSON value that the body is, through `lambda_http`'s own conversion.
#[idempotent(operation = "value", version = 1, scope = none)]
async fn value(request: Request) -> Result<(StatusCode, Value), Error> {
    next_run();
    Ok((StatusCode::OK, serde_json::from_slice(request.body().as_ref())?))
}

fn next_run() -> HeaderValue {
    HeaderValue::from(RUNS.fetch_add(1, Ordering::SeqCst) + 1)
}

fn seen(request: &Request) -> Value {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let all = |name: &str| request.headers().get_all(name).iter().map(text).collect::<Vec<_>>();
    let parameters = request.query_string_parameters();
    let mut query: Vec<(&str, &str)> = parameters.iter().collect();
    // Names come in any order, the values of one name in theirs.
    query.sort_by_key(|(name, _)| *name);
    json!({
        "path": request.raw_http_path(),
        "query": query,
        "cookie": all(header::COOKIE.as_str()),
        "x-thing": all("x-thing"),
    })
}
