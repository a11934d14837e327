//! A table, what attempts have left in it, and the command.

use std::{
    process::{Command, Output, Stdio},
    time::Duration,
};

use idempotency_core::{
    Claim, Claimed, Clock, Engine, EpochMillis, Fingerprint, IdempotencyKey, Namespace, OnAbandoned, Operation, Policy,
    Record, RecordKey, Request, Scope, Status, Store, SystemClock, Window,
};
use idempotency_dynamodb::DynamoDbStore;
use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table};
use serde_json::Value;

pub(crate) const TABLE: &str = "idempotency";
const WITHIN: Duration = Duration::from_secs(30);
/// So long ago that nobody is coming back by itself.
const LONG_AGO: Duration = Duration::from_secs(2 * 3600);

/// The system's clock, so much ago.
struct Ago(Duration);

impl Clock for Ago {
    fn now(&self) -> EpochMillis {
        SystemClock.now() - self.0
    }
}

pub(crate) struct World {
    pub(crate) dynamodb: EmbeddedDynamoDb,
    pub(crate) engine: Engine<DynamoDbStore>,
}

/// What the command said, and its exit code.
pub(crate) struct Told {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Told {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { exit: output.status.code().unwrap(), out: text(output.stdout), error: text(output.stderr) }
    }

    /// Its one JSON object.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}{}", self.out, self.error))
    }

    /// Asserts that it was refused in one line, with nothing on standard output.
    pub(crate) fn assert_refused(&self, exit: i32, said: &str) {
        assert_eq!(self.exit, exit, "{}{}", self.out, self.error);
        assert!(self.error.contains(said), "{}", self.error);
        // clap's own messages have more lines.
        assert!(
            !self.error.starts_with("error: ") || exit == 2 || self.error.trim_end().lines().count() == 1,
            "{}",
            self.error
        );
    }
}

/// Runs the command without what the machine's environment says of AWS.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idempotency"));
    command.args(arguments).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("AWS_") || name.starts_with("IDEMPOTENCY_")) {
            command.env_remove(name);
        }
    }
    // No configuration files, and no metadata service to ask.
    command.env("AWS_CONFIG_FILE", "/nowhere").env("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

pub(crate) fn run_plain(arguments: &[&str]) -> Told {
    Told::of(command(arguments).output().unwrap())
}

impl World {
    pub(crate) async fn start() -> Self {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        create_idempotency_table(&dynamodb.client(), TABLE).await.unwrap();
        let engine = Engine::new(DynamoDbStore::new(dynamodb.client(), TABLE));
        Self { dynamodb, engine }
    }

    /// The engine as it was so long ago.
    pub(crate) fn engine_ago(&self, ago: Duration) -> Engine<DynamoDbStore> {
        self.engine.clone().with_clock(Ago(ago))
    }

    /// Runs the command on this table.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Told {
        self.run_with(command, arguments).await
    }

    pub(crate) async fn run_with(&self, command: impl Fn(&[&str]) -> Command, arguments: &[&str]) -> Told {
        let url = self.dynamodb.endpoint_url().to_owned();
        let mut command = command(arguments);
        command.args(["--table", TABLE, "--namespace", "test", "--endpoint-url", &url]);
        // The engine is served by this runtime, which must not wait for the process.
        tokio::task::spawn_blocking(move || Told::of(command.output().unwrap())).await.unwrap()
    }

    /// A claim of an attempt that began so long ago and has 10 s.
    pub(crate) async fn claim(&self, key: &str, ago: Duration) -> Claim {
        let engine = self.engine_ago(ago);
        let request = request(key, engine.now() + Duration::from_secs(10));
        match engine.claim(&request, &policy()).await.unwrap() {
            Claimed::Fresh(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    /// An attempt that was lost two hours ago. Gives its record's place.
    pub(crate) async fn lost(&self, key: &str) -> RecordKey {
        self.claim(key, LONG_AGO).await.record().key.clone()
    }

    /// A record of this status whose lease has been over for almost two hours, with what `change` makes of it.
    pub(crate) async fn left(&self, key: &str, status: Status, change: impl FnOnce(Record) -> Record) -> Record {
        let claim = self.claim(key, LONG_AGO).await;
        let record = change(Record { status, ..claim.record().clone() });
        self.engine.store().replace(claim.record().version(), &record, WITHIN).await.unwrap();
        record
    }

    pub(crate) async fn record(&self, key: &RecordKey) -> Option<Record> {
        self.engine.store().get(key, WITHIN).await.unwrap()
    }

    /// What a request with this key gets.
    pub(crate) async fn ask(&self, key: &str) -> Claimed {
        let request = request(key, self.engine.now() + Duration::from_secs(10));
        self.engine.claim(&request, &policy()).await.unwrap()
    }
}

/// Undoing, and no second effect.
pub(crate) fn policy() -> Policy {
    Policy::new(Window::http()).on_abandoned(OnAbandoned::Reject).undo(true)
}

pub(crate) fn request(key: &str, deadline: EpochMillis) -> Request {
    Request {
        namespace: Namespace::new("test").unwrap(),
        operation: Operation::new("charge", 1).unwrap(),
        scope: Scope::tenant("tenant-7").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        fingerprint: Fingerprint::from_bytes([3; 32]),
        deadline,
    }
}

/// The options that name the record of [`request`].
pub(crate) const WHICH: [&str; 5] = ["--operation", "charge", "--scope", "tenant-7", "--key"];

/// A command line about the record of this key.
pub(crate) fn about<'a>(command: &'a str, key: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&[command][..], &WHICH, &[key], rest].concat()
}

/// What repairs are said with.
pub(crate) const WORD: [&str; 5] = ["--reason", "asked the provider", "--by", "ops", "--yes"];
