//! A Lambda function of records for the tests of triggers: it does with each record what the record says.
//!
//! The source is `TRIGGER`, the promise `ON_ABANDONED`, how the ends of a batch wait `LINGER_MS`, how long each request may
//! take `ATTEMPT_MS`, how many run side by side
//! `CONCURRENCY`, `ON_POISON` whether poison is skipped, `VISIBILITY=lease` lets messages in conflict wait for the lease, `ORDER` whether it is kept by key. With `MESSAGE=raw` any payload is taken.
//! Every run of the handler writes a new item into `EFFECTS_TABLE`: its runs are counted there, by key.

use std::{env, time::Duration};

use aws_sdk_dynamodb::{Client, config::timeout::TimeoutConfig, types::AttributeValue};
use lambda_http::{
    Error, LambdaEvent,
    lambda_runtime::{run, service_fn},
};
use lambda_idempotency::{
    Attempt, DynamoDbStore, Engine, Idempotency, IdempotencyKey, OnAbandoned, Operation, Scope, Timeouts,
    client_from_env,
    events::{
        DynamoDbStream, EventBridge, EventOperation, FromRecord, Identity, Invocation, Kafka, KafkaReporting, Kinesis,
        OnPoison, Payload, Raw, S3, Scheduler, Sns, Source, Sqs, Undecodable, run as run_records,
    },
    function::{Classify, Failed, Failure},
    sdk_config_from_env,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// What a record says.
#[derive(Debug, Default, Deserialize)]
struct Task {
    /// What to do: nothing special if not said.
    #[serde(default, rename = "do")]
    todo: Option<String>,
    /// The record's business key, if it has one.
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    s3: Option<S3Entity>,
}

/// What S3 says about an object, of which the tests set the ETag.
#[derive(Debug, Deserialize)]
struct S3Entity {
    object: S3Object,
}

#[derive(Debug, Deserialize)]
struct S3Object {
    #[serde(rename = "versionId")]
    version_id: Option<String>,
}

/// A record's payload, or with `MESSAGE=raw` any.
struct Message(Task);

impl<R> FromRecord<R> for Message {
    fn from_record(record: &R, payload: &Payload) -> Result<Self, Undecodable> {
        if env::var("MESSAGE").is_ok_and(|message| message == "raw") {
            return Raw::from_record(record, payload).map(|_| Self(Task::default()));
        }
        Task::from_record(record, payload).map(Self)
    }
}

impl Task {
    fn todo(&self) -> &str {
        let of_object = self.s3.as_ref().and_then(|s3| s3.object.version_id.as_deref());
        self.todo.as_deref().or(of_object).unwrap_or("it")
    }
}

#[derive(Debug, thiserror::Error)]
enum TaskError {
    #[error("nothing happened")]
    Retryable,
    #[error("it will never do")]
    Permanent,
    #[error("nobody knows")]
    Abandoned,
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

/// Where runs are counted.
struct Effects {
    client: Client,
    table: String,
}

impl Effects {
    /// Writes down that a record's handler runs, and does what the record says.
    async fn carry_out(&self, Message(task): Message, attempt: &Attempt) -> Result<(), TaskError> {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let run = format!("{}/{}/{}", attempt.key().as_str(), attempt.epoch().get(), attempt.number().get());
        let put = self.client.put_item().table_name(&self.table).item("run", text(&run));
        let put = put.item("key", text(attempt.key().as_str())).item("do", text(task.todo()));
        put.send().await.map_err(|_| TaskError::Abandoned)?;
        match task.todo() {
            "retryable" => Err(TaskError::Retryable),
            "permanent" => Err(TaskError::Permanent),
            "abandoned" => Err(TaskError::Abandoned),
            "panic" => asked_to_panic(),
            "exit" => std::process::exit(7),
            _ => Ok(()),
        }
    }
}

#[expect(clippy::panic, reason = "as asked")]
fn asked_to_panic() -> ! {
    panic!("as asked")
}

fn operation() -> EventOperation {
    let operation = EventOperation::new(Operation::declare("carry-out", 1));
    let operation = match env::var("ON_ABANDONED").as_deref() {
        Ok("reject") => operation.on_abandoned(OnAbandoned::Reject),
        _ => operation,
    };
    let operation = match number("LINGER_MS") {
        Some(linger) => operation.linger(Duration::from_millis(linger)),
        None => operation,
    };
    let operation = match number("CONCURRENCY") {
        Some(concurrency) => operation.concurrency(usize::try_from(concurrency).unwrap_or(usize::MAX)),
        None => operation,
    };
    let operation = match env::var("ORDER").as_deref() {
        Ok("key") => operation.order_by_key(),
        _ => operation,
    };
    match env::var("ON_POISON").as_deref() {
        Ok("skip") => operation.on_poison(OnPoison::Skip),
        _ => operation,
    }
}

fn identify(Message(task): &Message) -> Identity {
    let identity = Identity::new(Scope::none());
    match &task.key {
        Some(key) => identity.key(IdempotencyKey::new(key.as_str())),
        None => identity,
    }
}

/// Ends of claims wait for each other no longer than a part of what a call may take. Where a test wants them to wait, so may calls; and
/// where it counts requests, a slow answer is not asked for again.
async fn patient(idempotency: Idempotency) -> Result<Idempotency, Error> {
    if env::var_os("LINGER_MS").is_none() && env::var_os("ATTEMPT_MS").is_none() {
        return Ok(idempotency);
    }
    let mut timeouts = Timeouts::default();
    (timeouts.call, timeouts.completion) = (Duration::from_secs(60), Duration::from_secs(60));
    let engine = match number("ATTEMPT_MS") {
        Some(attempt) => Engine::new(DynamoDbStore::new(slow_client(attempt).await, env::var(Idempotency::TABLE)?)),
        None => idempotency.engine().clone(),
    };
    let engine = engine.with_timeouts(timeouts);
    Ok(Idempotency::with_engine(engine, idempotency.namespace().clone()).with_mode(idempotency.mode()))
}

/// A client that waits for each answer for this many milliseconds.
async fn slow_client(attempt: u64) -> Client {
    let attempt = Duration::from_millis(attempt);
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(attempt).operation_timeout(attempt).build();
    let config = aws_sdk_dynamodb::config::Builder::from(&sdk_config_from_env().await).timeout_config(timeouts);
    Client::from_conf(config.build())
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

async fn serve<Src>(source: Src) -> Result<(), Error>
where
    Src: Source + Copy,
    Src::Event: DeserializeOwned,
    Src::Response: Serialize,
{
    let idempotency = patient(Idempotency::from_env().await?).await?;
    let idempotency = match env::var("VISIBILITY").as_deref() {
        Ok("lease") => idempotency.with_sqs(aws_sdk_sqs::Client::new(&sdk_config_from_env().await)),
        _ => idempotency,
    };
    let effects = Effects { client: client_from_env().await, table: env::var("EFFECTS_TABLE")? };
    let (idempotency, effects, operation) = (&idempotency, &effects, &operation());
    let handler = async |message, attempt: Attempt| effects.carry_out(message, &attempt).await;
    run(service_fn(async |event: LambdaEvent<Src::Event>| {
        run_records(source, idempotency, operation, event, identify, handler).await
    }))
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    match env::var("TRIGGER")?.as_str() {
        "sqs" => serve(Sqs).await,
        "kinesis" => serve(Kinesis).await,
        "dynamodb" => serve(DynamoDbStream).await,
        "kafka" => serve(Kafka).await,
        "kafka-reporting" => serve(KafkaReporting).await,
        "eventbridge" => serve(EventBridge).await,
        "sns" => serve(Sns).await,
        "s3" => serve(S3).await,
        "scheduler" => serve(Scheduler).await,
        "invocation" => serve(Invocation).await,
        trigger => Err(format!("no trigger {trigger:?}").into()),
    }
}
