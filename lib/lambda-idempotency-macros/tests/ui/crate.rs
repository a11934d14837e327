extern crate self as lambda_idempotency;

#[path = "../../../lambda-idempotency/src/deadline.rs"]
mod deadline;
#[allow(unexpected_cfgs)]
#[path = "../../../lambda-idempotency/src/events/mod.rs"]
pub mod events;
#[path = "../../../lambda-idempotency/src/function/mod.rs"]
pub mod function;
#[path = "../../../lambda-idempotency/src/http/mod.rs"]
pub mod http;
#[path = "../../../lambda-idempotency/src/misfit.rs"]
mod misfit;
#[path = "../../../lambda-idempotency/src/mode.rs"]
mod mode;
#[path = "../../../lambda-idempotency/src/outcome.rs"]
mod outcome;
#[path = "../../../lambda-idempotency/src/private.rs"]
pub mod __private;
#[path = "../../../lambda-idempotency/src/probed.rs"]
mod probed;
#[allow(unexpected_cfgs)]
#[path = "../../../lambda-idempotency/src/propagation/mod.rs"]
pub mod propagation;
#[path = "../../../lambda-idempotency/src/undo.rs"]
mod undo;
#[path = "../../../lambda-idempotency/src/without_key.rs"]
mod without_key;

/// In place of the recorder that needs crates of its own.
#[allow(dead_code)]
mod metrics {
    pub(crate) enum Metric {
        Requests,
        Fresh,
        Replay,
        Conflict,
        Mismatch,
        InvalidKey,
        Uncertain,
        Failed,
        Released,
        Abandoned,
        StoreUnavailable,
        Misdirected,
        Takeover,
        Superseded,
        CompletionUnconfirmed,
        Uncommitted,
        CommitRefused,
        CompensationPending,
        CompensationStuck,
        CompensationLost,
        Unprotected,
        StoreLatency,
        RecordBytes,
        BatchSize,
    }

    pub(crate) fn count(_: &crate::Operation, _: Metric) {}

    pub(crate) fn measure(_: Option<&str>, _: Metric, _: f64) {}

    pub(crate) struct FlushAtEnd;

    impl FlushAtEnd {
        pub(crate) fn new() -> Self {
            Self
        }
    }
}

/// In place of the reader of old rows that needs the AWS SDK.
#[allow(dead_code)]
mod migration {
    use std::sync::Arc;

    use idempotency_core::{ClaimError, Claimed, Engine, IdempotencyKey, Outcome, Policy, Request, Scope, Store};
    use serde_json::{Map, Value};

    pub(crate) struct Migration;

    pub(crate) struct Old;

    pub(crate) struct Asked<'a> {
        pub(crate) key: &'a IdempotencyKey,
        pub(crate) scope: &'a Scope,
        pub(crate) arguments: Option<&'a Map<String, Value>>,
    }

    impl Old {
        pub(crate) fn of_request(_: Option<&Arc<Migration>>, _: &str, _: &lambda_http::Request) -> Option<Self> {
            None
        }

        pub(crate) fn of_call(_: Option<&Arc<Migration>>, _: &str, _: &Asked<'_>) -> Option<Self> {
            None
        }
    }

    pub(crate) async fn bridge<S: Store>(
        _: &Engine<S>,
        _: Option<&Old>,
        _: &Request,
        _: &Policy,
        _: bool,
        _: impl FnOnce(&str) -> Outcome,
        claimed: Result<Claimed, ClaimError>,
    ) -> Result<Claimed, ClaimError> {
        claimed
    }

    pub(crate) fn function_outcome(stored: &str) -> Outcome {
        crate::function::stored_json(stored)
    }

    pub(crate) fn http_outcome(_: &str, replayed_headers: &crate::http::ReplayedHeaders) -> Outcome {
        crate::http::StoredResponse::new(lambda_http::Response::default(), replayed_headers).outcome()
    }
}

pub use idempotency_core::{
    Attempt, Engine, IdempotencyKey, JsonPointer, MemoryStore, Namespace, OnAbandoned, Operation, Scope, Store, Undo,
    Undone, Window,
};
pub use {
    deadline::lambda_deadline,
    mode::Mode,
    probed::{Probed, nobody_can_say as no_probe},
    undo::no_undo,
};

/// In place of the store that needs the AWS SDK.
pub type DynamoDbStore = MemoryStore;

/// In place of the handle whose default store is DynamoDB.
pub struct Idempotency<S> {
    engine: Engine<S>,
    namespace: Namespace,
}

impl<S> Idempotency<S> {
    pub fn engine(&self) -> &Engine<S> {
        &self.engine
    }

    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub fn mode(&self) -> Mode {
        Mode::Enforce
    }

    pub(crate) fn migration(&self) -> Option<&std::sync::Arc<migration::Migration>> {
        None
    }

    pub(crate) fn batched(&self, linger: std::time::Duration) -> Idempotency<idempotency_core::Batched<S>> {
        Idempotency { engine: self.engine.batched(linger), namespace: self.namespace.clone() }
    }
}
