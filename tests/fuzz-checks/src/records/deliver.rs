//! One delivery of an event: what was read, what ran, what was answered.

use std::{
    cell::{OnceCell, RefCell},
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use idempotency_core::MemoryStore;
use lambda_http::{Context, LambdaEvent};
use lambda_idempotency::{
    Attempt, Idempotency, IdempotencyKey, Namespace, Operation, Scope,
    events::{EventOperation, FromRecord, Identity, OnPoison, Payload, Source, Undecodable, run},
    function::{Classify, Failed, Failure},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{runtime::Runtime, task::yield_now};

use crate::events::caught;

/// The id of every invocation here, so that each event is delivered again under its own.
pub(super) const REQUEST_ID: &str = "8476a536-e9f4-11e8-9739-2dfe598c3fcd";

/// What a record says.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Task {
    #[serde(default, rename = "do")]
    todo: Option<String>,
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    s3: Option<Notification>,
}

#[derive(Clone, Debug, Deserialize)]
struct Notification {
    object: Object,
}

#[derive(Clone, Debug, Deserialize)]
struct Object {
    #[serde(rename = "versionId")]
    version_id: Option<String>,
}

/// How a handler ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    Retryable,
    Permanent,
    Abandoned,
    Panic,
}

impl Task {
    pub(super) fn ending(&self) -> Ending {
        let of_object = self.s3.as_ref().and_then(|s3| s3.object.version_id.as_deref());
        match self.todo.as_deref().or(of_object).unwrap_or_default() {
            "retryable" => Ending::Retryable,
            "permanent" => Ending::Permanent,
            "abandoned" => Ending::Abandoned,
            "panic" => Ending::Panic,
            _ => Ending::Done,
        }
    }
}

/// A record as it was read: its payload, and what it says if it can be read.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) payload: Vec<u8>,
    pub(super) task: Option<Task>,
}

/// A record on its way to the handler, with its place in the event.
struct Seen {
    record: usize,
    task: Task,
}

thread_local! {
    /// What has been read of the event that is being delivered.
    static READ: RefCell<Vec<Read>> = const { RefCell::new(Vec::new()) };
}

impl<R> FromRecord<R> for Seen {
    fn from_record(record: &R, payload: &Payload) -> Result<Self, Undecodable> {
        let task = Task::from_record(record, payload);
        READ.with_borrow_mut(|read| {
            let number = read.len();
            read.push(Read { payload: payload.bytes().into_owned(), task: task.as_ref().ok().cloned() });
            task.map(|task| Self { record: number, task })
        })
    }
}

/// A run of the handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The record's place in the event.
    pub(super) record: usize,
    pub(super) key: String,
    pub(super) ending: Ending,
}

#[derive(Debug)]
enum TaskError {
    Retryable,
    Permanent,
    Abandoned,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as asked")
    }
}

impl Classify for TaskError {
    fn classify(&self) -> Failure {
        match self {
            Self::Retryable => Failure::Retryable { retry_after: None },
            Self::Permanent => Failure::Permanent(Failed::new("it will never do")),
            Self::Abandoned => Failure::Abandoned,
        }
    }
}

/// How a function is set up. An event's length says which, so that one event always meets the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) skips_poison: bool,
    concurrency: Option<usize>,
}

impl Setup {
    pub(super) fn of(text: &str) -> Self {
        let concurrency = [None, None, Some(1), Some(2)][text.len() % 4];
        Self { skips_poison: text.len().is_multiple_of(5), concurrency }
    }

    fn operation(self) -> EventOperation {
        let operation = EventOperation::new(Operation::declare("carry-out", 1));
        let on_poison = if self.skips_poison { OnPoison::Skip } else { OnPoison::Report };
        let operation = operation.on_poison(on_poison);
        self.concurrency.map_or(operation.clone(), |concurrency| operation.concurrency(concurrency))
    }
}

/// A function of records with a store and a ledger of its own.
pub(super) struct Function {
    idempotency: Idempotency<MemoryStore>,
    operation: EventOperation,
    ledger: Mutex<Vec<Run>>,
}

/// One delivery.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) read: Vec<Read>,
    pub(super) runs: Vec<Run>,
    /// The answer as Lambda reads it, or that there was an error.
    pub(super) answer: Result<Value, ()>,
}

impl Function {
    pub(super) fn new(setup: Setup) -> Self {
        let namespace = Namespace::new("fuzz").unwrap();
        Self {
            idempotency: Idempotency::new(MemoryStore::default(), namespace),
            operation: setup.operation(),
            ledger: Mutex::default(),
        }
    }

    /// How many records of keys there are.
    pub(super) fn records(&self) -> usize {
        self.idempotency.engine().store().records().len()
    }

    /// Delivers an event; `None` if it is refused when it is decoded.
    pub(super) fn deliver<Src>(&self, source: Src, text: &str) -> Option<Delivery>
    where
        Src: Source<Event: DeserializeOwned, Response: Serialize>,
    {
        let event = serde_json::from_str(text).ok()?;
        READ.take();
        let answered = caught(|| block_on(self.run(source, LambdaEvent::new(event, self.context()))));
        let answer = answered.unwrap_or_else(|known| panic!("a panic that is known of HTTP events only: {known:?}"));
        let runs = std::mem::take(&mut *self.ledger.lock().unwrap_or_else(PoisonError::into_inner));
        Some(Delivery { read: READ.take(), runs, answer })
    }

    async fn run<Src>(&self, source: Src, event: LambdaEvent<Src::Event>) -> Result<Value, ()>
    where
        Src: Source<Response: Serialize>,
    {
        let identify = |seen: &Seen| match &seen.task.key {
            Some(key) => Identity::new(Scope::none()).key(IdempotencyKey::new(key.as_str())),
            None => Identity::new(Scope::none()),
        };
        let handler = |seen: Seen, attempt: Attempt| self.handle(seen, attempt);
        let answer = run(source, &self.idempotency, &self.operation, event, identify, handler).await;
        answer.map(|response| serde_json::to_value(response).unwrap()).map_err(drop)
    }

    async fn handle(&self, seen: Seen, attempt: Attempt) -> Result<(), TaskError> {
        let ending = seen.task.ending();
        let run = Run { record: seen.record, key: attempt.key().as_str().to_owned(), ending };
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        // Others get their turn meanwhile.
        for _ in 0..seen.record % 3 {
            yield_now().await;
        }
        match ending {
            Ending::Done => Ok(()),
            Ending::Retryable => Err(TaskError::Retryable),
            Ending::Permanent => Err(TaskError::Permanent),
            Ending::Abandoned => Err(TaskError::Abandoned),
            Ending::Panic => panic!("as asked"),
        }
    }

    fn context(&self) -> Context {
        let mut context = Context::default();
        context.request_id = REQUEST_ID.into();
        let deadline = self.idempotency.engine().now() + Duration::from_secs(30);
        context.deadline = deadline.get().unsigned_abs();
        context
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    }
    // Time stands still until all wait for it: what lingers takes none of ours.
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    RUNTIME.with(|cell| cell.get_or_init(runtime).block_on(future))
}
