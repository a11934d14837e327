//! Goal: the command does what its help says, and tells mistakes in one line with a non-zero exit status.
//!
//! Method: the binary as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use idempotency_testkit::{dynamodb::client_for, eventually};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

/// Longer than anything takes on a slow machine; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(30);
const EVENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../events/");
const EVENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../events/api-gateway-charge.json");

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idempotency"));
    // The functions are built together with the tests.
    command.arg("--no-build").args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Asserts that a mistake is told in one line.
fn assert_mistake(arguments: &[&str], said: &str) {
    let output = run(arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    assert_eq!(told.trim_end().lines().count(), 1, "{told}");
    assert!(told.starts_with("error: ") && told.contains(said), "{told}");
    assert!(output.stdout.is_empty());
}

/// `idempotency local`, and what it printed.
struct Local {
    process: Child,
    addresses: Value,
}

impl Local {
    fn start(arguments: &[&str]) -> Self {
        let mut process = command(&["local", "--json", "--http", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { process, addresses: serde_json::from_str(&line).unwrap() }
    }

    fn address(&self, name: &str) -> &str {
        self.addresses[name].as_str().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    fn stop(mut self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
        assert!(self.process.wait().unwrap().success(), "stopping is no failure");
    }

    /// The processes that this one has started.
    fn children(&self) -> Vec<Pid> {
        let id = self.process.id();
        let mut children = String::new();
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        for task in tasks {
            let file = std::fs::File::open(task.unwrap().path().join("children"));
            file.and_then(|mut file| file.read_to_string(&mut children)).unwrap();
        }
        children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn charge(http: &str) -> reqwest::Response {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let request = reqwest::Client::new().post(format!("{http}/charges")).header("x-tenant-id", "tenant-7");
    let body = serde_json::json!({ "amount": 1200, "currency": "EUR", "customer": "cus_42" });
    request.header("Idempotency-Key", "order-42").json(&body).send().await.unwrap()
}

#[test]
fn the_demo_is_what_runs_without_arguments_and_every_count_is_right() {
    let output = run(&[]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("Every charge was made once.") && !told.contains("FAILED"), "{told}");
    assert_eq!(told.matches("at once").count(), 20);
}

/// A slice of the sweep; all of it takes a minute and is a command of its own (docs/reliability.md).
#[test]
fn every_thirteenth_fault_of_the_sweep_ends_as_promised() {
    let output = run(&["faults", "--every", "13"]);
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{told}{errors}");
    assert!(told.contains("faults, each ended as promised.") && !told.contains("FAILED"), "{told}");
    for path in ["fresh", "declined", "turned-away", "refused", "resume", "abandoned", "expired"] {
        assert!(told.contains(path), "{path} is in the slice: {told}");
    }
}

/// A slice of the soak; all of it takes minutes and is a command of its own (docs/reliability.md).
#[test]
fn three_hundred_messages_of_the_soak_have_exactly_their_effects() {
    let output = run(&["soak", "--messages", "300", "--crashes", "20"]);
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{told}{errors}");
    assert!(told.contains("Every claim has exactly its chunks") && !told.contains("FAILED"), "{told}");
    let count = |what: &str| {
        let line = told.lines().find(|line| line.trim_start().starts_with(what)).unwrap();
        line.split_whitespace().last().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!((count("messages"), count("claims"), count("records in flight")), (300, 210, 0));
}

#[test]
fn without_crashes_each_claim_of_the_soak_runs_once_whatever_replies_get_lost() {
    let output = run(&["soak", "--messages", "200", "--crashes", "0", "--lost-replies", "15"]);
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{told}{errors}");
    let runs = told.lines().find(|line| line.contains("runs of the handler")).unwrap();
    assert_eq!(runs.split_whitespace().last(), Some("140"), "{told}");
}

#[tokio::test]
async fn local_serves_and_stops_on_sigterm_with_its_sandboxes() {
    for signal in [Signal::TERM, Signal::INT] {
        let local = Local::start(&[]);
        let response = charge(local.address("http")).await;
        assert_eq!(response.status(), 201);
        let ledger = reqwest::get(format!("{}/ledger", local.address("provider"))).await.unwrap();
        assert_eq!(ledger.json::<Vec<Value>>().await.unwrap().len(), 1);
        assert_eq!(local.address("table"), "idempotency");
        let sandboxes = local.children();
        assert_eq!(sandboxes.len(), 1);
        local.stop(signal);
        for sandbox in sandboxes {
            assert!(test_kill_process(sandbox).is_err(), "{sandbox:?} outlived its host");
        }
    }
}

#[tokio::test]
async fn local_is_any_kind_of_front() {
    for (kind, header) in [
        (None, Some("apigw-requestid")),
        (Some("rest-api"), Some("x-amzn-requestid")),
        (Some("alb"), None),
        (Some("alb-multi-value"), None),
        (Some("function-url"), Some("x-amzn-requestid")),
    ] {
        let local = match kind {
            Some(kind) => Local::start(&["--http-kind", kind]),
            None => Local::start(&[]),
        };
        assert_eq!(local.address("http_kind"), kind.unwrap_or("http-api"));
        for replayed in [None, Some("true")] {
            let response = charge(local.address("http")).await;
            assert_eq!(response.status(), 201, "{kind:?}");
            let headers = response.headers();
            assert_eq!(headers.get("idempotent-replayed").map(|value| value.to_str().unwrap()), replayed);
            let ids = ["apigw-requestid", "x-amzn-requestid"].into_iter().find(|name| headers.contains_key(*name));
            assert_eq!(ids, header, "{kind:?}");
        }
        local.stop(Signal::TERM);
    }
}

#[tokio::test]
async fn local_uses_a_dynamodb_that_is_running_and_finds_its_records_again() {
    let owner = Local::start(&[]);
    assert_eq!(charge(owner.address("http")).await.status(), 201);
    let url = owner.address("dynamodb").to_owned();
    for arguments in [["--dynamodb", &url], ["--endpoint-url", &url]] {
        let guest = Local::start(&arguments);
        assert_eq!(guest.address("dynamodb"), url);
        assert_eq!(charge(guest.address("http")).await.headers()["idempotent-replayed"], "true");
        guest.stop(Signal::TERM);
    }
}

/// Sends a body, and says which status and JSON came back.
async fn post(url: &str, headers: &[(&str, &str)], body: Value) -> (u16, Value) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let request = reqwest::Client::new().post(url).body(body.to_string());
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default())
}

async fn get(url: &str) -> Value {
    reqwest::get(url).await.unwrap().json().await.unwrap()
}

/// Waits until a table has this many items.
async fn items(local: &Local, table: &str, count: i32) {
    let client = client_for(local.address("dynamodb"));
    let scanned = async || {
        let scan = client.scan().table_name(table).send().await.unwrap();
        (scan.count() == count).then_some(())
    };
    eventually(PATIENCE, scanned).await.unwrap();
}

/// Waits until a queue has this many messages in all.
async fn messages(queue: &str, count: u64) {
    let total = |counts: &Value| counts.as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>();
    let counted = async || (total(&get(queue).await["messages"]) == count).then_some(());
    eventually(PATIENCE, counted).await.unwrap();
}

#[tokio::test]
async fn local_takes_claims_from_a_queue_and_keeps_what_fails() {
    for fifo in [false, true] {
        let arguments: &[&str] = match fifo {
            false => &["--function", "claims-intake"],
            true => &["--function", "claims-intake", "--fifo", "--batch-size", "5"],
        };
        let local = Local::start(arguments);
        let queue = local.address("queue");
        assert!(queue.ends_with(if fifo { "/queues/claims.fifo" } else { "/queues/claims" }), "{queue}");
        let dead_letters = local.address("dead_letter_queue");
        assert!(dead_letters.ends_with(if fifo { "/queues/claims-dlq.fifo" } else { "/queues/claims-dlq" }));
        let url = format!("{queue}/messages");
        let claim = serde_json::json!({ "tenant": "t", "claim_id": "c", "document": "Rain.\n\nMore rain." });
        for id in ["1", "2"] {
            let headers = [("x-message-group-id", "g"), ("x-message-deduplication-id", id)];
            let headers = if fifo { &headers[..] } else { &[] };
            assert_eq!(post(&url, headers, claim.clone()).await.0, 201);
        }
        items(&local, "chunks", 1).await;
        messages(queue, 0).await;
        items(&local, "claims", 1).await;
        // The record; beside it the summary, the notification's marker, and the event.
        items(&local, "idempotency", 4).await;
        messages(local.address("bus_events"), 1).await;
        let told = get(&format!("{}/ledger", local.address("notifier"))).await;
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
        local.stop(Signal::TERM);
    }
}

#[tokio::test]
async fn local_puts_events_on_a_bus() {
    let local = Local::start(&["--function", "order-events"]);
    assert_eq!((local.address("trigger"), local.address("http")), ("eventbridge", local.address("eventbridge")));
    let event: Value =
        serde_json::from_slice(&std::fs::read(format!("{EVENTS}eventbridge-order.json")).unwrap()).unwrap();
    let (status, answer) = post(&format!("{}/events", local.address("http")), &[], event).await;
    assert_eq!(status, 202, "{answer}");
    items(&local, "orders", 1).await;
    messages(local.address("dead_letter_queue"), 0).await;
    local.stop(Signal::TERM);
}

#[tokio::test]
async fn local_invokes_a_function_of_ones_own_asynchronously_and_retries() {
    let function = "testkit-fixture-function";
    let local = Local::start(&["--function", function, "--trigger", "async", "--retry-after", "10ms,20ms"]);
    let url = local.address("http");
    assert!(url.ends_with("/2015-03-31/functions/testkit-fixture-function/invocations"), "{url}");
    let event = [("x-amz-invocation-type", "Event")];
    assert_eq!(post(url, &event, serde_json::json!({ "do": "fail" })).await.0, 202);
    messages(local.address("dead_letter_queue"), 1).await;
    let record = &get(&format!("{}/messages", local.address("dead_letter_queue"))).await[0];
    let record: Value = serde_json::from_str(record["body"].as_str().unwrap()).unwrap();
    assert_eq!(record["requestContext"]["approximateInvokeCount"], 3, "{record}");
    assert_eq!(post(url, &[("x-amz-invocation-type", "RequestResponse")], Value::Null).await.0, 400);
    assert_eq!(post(&url.replace(function, "another"), &event, Value::Null).await.0, 404);
    local.stop(Signal::TERM);
}

#[tokio::test]
async fn local_relays_what_the_guides_example_stages() {
    let guide = guide(&["--function", "outbox-relay"]);
    let example = guide.iter().find_map(|line| line.trim().strip_prefix("-d '")?.strip_suffix('\'')).unwrap();
    let local = Local::start(&["--function", "outbox-relay"]);
    assert_eq!((local.address("trigger"), local.address("http")), ("stream", local.address("sqs")));
    let put: Value = serde_json::from_str(example).unwrap();
    assert_eq!(put["TableName"], "idempotency");
    let signature =
        "AWS4-HMAC-SHA256 Credential=local/20261001/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
    let headers = [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amz-target", "DynamoDB_20120810.PutItem"),
        ("x-amz-date", "20261001T000000Z"),
        ("authorization", signature),
    ];
    let (status, answer) = post(local.address("dynamodb"), &headers, put).await;
    assert_eq!(status, 200, "{answer}");
    let receipts = format!("{}/queues/receipts", local.address("sqs"));
    messages(&receipts, 1).await;
    let message = &get(&format!("{receipts}/messages")).await[0];
    assert_eq!(message["body"], r#"{"charge": "ch_1"}"#, "{message}");
    messages(local.address("dead_letter_queue"), 0).await;
    local.stop(Signal::TERM);
}

#[tokio::test]
async fn local_gives_a_function_of_ones_own_a_queue_of_its_own() {
    let local = Local::start(&["--function", "testkit-fixture-function", "--trigger", "sqs"]);
    let queue = local.address("queue");
    assert!(queue.ends_with("/queues/testkit-fixture-function"), "{queue}");
    assert_eq!(post(&format!("{queue}/messages"), &[], serde_json::json!({})).await.0, 201);
    messages(queue, 0).await;
    local.stop(Signal::TERM);
}

#[test]
fn local_tells_people_what_to_try_for_each_trigger() {
    let own = "testkit-fixture-function";
    let rows: [(&[&str], &str); 6] = [
        (&["--function", "outbox-relay"], "/queues/receipts/messages"),
        (&["--function", "claims-intake"], r#"/queues/claims/messages -d '{"tenant": "tenant-7","#),
        (&["--function", "claims-intake", "--fifo"], "/queues/claims.fifo/messages \\"),
        (&["--function", "order-events"], r#"/events -d '{"source": "com.example.orders","#),
        (&["--function", own, "--trigger", "async"], "/functions/testkit-fixture-function/invocations -H"),
        (&["--function", own, "--trigger", "sqs"], "/queues/testkit-fixture-function/messages -d '{}'"),
    ];
    for (arguments, curl) in rows {
        let guide = guide(arguments);
        assert!(guide.iter().any(|line| line.trim_start().starts_with("curl ") && line.contains(curl)), "{guide:?}");
        let tables = guide.iter().any(|line| line.contains("DynamoDB_20120810.Scan"));
        assert_eq!(tables, ![own, "outbox-relay"].iter().any(|without| arguments.contains(without)), "{guide:?}");
    }
}

#[test]
fn the_options_of_a_queue_and_of_retries_arrive() {
    let rows: [(&[&str], &str); 4] = [
        (&["--function", "claims-intake"], "comes again after 15s, and goes to the dead letters after 5 receives"),
        (
            &["--function", "claims-intake", "--visibility-timeout", "1m", "--max-receives", "7"],
            "comes again after 60s, and goes to the dead letters after 7 receives",
        ),
        (&["--function", "order-events"], "comes again after 60s and 120s ("),
        (&["--function", "order-events", "--retry-after", "500ms"], "comes again after 500ms ("),
    ];
    for (arguments, told) in rows {
        let guide = guide(arguments);
        assert!(guide.iter().any(|line| line.contains(told)), "{guide:?}");
    }
}

#[test]
fn local_tells_people_what_to_try() {
    let guide = guide(&[]);
    let curl = guide.iter().any(|line| line.trim_start().starts_with("curl -i http://127.0.0.1:"));
    assert!(curl, "{guide:?}");
}

/// What `local` tells people.
fn guide(arguments: &[&str]) -> Vec<String> {
    let mut local = command(&["local", "--http", "127.0.0.1:0"]);
    let mut local = local.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(local.stdout.take().unwrap()).lines().map_while(Result::ok);
    let guide: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    kill_process(Pid::from_child(&local), Signal::TERM).unwrap();
    assert!(local.wait().unwrap().success());
    guide
}

#[test]
fn invoke_prints_the_functions_response() {
    let output = run(&["invoke", "payments-api", EVENT]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(response["statusCode"], 201);
}

#[test]
fn invoke_takes_the_example_event_of_each_function() {
    let done = serde_json::json!({ "batchItemFailures": [] });
    for (function, event, expected) in [
        ("claims-intake", "sqs-claim.json", &done),
        ("claims-intake", "sqs-fifo-claim.json", &done),
        ("order-events", "eventbridge-order.json", &Value::Null),
    ] {
        let output = run(&["invoke", function, &format!("{EVENTS}{event}")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), *expected, "{function} {event}");
    }
}

#[test]
fn invoke_against_a_running_stack_replays_and_reads_standard_input() {
    let local = Local::start(&[]);
    let (dynamodb, provider) = (local.address("dynamodb"), local.address("provider"));
    let arguments = ["invoke", "payments-api", "-", "--endpoint-url", dynamodb, "--provider-url", provider];
    for replayed in [None, Some("true")] {
        let mut invoke = command(&arguments);
        let mut invoke = invoke.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        invoke.stdin.take().unwrap().write_all(&std::fs::read(EVENT).unwrap()).unwrap();
        let output = invoke.wait_with_output().unwrap();
        let response: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(response["headers"]["idempotent-replayed"].as_str(), replayed, "{response}");
    }
}

#[test]
fn mistakes_are_told_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let in_use = format!("cannot listen on {address}: another process uses this port");
    assert_mistake(&["local", "--http", &address], &in_use);
    assert_mistake(&["local", "--http", "127.0.0.1:0", "--dynamodb", &address], &in_use);
    assert_mistake(&["invoke", "no-such-function", EVENT], "there is no function \"no-such-function\": no binary");
    assert_mistake(&["invoke", "payments-api", "/nowhere/event.json"], "cannot read the event /nowhere/event.json");
    // Told before anything is built, started or looked for.
    assert_mistake(&["invoke", "no-such-function", "/nowhere/event.json"], "cannot read the event /nowhere/event.json");
    let claims = |rest: &[&'static str], said| {
        assert_mistake(&[&["local", "--http", "127.0.0.1:0", "--function", "claims-intake"][..], rest].concat(), said);
    };
    claims(&["--trigger", "http"], "claims-intake understands the events of the trigger sqs, not of http");
    claims(&["--visibility-timeout", "5s"], "is less than the function's timeout of 10s");
    claims(&["--batch-size", "11", "--fifo"], "a batch of 11 is not 1 to 10");
    claims(&["--retry-after", "1s"], "--retry-after is for the trigger eventbridge or async, and claims-intake has");
    claims(&["--http-kind", "alb"], "--http-kind is for the trigger http");
    for option in [&["--fifo"][..], &["--batch-size", "5"], &["--visibility-timeout", "20s"], &["--max-receives", "3"]]
    {
        let said = format!("{} is for the trigger sqs, and payments-api has the trigger http", option[0]);
        assert_mistake(&[&["local"][..], option].concat(), &said);
    }
    assert_mistake(&["faults", "--only", "no-such-case"], "no case has \"no-such-case\" in its name");
}

#[test]
fn a_malformed_event_is_told_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("event.json");
    std::fs::write(&file, "{\n  \"version\": 2.0,\n").unwrap();
    assert_mistake(
        &["invoke", "payments-api", file.to_str().unwrap()],
        "is not JSON: EOF while parsing a value at line 3",
    );
    // JSON, but no event of any HTTP kind: the function says so.
    std::fs::write(&file, "{}").unwrap();
    let output = run(&["invoke", "payments-api", file.to_str().unwrap()]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: payments-api failed"));
}

#[test]
fn an_unreachable_dynamodb_is_told() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    assert_mistake(
        &["local", "--http", "127.0.0.1:0", "--dynamodb", &url],
        &format!("the DynamoDB at {url} is not usable: cannot create table `idempotency`"),
    );
}

#[test]
fn arguments_that_mean_nothing_say_what_is_expected() {
    let rows: [(&[&str], &str); 15] = [
        (&["local", "--http-kind", "apigw"], "use http-api, rest-api, alb, alb-multi-value, function-url"),
        (&["invoke", "payments-api", EVENT, "--http-kind", "alb"], "unexpected argument '--http-kind'"),
        (&["local", "--http", "3000"], "expected an address with a port, such as 127.0.0.1:3000"),
        (&["local", "--dynamodb", "localhost"], "expected an address such as 127.0.0.1:8000, or a URL"),
        (&["invoke", "payments-api", EVENT, "--endpoint-url", "foo"], "expected a URL such as http://127.0.0.1:8000"),
        (&["invoke", "payments-api", EVENT, "--env", "NAME"], "expected NAME=VALUE"),
        (&["local", "--on-abandoned", "sometimes"], "[possible values: rerun, reject, probe]"),
        (&["local", "--in-flight", "202"], "[possible values: conflict, wait, accepted]"),
        (&["faults", "--every", "0"], "expected a number from 1"),
        (&["soak", "--messages", "0"], "expected a number from 1"),
        (&["soak", "--duplicates", "100"], "100 is not in 0..100"),
        (&["local", "--trigger", "queue"], "[possible values: http, sqs, eventbridge, async, stream]"),
        (&["local", "--visibility-timeout", "2w"], "expected a duration such as 500ms, 15s, 2m, 48h or 23d"),
        (&["local", "--retry-after", "1s,soon"], "expected a duration such as 500ms, 15s, 2m, 48h or 23d"),
        (&["local", "--max-receives", "0"], "0 is not in 1..=1000"),
    ];
    for (arguments, expected) in rows {
        let output = run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(expected), "{told}");
    }
}

#[test]
fn a_function_gets_the_variables_that_it_is_given() {
    let output = run(&["invoke", "payments-api", EVENT, "--env", "ON_ABANDONED=sometimes"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("must be rerun, reject or probe"));
}

#[test]
fn help_names_every_command() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    let operating = ["inspect", "list", "resolve", "evict", "doctor", "estimate", "watch"];
    for word in ["demo", "local", "invoke", "faults", "soak", "--no-build"].into_iter().chain(operating) {
        assert!(help.contains(word), "{help}");
    }
    for command in operating {
        let help = String::from_utf8(run(&[command, "--help"]).stdout).unwrap();
        assert!(help.contains("Exit codes:") && help.contains("--json"), "{help}");
    }
}
