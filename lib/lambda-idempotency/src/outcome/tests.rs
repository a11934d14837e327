//! What the log says of atomic operations: what became of them, when that is known.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use idempotency_core::{Engine, IdempotencyKey, MemoryStore, Namespace, Scope, TableWrite};
use lambda_http::{Body, Error, Request, http};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_default,
};

use super::*;
use crate::{
    Attempt, Idempotency,
    function::{self, BoxError, Call, FunctionOperation},
    http::{Classify, Failure, HttpOperation, scope},
};

/// Keeps the outcomes that are logged, in their order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if ["outcome", "attempt", "would_be"].contains(&field.name()) {
            self.0.lock().unwrap().push(format!("{}={value:?}", field.name()).replace('"', ""));
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Log {
    /// What was logged since the last time.
    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(" ")
    }
}

const TRANSFER: Operation = Operation::declare("transfer", 1);

fn idempotency(mode: Mode) -> Idempotency<MemoryStore> {
    Idempotency::new(MemoryStore::default(), Namespace::new("test").unwrap()).with_mode(mode)
}

fn staged(attempt: &Attempt) {
    attempt.stage(TableWrite::put("t", json!({ "id": 1 })).unwrap()).unwrap();
}

enum NotTransferred {
    ForGood,
    Now,
    Somehow,
}

impl Classify for NotTransferred {
    fn classify(self) -> Failure {
        match self {
            Self::ForGood => Failure::Permanent(Box::default()),
            Self::Now => Failure::Retryable { retry_after: None, source: "busy".into() },
            Self::Somehow => Failure::Abandoned("odd".into()),
        }
    }
}

async fn transfer(
    idempotency: &Idempotency<MemoryStore>,
    key: &str,
    body: &'static str,
    returns: Result<(), NotTransferred>,
) {
    let operation = HttpOperation::new(TRANSFER, scope::none()).atomic();
    let request = http::Request::post("/transfers").header("idempotency-key", key).body(Body::from(body)).unwrap();
    let handler = async |_: Request, attempt: Attempt| {
        staged(&attempt);
        returns.map(|()| "done")
    };
    let _: Result<_, Error> = crate::http::run(idempotency, &operation, request, Ok, handler).await;
}

#[tokio::test]
async fn of_an_atomic_request_the_log_says_what_became_of_it_and_not_that_it_is_fresh() {
    let (log, idempotency) = (Log::default(), idempotency(Mode::Enforce));
    let _guard = set_default(log.clone());
    for (key, body, returns, says) in [
        ("k-1", "a", Ok(()), "outcome=fresh attempt=1"),
        ("k-1", "a", Ok(()), "outcome=replay"),
        ("k-1", "b", Ok(()), "outcome=mismatch"),
        ("k-1", "a", Err(NotTransferred::Now), "outcome=replay"),
        ("k-2", "a", Err(NotTransferred::Now), "outcome=retryable attempt=1"),
        ("k-2", "a", Err(NotTransferred::Somehow), "outcome=abandoned attempt=1"),
        ("k-2", "a", Err(NotTransferred::ForGood), "outcome=failed attempt=1"),
        ("k-2", "a", Ok(()), "outcome=replay"),
    ] {
        transfer(&idempotency, key, body, returns).await;
        assert_eq!(log.take(), says, "{key} {body}");
    }
}

#[tokio::test]
async fn of_an_atomic_call_the_log_says_what_became_of_it_and_not_that_it_is_fresh() {
    let (log, idempotency) = (Log::default(), idempotency(Mode::Enforce));
    let _guard = set_default(log.clone());
    let operation = FunctionOperation::new(TRANSFER).atomic();
    for (argument, returns, says) in [
        (1, Err("odd"), "outcome=abandoned attempt=1"),
        (1, Ok(7), "outcome=fresh attempt=1"),
        (1, Ok(7), "outcome=replay"),
        (2, Ok(7), "outcome=mismatch"),
    ] {
        let call = Call::new(IdempotencyKey::new("k-1"), Scope::none()).argument("amount", &argument);
        let handler = async |attempt| {
            staged(&attempt);
            returns.map_err(BoxError::from)
        };
        let _ = function::run(&idempotency, &operation, call, handler).await;
        assert_eq!(log.take(), says, "{argument}");
    }
}

#[tokio::test]
async fn shadow_mode_tells_of_an_atomic_request_what_would_have_been() {
    let (log, idempotency) = (Log::default(), idempotency(Mode::Shadow));
    let _guard = set_default(log.clone());
    for (body, says) in [("a", ""), ("a", "would_be=replay"), ("b", "would_be=mismatch")] {
        transfer(&idempotency, "k-1", body, Ok(())).await;
        assert_eq!(log.take(), says, "{body}");
    }
    assert_eq!(idempotency.engine().store().effects().len(), 3, "each one's writes are made");
}

#[tokio::test]
async fn each_end_of_an_atomic_operation_has_its_name() {
    let log = Log::default();
    let _guard = set_default(log.clone());
    let policy = Policy::new(crate::Window::http()).atomic(true);
    let request = idempotency_core::Request {
        namespace: Namespace::new("test").unwrap(),
        operation: TRANSFER,
        scope: Scope::none(),
        key: IdempotencyKey::new("k-1").unwrap(),
        fingerprint: idempotency_core::Fingerprint::builder().finish(),
        deadline: idempotency_core::EpochMillis::new(i64::MAX / 2),
    };
    let claimed = Engine::new(MemoryStore::default()).claim(&request, &policy).await;
    super::claimed(&request, &claimed, &policy);
    assert_eq!(log.take(), "", "nothing is known yet");
    let Ok(Claimed::Fresh(claim)) = claimed else { panic!("{claimed:?}") };
    let end = Ending::of(&claim, &policy, Mode::Enforce);
    for (completion, says) in [
        (Completion::Uncommitted, "outcome=uncommitted attempt=1"),
        (Completion::CommitRefused, "outcome=commit-refused attempt=1"),
        (Completion::Vanished, "outcome=unconfirmed attempt=1"),
        (Completion::Superseded(None), "outcome=conflict"),
        (Completion::Instead(Box::new(Claimed::Stuck)), "outcome=stuck"),
    ] {
        let _ = end.log(Ended::Completed, completion);
        assert_eq!(log.take(), says);
    }
    super::claimed(&request, &Ok(Claimed::Fresh(claim)), &policy.atomic(false));
    assert_eq!(log.take(), "outcome=fresh attempt=1", "a claim proves it");
}
