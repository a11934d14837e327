//! What tests of the caller's side share.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{HeaderMap, Method, StatusCode};
use lambda_idempotency::client::{
    ClientError, Idempotent, LastAnswer, Resolved, RetryPolicy, Stopped,
    reqwest::{self, Request, Response},
    reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next},
};
use lambda_idempotency::http::{Problem, ProblemType};
use tokio::time::Instant;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// What a scripted callee does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// Nothing, for ever.
    Silence,
    /// The layer below fails.
    Refusal,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn body(self, text: &str) -> Self {
        match self {
            Self::Answer { status, headers, .. } => Self::Answer { status, headers, body: text.to_owned() },
            other => other,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn replayed(self) -> Self {
        self.header("idempotent-replayed", "true")
    }

    /// What the callee's side of this toolkit answers.
    pub(crate) fn problem(kind: ProblemType, retry_after: Option<Duration>) -> Self {
        let problem = Problem::new(kind, "as the toolkit says it");
        let problem = match retry_after {
            Some(retry_after) => problem.with_retry_after(retry_after),
            None => problem,
        };
        let (parts, body) = problem.into_response().into_parts();
        let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let body = String::from_utf8(body.to_vec()).unwrap();
        Self::Answer { status: parts.status.as_u16(), headers: headers.collect(), body }
    }

    pub(crate) fn conflict() -> Self {
        Self::problem(ProblemType::Conflict, Some(SECOND))
    }
}

/// A request as the callee got it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

impl Seen {
    pub(crate) fn key(&self) -> Option<&str> {
        self.headers.get("idempotency-key").map(|key| key.to_str().unwrap())
    }
}

/// A callee that answers by a script; its last reply for ever. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Callee(Arc<Mutex<(VecDeque<Reply>, Vec<Seen>)>>);

impl Callee {
    pub(crate) fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        Self(Arc::new(Mutex::new((script.into_iter().collect(), Vec::new()))))
    }

    /// Writes a request down and says what to reply.
    pub(crate) fn take(&self, seen: Seen) -> Reply {
        let (script, journal) = &mut *self.0.lock().unwrap();
        journal.push(seen);
        if script.len() > 1 { script.pop_front().unwrap() } else { script[0].clone() }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.0.lock().unwrap().1.clone()
    }

    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.seen().len()
    }

    /// Asserts that there were requests, all with one key.
    pub(crate) fn one_key(&self) -> String {
        let seen = self.seen();
        let key = seen[0].key().unwrap().to_owned();
        assert!(seen.iter().all(|seen| seen.key() == Some(&key)), "{seen:?}");
        key
    }

    /// A client with this layer before the callee.
    pub(crate) fn behind(&self, layer: &Idempotent) -> ClientWithMiddleware {
        ClientBuilder::new(http_client()).with(layer.clone()).with(self.clone()).build()
    }

    pub(crate) fn client(&self, policy: RetryPolicy) -> ClientWithMiddleware {
        self.behind(&Idempotent::new(policy).unwrap())
    }
}

#[async_trait::async_trait]
impl Middleware for Callee {
    async fn handle(&self, request: Request, _: &mut http::Extensions, _: Next<'_>) -> Result<Response, Error> {
        let body = request.body().and_then(|body| body.as_bytes()).map(<[u8]>::to_vec);
        let (method, headers) = (request.method().clone(), request.headers().clone());
        match self.take(Seen { at: Instant::now(), method, headers, body }) {
            Reply::Silence => std::future::pending().await,
            Reply::Refusal => Err(Error::middleware(std::io::Error::other("no signature"))),
            Reply::Answer { status, headers, body } => {
                let mut response = http::Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                Ok(Response::from(response.body(body).unwrap()))
            }
        }
    }
}

/// A client that needs no proxy and has a TLS provider, as every client of reqwest without its own must.
pub(crate) fn http_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Sends a charge.
pub(crate) async fn post(client: &ClientWithMiddleware) -> Result<Response, Error> {
    client.post("http://callee.test/charges").body("one charge").send().await
}

/// Asserts that this is an answer, and gives its status, its body, and how many attempts it took.
pub(crate) async fn answer(result: Result<Response, Error>) -> (u16, String, u32) {
    let response = result.unwrap();
    let (status, attempts) = (response.status(), Resolved::of(&response).unwrap().attempts());
    (status.as_u16(), response.text().await.unwrap(), attempts)
}

/// Asserts that this is this layer's error, and lets it be looked at.
pub(crate) fn failure<T>(result: Result<Response, Error>, look: impl FnOnce(&ClientError) -> T) -> T {
    let error = result.unwrap_err();
    look(ClientError::of(&error).unwrap_or_else(|| panic!("{error:?}")))
}

/// Asserts that a request is unresolved, under the key that the callee saw in every attempt, and why.
pub(crate) fn unresolved(callee: &Callee, result: Result<Response, Error>) -> (Stopped, Option<StatusCode>) {
    failure(result, |error| match error {
        ClientError::Unresolved(unresolved) => {
            assert_eq!(unresolved.key().as_str(), callee.one_key());
            assert_eq!(unresolved.attempts() as usize, callee.count());
            assert!(!error.nothing_was_sent());
            let status = match unresolved.last() {
                LastAnswer::InFlight(status) | LastAnswer::Transient(status) => Some(*status),
                _ => None,
            };
            (unresolved.stopped(), status)
        }
        other => panic!("{other:?}"),
    })
}
