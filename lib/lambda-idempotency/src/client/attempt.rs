//! One attempt: a request is sent, and its answer read to the end.

use std::time::Duration;

use bytes::Bytes;
use http::Extensions;
use reqwest::{Request, Response, ResponseBuilderExt};
use reqwest_middleware::{Error, Next};
use tokio::time::timeout;

/// How an attempt ended.
pub(super) enum Outcome {
    /// The answer arrived. Its body is here too if it was to be read.
    Answered(Response, Bytes),
    /// The connection could not be made or broke, so nobody knows what the callee did.
    NoAnswer(Error),
    /// The same, after the attempt's timeout.
    TimedOut,
    /// No repetition will do better: the request cannot be sent as it is, or a layer below failed.
    Failed(Error),
}

/// Sends a request. With `whole`, an answer counts only once its body has arrived: a connection may break in the middle of it.
pub(super) async fn attempt(
    request: Request,
    extensions: &mut Extensions,
    next: Next<'_>,
    time: Duration,
    whole: bool,
) -> Outcome {
    let answer = async {
        let response = next.run(request, extensions).await?;
        if whole { read(response).await } else { Ok((response, Bytes::new())) }
    };
    match timeout(time, answer).await {
        Ok(Ok((response, body))) => Outcome::Answered(response, body),
        Ok(Err(error)) if fails_again(&error) => Outcome::Failed(error),
        Ok(Err(error)) => Outcome::NoAnswer(error),
        Err(_) => Outcome::TimedOut,
    }
}

/// Whether the same request would fail in the same way: a URL that is none, a circle of redirects, a layer that refuses it.
fn fails_again(error: &Error) -> bool {
    match error {
        Error::Reqwest(error) => error.is_builder() || error.is_redirect(),
        Error::Middleware(_) => true,
    }
}

/// Reads a response's body, and gives the same response with that body in memory.
async fn read(mut response: Response) -> Result<(Response, Bytes), Error> {
    // The builder is where a response is told its URL.
    let mut whole = http::Response::builder().status(response.status()).version(response.version());
    whole = whole.url(response.url().clone());
    let (headers, extensions) = (response.headers().clone(), std::mem::take(response.extensions_mut()));
    let body = response.bytes().await?;
    let mut whole = whole.body(body.clone()).map_err(Error::middleware)?;
    *whole.headers_mut() = headers;
    whole.extensions_mut().extend(extensions);
    Ok((Response::from(whole), body))
}
