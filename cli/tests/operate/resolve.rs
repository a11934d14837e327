use std::{io::Write, process::Stdio, time::Duration};

use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};
use idempotency_core::{
    Claimed, Clock, EpochSeconds, Outcome, Record, RecordKey, Status, StepError, Store, StoredResult, SystemClock,
};
use lambda_http::{Body, Error, Request, http};
use lambda_idempotency::{
    Attempt, Idempotency, IdempotencyKey, Namespace, OnAbandoned, Operation, Scope,
    function::{BoxError, Call, FunctionOperation, run as call},
    http::{HttpOperation, run as serve, scope},
};
use serde_json::json;

use crate::world::{Told, WORD, World, about, command};

const HOUR: Duration = Duration::from_secs(3600);

fn resolve<'a>(key: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    about("resolve", key, &[rest, &WORD].concat())
}

/// An HTTP request, its attempts lost or not.
struct Http(HttpOperation);

impl Http {
    fn new() -> Self {
        Self(
            HttpOperation::new(Operation::declare("pay", 1), scope::header("x-tenant"))
                .on_abandoned(OnAbandoned::Reject),
        )
    }

    fn request() -> Request {
        let request =
            http::Request::post("/payments").header("idempotency-key", "pay-1").header("x-tenant", "tenant-7");
        request.body(Body::from("{}")).unwrap()
    }

    /// An attempt of an hour ago, which got an error and does not say what it means.
    async fn lose(&self, world: &World) {
        let idempotency = Idempotency::with_engine(world.engine_ago(HOUR), Namespace::new("test").unwrap());
        let lost = async |_: Request, _: Attempt| Err::<String, Error>("no answer".into());
        serve(&idempotency, &self.0, Self::request(), Ok, lost).await.map(|_| ()).unwrap_err();
    }

    /// Status, a header and the body of what the request gets now; or that the handler ran.
    async fn ask(&self, world: &World) -> (u16, String, Vec<u8>) {
        let idempotency = Idempotency::with_engine(world.engine.clone(), Namespace::new("test").unwrap());
        let runs = async |_: Request, _: Attempt| Ok::<_, Error>("the handler ran".to_owned());
        let response = serve(&idempotency, &self.0, Self::request(), Ok, runs).await.unwrap().into_inner();
        let location = response.headers().get("location").map_or("", |value| value.to_str().unwrap()).to_owned();
        (response.status().as_u16(), location, response.body().as_ref().to_vec())
    }

    const WHICH: [&str; 9] =
        ["resolve", "--operation", "pay", "--route", "POST /payments", "--scope", "tenant-7", "--key", "pay-1"];
}

#[tokio::test]
async fn the_response_that_an_operator_gives_is_what_callers_get_byte_for_byte() {
    let world = World::start().await;
    let http = Http::new();
    http.lose(&world).await;
    assert_eq!(http.ask(&world).await.0, 500, "outcome unknown");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("response.json");
    std::fs::write(&file, r#"{"status": 201, "headers": {"location": "/payments/1"}, "body": "pa\u00efd\n"}"#).unwrap();
    let arguments = [&Http::WHICH[..], &["--completed", file.to_str().unwrap()], &WORD].concat();
    let told = world.run(&arguments).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    assert!(told.out.contains("Done: it is completed now, by ops."), "{}", told.out);
    assert_eq!(http.ask(&world).await, (201, "/payments/1".into(), "païd\n".as_bytes().to_vec()));
    // It has ended, so nobody says anything else.
    world.run(&arguments).await.assert_refused(1, "the operation has ended");
}

#[tokio::test]
async fn a_response_above_32_kb_comes_from_standard_input_into_parts_and_out_again() {
    let world = World::start().await;
    let http = Http::new();
    http.lose(&world).await;
    // Noise does not compress.
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    let body: String = (0..100_000).map(|_| noise()).collect();
    let response = json!({ "status": 200, "body": body }).to_string();
    let piped = move |arguments: &[&str]| {
        let mut command = command(arguments);
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(response.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut input).unwrap();
        command.stdin(Stdio::from(input));
        command
    };
    let told = world.run_with(piped, &[&Http::WHICH[..], &["--completed", "-", "--json"], &WORD].concat()).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    assert!(told.json()["record"]["result"]["parts"].as_u64() > Some(0), "{}", told.out);
    assert_eq!(http.ask(&world).await.2, body.as_bytes());
}

#[tokio::test]
async fn a_value_or_failure_that_an_operator_gives_is_what_calls_get() {
    let world = World::start().await;
    let operation = FunctionOperation::new(Operation::declare("send", 1)).on_abandoned(OnAbandoned::Reject);
    let send = async |engine, key: &str| {
        let idempotency = Idempotency::with_engine(engine, Namespace::new("test").unwrap());
        let lost = async |_: Attempt| Err::<u32, BoxError>("no answer".into());
        call(&idempotency, &operation, Call::new(IdempotencyKey::new(key), Scope::none()), lost).await
    };
    for key in ["a", "b"] {
        send(world.engine_ago(HOUR), key).await.unwrap_err();
    }
    let which = ["resolve", "--operation", "send", "--no-scope", "--key"];
    let told = world.run(&[&which[..], &["a", "--completed-value", "7"], &WORD].concat()).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    assert_eq!(send(world.engine.clone(), "a").await.unwrap().value, 7);
    let told = world.run(&[&which[..], &["b", "--failed-message", "never"], &WORD].concat()).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    assert!(
        matches!(send(world.engine.clone(), "b").await, Err(lambda_idempotency::function::Error::Failed(failed)) if failed.message() == "never")
    );
}

#[tokio::test]
async fn a_rerun_lets_the_next_request_run_and_its_finished_steps_stand() {
    let world = World::start().await;
    let claim = world.claim("order-1", HOUR).await;
    // Its own clock says that it has time.
    claim.attempt().step("reserve", async |_| Ok::<_, StepError>(1)).await.unwrap();
    drop(claim);
    assert!(matches!(world.ask("order-1").await, Claimed::Uncertain));
    let told = world.run(&resolve("order-1", &["--rerun"])).await;
    assert!(told.exit == 0 && told.out.contains("1 finished steps stand"), "{}{}", told.out, told.error);
    let Claimed::Fresh(claim) = world.ask("order-1").await else { panic!("it runs") };
    assert_eq!(claim.attempt().number().get(), 2);
    let again =
        claim.attempt().step("reserve", async |_| Err::<i32, _>(StepError::NoUndo { name: "made again".into() })).await;
    assert_eq!(again.unwrap(), 1);
    let _ = world.engine.complete(claim, Outcome::new("done")).await;
}

#[tokio::test]
async fn who_did_it_when_and_why_stands_beside_the_record() {
    let world = World::start().await;
    let record = world.lost("order-1").await;
    let before = world.record(&record).await.unwrap();
    assert_eq!(world.run(&resolve("order-1", &["--rerun"])).await.exit, 0);
    let json = world.run(&about("inspect", "order-1", &["--json"])).await.json();
    let audit = &json["beside"]["audit"][0];
    assert_eq!(
        (audit["by"].as_str(), audit["reason"].as_str(), audit["action"].as_str()),
        (Some("ops"), Some("asked the provider"), Some("rerun"))
    );
    assert_eq!(
        (audit["status_before"].as_str(), audit["status_after"].as_str()),
        (Some("in_flight"), Some("released"))
    );
    assert_eq!(audit["epoch_before"].as_i64(), Some(before.epoch.get()));
    assert_eq!(audit["owner_before"].as_str(), Some(before.owner.to_string().as_str()));
    assert!(json["epoch"].as_i64().unwrap() > before.epoch.get());
}

#[tokio::test]
async fn what_is_stuck_is_let_go_on_or_ended_with_the_failure_that_is_stored() {
    let world = World::start().await;
    let failure = || Some(StoredResult::Inline(bytes::Bytes::from_static(b"\0declined")));
    for key in ["again", "by-hand"] {
        world.left(key, Status::Stuck, |record| idempotency_core::Record { result: failure(), ..record }).await;
        assert!(matches!(world.ask(key).await, Claimed::Stuck));
    }
    let told = world.run(&resolve("again", &["--rerun"])).await;
    assert!(told.exit == 0 && told.out.contains("The handler does not run"), "{}{}", told.out, told.error);
    assert!(matches!(world.ask("again").await, Claimed::Compensating(_)));
    let told = world.run(&resolve("by-hand", &["--failed"])).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    let Claimed::Replay(replay) = world.ask("by-hand").await else { panic!("it has ended") };
    assert_eq!((replay.is_failure(), replay.body()), (true, Some(&b"declined"[..])));
}

#[tokio::test]
async fn nothing_is_changed_where_it_may_not_be() {
    let world = World::start().await;
    let running = world.claim("running", Duration::ZERO).await.record().clone();
    world.run(&resolve("running", &["--rerun"])).await.assert_refused(1, "an attempt may still be running");
    assert_eq!(world.record(&running.key).await, Some(running));
    world.run(&resolve("nobody", &["--rerun"])).await.assert_refused(1, "there is no record");
    world.left("released", Status::Released, |record| record).await;
    world.run(&resolve("released", &["--rerun"])).await.assert_refused(1, "goes on by itself");
    let expired = |record| idempotency_core::Record { expires_at: EpochSeconds::new(1), ..record };
    world.left("expired", Status::InFlight, expired).await;
    world.run(&resolve("expired", &["--rerun"])).await.assert_refused(1, "the record has expired");
}

async fn assert_untouched(world: &World, record: &RecordKey) {
    assert_eq!(world.record(record).await.unwrap().status, Status::InFlight);
    assert_eq!(world.engine.store().partition(record, Duration::from_secs(30)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_not_said_clearly_changes_nothing() {
    let world = World::start().await;
    let record = world.lost("order-1").await;
    let reason = ["--reason", "r", "--by", "ops"];
    let rows: [(&[&str], &str); 9] = [
        (&[], "--rerun"),
        (&["--rerun", "--completed-value", "1", "--yes"], "cannot be used with"),
        (&["--rerun"], "say --yes to do it"),
        (&["--rerun", "--yes", "--dry-run"], "cannot be used with"),
        (&["--completed", "/nowhere.json", "--yes"], "could not read an HTTP response"),
        (&["--completed-value", "done", "--yes"], "is no JSON"),
        (&["--failed", "--yes"], "no failure is stored"),
        (&["--completed-value", "1", "--yes", "--route", "POST /charges"], "is HTTP"),
        (&["--rerun", "--yes", "--json", "--by", " "], "cannot be used multiple times"),
    ];
    for (rest, said) in rows {
        world.run(&about("resolve", "order-1", &[&reason[..], rest].concat())).await.assert_refused(2, said);
    }
    world.run(&about("resolve", "order-1", &["--rerun", "--yes"])).await.assert_refused(2, "--reason");
    world
        .run(&about("resolve", "order-1", &["--rerun", "--yes", "--reason", " ", "--by", "ops"]))
        .await
        .assert_refused(2, "say why");
    world
        .run(&about("resolve", "order-1", &["--rerun", "--yes", "--reason", "r"]))
        .await
        .assert_refused(2, "say --by NAME");
    let nowhere = by_record(record.as_str(), &["--completed", "/nowhere.json"]);
    world.run(&nowhere).await.assert_refused(2, "cannot read the response /nowhere.json");
    let dry = world.run(&about("resolve", "order-1", &[&reason[..], &["--rerun", "--dry-run"]].concat())).await;
    assert!(dry.exit == 0 && dry.out.contains("Nothing was changed"), "{}{}", dry.out, dry.error);
    assert_untouched(&world, &record).await;
}

/// The same record, by its partition key: that does not tell whether the operation is HTTP.
fn by_record<'a>(record: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["resolve", "--record", record], rest, &WORD[..]].concat()
}

#[tokio::test]
async fn a_result_has_the_form_of_the_operations_others_where_only_a_partition_key_is_known() {
    let world = World::start().await;
    let http = Http::new();
    http.lose(&world).await;
    let items = world.dynamodb.client().scan().table_name("idempotency").send().await.unwrap().items.unwrap();
    let record = items[0]["pk"].as_s().unwrap().clone();
    let dry = [&["resolve", "--record", &record, "--completed-value", "1", "--dry-run"][..], &WORD[..4]].concat();
    let told = world.run(&dry).await;
    assert!(
        told.exit == 0 && told.out.contains("No other result of this operation was found"),
        "{}{}",
        told.out,
        told.error
    );
    // Another request of the operation ended with a response.
    let idempotency = Idempotency::with_engine(world.engine.clone(), Namespace::new("test").unwrap());
    let mut other = Http::request();
    other.headers_mut().insert("idempotency-key", "pay-2".parse().unwrap());
    let paid = async |_: Request, _: Attempt| Ok::<_, Error>("paid".to_owned());
    serve(&idempotency, &http.0, other, Ok, paid).await.unwrap();
    for wrong in [["--completed-value", "1"], ["--failed-message", "no"]] {
        world.run(&by_record(&record, &wrong)).await.assert_refused(2, "the operation is HTTP");
    }
    assert_eq!(http.ask(&world).await.0, 500, "nothing was changed");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("response.json");
    std::fs::write(&file, r#"{"status": 201}"#).unwrap();
    let told = world.run(&by_record(&record, &["--completed", file.to_str().unwrap()])).await;
    assert_eq!((told.exit, http.ask(&world).await.0), (0, 201), "{}", told.error);
    // Without a route it is no HTTP operation's record.
    world.lost("order-1").await;
    let response = resolve("order-1", &["--completed", file.to_str().unwrap()]);
    world.run(&response).await.assert_refused(2, "could not read an HTTP response");
}

#[tokio::test]
async fn a_large_failure_that_is_kept_for_longer_keeps_its_parts_for_as_long() {
    let world = World::start().await;
    let body: Vec<u8> = (0..30_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let claim = world.claim("order-1", HOUR).await;
    let soon = |record: &Record| Record {
        expires_at: (world.engine.now() + Duration::from_secs(60)).ceil_seconds(),
        ..record.clone()
    };
    let result = world.engine.store_result(&soon(claim.record()), &Outcome::new(body.clone()), HOUR).await.unwrap();
    assert!(matches!(result, StoredResult::Parts(_)));
    let version = claim.record().version();
    let stuck = Record { status: Status::Stuck, result: Some(result), ..soon(claim.record()) };
    world.engine.store().replace(version, &stuck, HOUR).await.unwrap();
    let told = world.run(&resolve("order-1", &["--failed"])).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    let record = world.record(&stuck.key).await.unwrap();
    assert!(record.expires_at > stuck.expires_at);
    let items = world.dynamodb.client().scan().table_name("idempotency").send().await.unwrap().items.unwrap();
    let own = format!("result#{}#", record.owner);
    let parts: Vec<_> = items.iter().filter(|item| item["sk"].as_s().unwrap().starts_with(&own)).collect();
    assert!(!parts.is_empty());
    for part in parts {
        let expires_at: i64 = part["expires_at"].as_n().unwrap().parse().unwrap();
        assert!(expires_at >= record.expires_at.get());
    }
    let Claimed::Replay(replay) = world.ask("order-1").await else { panic!("it has failed") };
    assert!(replay.is_failure() && replay.body().unwrap() == body.as_slice());
}

#[tokio::test]
async fn a_lease_is_not_over_because_the_operators_clock_is_ahead() {
    let world = World::start().await;
    drop(world.claim("order-1", Duration::ZERO).await);
    // A store whose clock is an hour behind this machine's, and so this machine an hour ahead of it: the lease ended long ago by the one.
    let real = world.dynamodb.endpoint_url().to_owned();
    let behind = DateTime::from_millis((SystemClock.now() - HOUR).get());
    let date = behind.fmt(DateTimeFormat::HttpDate).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let forward = axum::routing::any(async move |request: axum::extract::Request| {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let answer = client.post(&real).headers(parts.headers).body(body).send().await.unwrap();
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.insert("date", date.parse().unwrap());
        headers.remove("transfer-encoding");
        (status, headers, answer.bytes().await.unwrap())
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(forward)).await });
    let run = async |arguments: Vec<&str>| {
        let arguments =
            [&arguments[..], &["--table", "idempotency", "--namespace", "test", "--endpoint-url", &url]].concat();
        let mut command = command(&arguments);
        tokio::task::spawn_blocking(move || Told::of(command.output().unwrap())).await.unwrap()
    };
    // An attempt of half an hour ago: by this machine its lease is over, by the store it begins in half an hour.
    drop(world.claim("order-2", HOUR / 2).await);
    let inspected = run(about("inspect", "order-2", &["--json"])).await;
    assert_eq!(inspected.json()["state"], "in-flight");
    run(resolve("order-2", &["--rerun"])).await.assert_refused(1, "an attempt may still be running");
    run(about("evict", "order-2", &WORD)).await.assert_refused(1, "an attempt may still be running");
    assert_eq!(world.run(&resolve("order-2", &["--rerun"])).await.exit, 0, "by the right clock it is over");
}

#[tokio::test]
async fn what_was_done_is_done_whether_or_not_it_can_be_printed() {
    let world = World::start().await;
    let key = world.lost("order-1").await;
    let full = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.stdout(Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap()));
        command
    };
    let told = world.run_with(full, &resolve("order-1", &["--rerun", "--json"])).await;
    assert_eq!((told.exit, world.record(&key).await.unwrap().status), (0, Status::Released));
    assert!(told.error.starts_with("warning: it was done, and the output cannot be written"), "{}", told.error);
}

#[tokio::test]
async fn a_reason_is_one_line_that_can_be_seen() {
    let world = World::start().await;
    let key = world.lost("order-1").await;
    for reason in ["x\nDone: it is completed now", "\u{1b}[2K"] {
        let arguments = about("resolve", "order-1", &["--rerun", "--reason", reason, "--by", "ops", "--yes"]);
        world.run(&arguments).await.assert_refused(2, "one line each");
    }
    assert_eq!(world.record(&key).await.unwrap().status, Status::InFlight);
}
