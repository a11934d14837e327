//! The function behind a trigger: decoded by `lambda_http`, made idempotent by the macro, answered by `lambda_http`.

use std::{
    cell::OnceCell,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use idempotency_core::MemoryStore;
use lambda_http::{
    Adapter, Body, Context, Error, LambdaEvent, Request, RequestExt, Response, Service,
    request::{LambdaRequest, RequestContext, RequestOrigin},
    service_fn,
};
use lambda_idempotency::{
    Attempt, Idempotency, Namespace,
    http::{Classify, Failure, Json, Reply, ScopeSource, scope},
    idempotent,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{panics, trigger::Kind};

/// Whose keys a function uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The claim `sub` of the caller's JWT.
    Jwt,
    /// What a load balancer writes into a header after it authenticated the caller.
    Oidc,
    /// The IAM user that signed the request.
    Iam,
}

/// What a caller asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Charge {
    pub(super) amount: u64,
    #[serde(rename = "currency")]
    _currency: String,
    #[serde(rename = "customer")]
    _customer: String,
}

/// How a handler ends. The amount says which, so that a mutated body meets all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Json,
    Binary,
    Empty,
    Latin1,
    ManyHeaders,
    Retryable,
    Permanent,
    Abandoned,
}

impl Ending {
    /// The body of the response as it must reach the caller, and whether it travels as base64.
    pub(super) fn body(self, amount: u64) -> Option<(String, bool)> {
        match self {
            Self::Json => Some((format!("{{\"amount\":{amount}}}"), false)),
            Self::Binary => Some(("iVD/AA==".into(), true)),
            Self::Latin1 => Some(("caf\u{e9}".into(), false)),
            Self::ManyHeaders => Some(("many".into(), false)),
            Self::Permanent => Some(("declined".into(), false)),
            Self::Empty => Some((String::new(), false)),
            Self::Retryable | Self::Abandoned => None,
        }
    }
}

impl Charge {
    pub(super) const fn ending(&self) -> Ending {
        match self.amount % 8 {
            0 => Ending::Json,
            1 => Ending::Binary,
            2 => Ending::Empty,
            3 => Ending::Latin1,
            4 => Ending::ManyHeaders,
            5 => Ending::Retryable,
            6 => Ending::Permanent,
            _ => Ending::Abandoned,
        }
    }
}

/// A run of the handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Key and tenant, if it had proof that it owns the key.
    pub(super) attempt: Option<(String, String)>,
    /// Whether the effect happened.
    pub(super) effect: bool,
}

/// What an event is answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// It was refused when it was decoded; the runtime reports that.
    NotDecoded,
    /// `lambda_http` panicked before the handler; the runtime catches and reports that.
    Panicked(panics::Known),
    /// The handler's error, which the runtime reports.
    Failed,
    /// The response, as it goes to Lambda.
    Response(Value),
}

/// A function with a store and a ledger of its own.
pub(super) struct Function {
    scope: Scope,
    idempotency: Idempotency<MemoryStore>,
    ledger: Ledger,
}

#[derive(Default)]
struct Ledger(Mutex<Vec<Run>>);

impl Ledger {
    fn add(&self, run: Run) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }
}

impl Function {
    pub(super) fn new(scope: Scope) -> Self {
        let namespace = Namespace::new("fuzz").unwrap();
        Self { scope, idempotency: Idempotency::new(MemoryStore::default(), namespace), ledger: Ledger::default() }
    }

    /// Every run of the handler so far.
    pub(super) fn runs(&self) -> Vec<Run> {
        self.ledger.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many records there are.
    pub(super) fn records(&self) -> usize {
        self.idempotency.engine().store().records().len()
    }

    /// Gives the function an event; says what kind of event it was taken for, and the answer.
    pub(super) fn invoke(&self, event: &str) -> (Option<Kind>, Answer) {
        thread_local! {
            static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
        }
        let Ok(request) = serde_json::from_str::<LambdaRequest>(event) else { return (None, Answer::NotDecoded) };
        let kind = match request.request_origin() {
            RequestOrigin::ApiGatewayV1 => Kind::Rest,
            RequestOrigin::ApiGatewayV2 => Kind::HttpApi,
            RequestOrigin::Alb => Kind::Alb,
            other => panic!("an event of a kind that is not served: {other:?}"),
        };
        let mut context = Context::default();
        let deadline = self.idempotency.engine().now() + Duration::from_secs(30);
        context.deadline = deadline.get().unsigned_abs();
        let mut adapter = Adapter::from(service_fn(|request: Request| self.handle(request)));
        let answered = panics::caught(|| {
            RUNTIME.with(|runtime| {
                let runtime = runtime
                    .get_or_init(|| tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap());
                runtime.block_on(adapter.call(LambdaEvent::new(request, context)))
            })
        });
        let answer = match answered {
            Err(known) => Answer::Panicked(known),
            Ok(Err(_)) => Answer::Failed,
            // As the runtime does it: to text, and that is what Lambda reads.
            Ok(Ok(response)) => {
                let text = serde_json::to_string(&response).unwrap();
                Answer::Response(serde_json::from_str(&text).unwrap())
            }
        };
        (Some(kind), answer)
    }

    async fn handle(&self, request: Request) -> Result<Reply, Error> {
        match self.scope {
            Scope::Jwt => charge_by_jwt(&self.idempotency, &self.ledger, request).await,
            Scope::Oidc => charge_by_oidc(&self.idempotency, &self.ledger, request).await,
            Scope::Iam => charge_by_iam(&self.idempotency, &self.ledger, request).await,
        }
    }
}

#[idempotent(operation = "create-charge", version = 1, scope = jwt_claim("sub"))]
async fn charge_by_jwt(
    Json(charge): Json<Charge>,
    attempt: Option<Attempt>,
    ledger: &Ledger,
) -> Result<Response<Body>, ChargeError> {
    run(&charge, attempt.as_ref(), ledger)
}

#[idempotent(operation = "create-charge", version = 1, scope = header("x-amzn-oidc-identity"))]
async fn charge_by_oidc(
    Json(charge): Json<Charge>,
    attempt: Option<Attempt>,
    ledger: &Ledger,
) -> Result<Response<Body>, ChargeError> {
    run(&charge, attempt.as_ref(), ledger)
}

#[idempotent(operation = "create-charge", version = 1, scope = iam_user())]
async fn charge_by_iam(
    Json(charge): Json<Charge>,
    attempt: Option<Attempt>,
    ledger: &Ledger,
) -> Result<Response<Body>, ChargeError> {
    run(&charge, attempt.as_ref(), ledger)
}

fn iam_user() -> ScopeSource {
    scope::custom("IAM user", |request| match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.authorizer.as_ref()?.iam.as_ref()?.user_id.clone(),
        _ => None,
    })
}

enum ChargeError {
    Retryable,
    Permanent,
    Abandoned,
}

impl Classify for ChargeError {
    fn classify(self) -> Failure {
        match self {
            Self::Retryable => Failure::Retryable { retry_after: None, source: "nothing happened".into() },
            Self::Permanent => Failure::Permanent(Box::new(response(402, &[], Body::from("declined")))),
            Self::Abandoned => Failure::Abandoned("nobody knows".into()),
        }
    }
}

fn run(charge: &Charge, attempt: Option<&Attempt>, ledger: &Ledger) -> Result<Response<Body>, ChargeError> {
    let ending = charge.ending();
    ledger.add(Run {
        attempt: attempt.map(|attempt| {
            (attempt.key().as_str().to_owned(), attempt.scope().as_tenant().unwrap_or_default().to_owned())
        }),
        effect: ending != Ending::Retryable,
    });
    match ending {
        Ending::Json => Ok(response(
            201,
            &[("content-type", "application/json"), ("location", "/charges/1")],
            Body::from(format!("{{\"amount\":{}}}", charge.amount)),
        )),
        Ending::Binary => Ok(response(200, &[("content-type", "image/png")], Body::from(&[0x89, b'P', 0xff, 0][..]))),
        Ending::Empty => Ok(response(204, &[], Body::Empty)),
        Ending::Latin1 => {
            Ok(response(200, &[("content-type", "text/plain; charset=iso-8859-1")], Body::from(&b"caf\xe9"[..])))
        }
        Ending::ManyHeaders => Ok(response(
            200,
            &[
                ("content-type", "text/plain"),
                ("date", "Sun, 29 Nov 2026 19:00:00 GMT"),
                ("link", "</a>; rel=a"),
                ("link", "</b>; rel=b"),
                ("set-cookie", "a=1"),
                ("set-cookie", "b=2"),
            ],
            Body::from("many"),
        )),
        Ending::Retryable => Err(ChargeError::Retryable),
        Ending::Permanent => Err(ChargeError::Permanent),
        Ending::Abandoned => Err(ChargeError::Abandoned),
    }
}

fn response(status: u16, headers: &[(&str, &str)], body: Body) -> Response<Body> {
    let builder =
        headers.iter().fold(Response::builder().status(status), |builder, (name, value)| builder.header(*name, *value));
    builder.body(body).unwrap()
}
