//! Goal: the local page tells what happened, its buttons do what they say, and nobody but the page itself may press them.
//!
//! Method: the binary as a user runs it, and the page's API as its script uses it. What a browser makes of it is checked by
//! `cli/tests/page/browser.py`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use idempotency_testkit::eventually;
use reqwest::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Longer than anything takes on a slow machine; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(30);

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idempotency"));
    // The functions are built together with the tests.
    command.args(["--no-build", "local", "--http", "127.0.0.1:0"]).args(arguments).stdin(Stdio::null());
    command
}

/// `idempotency local` and its page.
struct Page {
    process: Child,
    addresses: Value,
    client: reqwest::Client,
    token: String,
}

impl Page {
    async fn open(arguments: &[&str]) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut command = command(arguments);
        let mut process = command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (addresses, client) = (serde_json::from_str(&line).unwrap(), reqwest::Client::new());
        let mut page = Self { process, addresses, client, token: String::new() };
        let document = page.client.get(page.address("page")).send().await.unwrap().text().await.unwrap();
        let (_, token) = document.split_once("name=\"page-token\" content=\"").unwrap();
        page.token = token.split('"').next().unwrap().to_owned();
        page
    }

    fn address(&self, name: &str) -> &str {
        self.addresses[name].as_str().unwrap()
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address("page"))).header("x-page-token", &self.token)
    }

    async fn press(&self, press: Value) -> (StatusCode, Value) {
        let answer = self.request(Method::POST, "api/press").json(&press).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    async fn pressed(&self, press: Value) {
        let (status, answer) = self.press(press).await;
        assert_eq!(status, 200, "{answer}");
        assert!(answer["said"].as_str().unwrap().ends_with('.'), "{answer}");
    }

    async fn state(&self) -> Value {
        self.request(Method::GET, "api/state?after=0").send().await.unwrap().json().await.unwrap()
    }

    /// The state, once the timeline has these outcomes in this order, and nothing else but deeds.
    async fn outcomes(&self, expected: &[&str]) -> Value {
        let mut seen = Value::Null;
        let met = eventually(PATIENCE, async || {
            seen = self.state().await;
            (outcomes(&seen) == expected).then(|| seen.clone())
        });
        met.await.unwrap_or_else(|_| panic!("waited for {expected:?}: {seen:#}"))
    }

    async fn charges(&self) -> usize {
        let ledger = reqwest::get(format!("{}/ledger", self.address("provider"))).await.unwrap();
        ledger.json::<Vec<Value>>().await.unwrap().len()
    }

    /// A charge as a caller sends it.
    async fn charge(&self, key: &str, amount: u64) -> u16 {
        let request = self.client.post(format!("{}/charges", self.address("http"))).header("x-tenant-id", "tenant-7");
        let body = json!({ "amount": amount, "currency": "EUR", "customer": "cus_secret" });
        request.header("idempotency-key", key).json(&body).send().await.unwrap().status().as_u16()
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
        assert!(self.process.wait().unwrap().success(), "stopping is no failure");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn outcomes(state: &Value) -> Vec<String> {
    let entries = state["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "invocation");
    let outcomes = |entry: &Value| {
        let outcomes = entry["outcomes"].as_array().unwrap().iter();
        outcomes.map(|outcome| outcome["word"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    entries.map(outcomes).collect()
}

fn deeds(state: &Value) -> Vec<&str> {
    let entries = state["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "deed");
    entries.map(|entry| entry["what"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn outcomes_appear_in_order_with_the_row_that_they_left() {
    let page = Page::open(&[]).await;
    for (key, amount, status) in [("order-1", 1200, 201), ("order-1", 1200, 201), ("order-1", 1300, 422)] {
        assert_eq!(page.charge(key, amount).await, status);
    }
    let state = page.outcomes(&["fresh", "replay", "mismatch"]).await;
    let ids: Vec<_> = state["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!((&state["entries"][0]["what"], &state["entries"][2]["said"]), (&json!("POST /charges"), &json!("422")));
    let table = &state["table"];
    assert_eq!(
        (table["rows"].as_array().unwrap().len(), &table["more"], &table["is_whole"]),
        (1, &json!(0), &json!(true))
    );
    let row = &table["rows"][0];
    assert_eq!(
        (&row["operation"], &row["state"], &row["attempt"]),
        (&json!("create-charge#v1"), &json!("completed"), &json!(1))
    );
    assert!(row["lease_until"].is_null() && row["result_bytes"].as_u64() > Some(0), "{row}");
    assert!(row["expires_at"].as_i64() > table["now"].as_i64(), "{row}");
    assert_eq!(state["sandboxes"].as_array().unwrap().len(), 1);
    // What was sent and answered is told by the entry alone, when it is asked for.
    assert!(!state.to_string().contains("cus_secret"), "{state}");
    let entry: Value = page.request(Method::GET, "api/entries/1").send().await.unwrap().json().await.unwrap();
    assert!(entry["event"].as_str().unwrap().contains("cus_secret"), "{entry}");
    assert!(entry["answer"].as_str().unwrap().contains("201"), "{entry}");
    page.stop();
}

#[tokio::test]
async fn only_what_has_changed_is_told_again() {
    let page = Page::open(&[]).await;
    page.pressed(json!({ "button": "example" })).await;
    let state = page.outcomes(&["fresh"]).await;
    let path = format!("api/state?after={}", state["version"]);
    let later: Value = page.request(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    assert_eq!((&later["entries"], &later["oldest"]), (&json!([]), &json!(1)));
    page.stop();
}

#[tokio::test]
async fn the_duplicate_of_anything_is_a_replay() {
    for function in ["payments-api", "claims-intake", "order-events"] {
        let page = Page::open(&["--function", function]).await;
        page.pressed(json!({ "button": "example" })).await;
        page.outcomes(&["fresh"]).await;
        page.pressed(json!({ "button": "duplicate", "entry": 1 })).await;
        let state = page.outcomes(&["fresh", "replay"]).await;
        assert_eq!(
            state["table"]["rows"].as_array().unwrap().iter().filter(|row| row["attempt"] == 1).count(),
            state["table"]["rows"].as_array().unwrap().len()
        );
        // Another example is something new.
        page.pressed(json!({ "button": "example" })).await;
        page.outcomes(&["fresh", "replay", "fresh"]).await;
        page.stop();
    }
}

#[tokio::test]
async fn a_function_that_claims_nothing_is_seen_too() {
    let page =
        Page::open(&["--function", "testkit-fixture-function", "--trigger", "async", "--retry-after", "10ms"]).await;
    page.pressed(json!({ "button": "example" })).await;
    page.outcomes(&["no claim"]).await;
    page.pressed(json!({ "button": "duplicate", "entry": 1 })).await;
    page.outcomes(&["no claim", "no claim"]).await;
    page.stop();
}

#[tokio::test]
async fn a_lost_reply_leaves_one_effect() {
    for write in ["claim", "completion"] {
        let page = Page::open(&[]).await;
        page.pressed(json!({ "button": "drop_reply", "write": write })).await;
        assert_eq!(page.state().await["armed"], json!([format!("drop_reply_{write}")]));
        let (status, answer) = page.press(json!({ "button": "kill_at", "write": write })).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::CONFLICT, &json!(format!("the next {write} is waited for already")))
        );
        page.pressed(json!({ "button": "example" })).await;
        let state = page.outcomes(&["fresh"]).await;
        assert_eq!(deeds(&state), [format!("The store did a {write}, and its reply was lost.")]);
        assert_eq!((page.charges().await, &state["armed"]), (1, &json!([])));
        // It is over: the next one is left alone, and can be waited for again.
        page.pressed(json!({ "button": "example" })).await;
        page.outcomes(&["fresh", "fresh"]).await;
        page.pressed(json!({ "button": "drop_reply", "write": write })).await;
        page.pressed(json!({ "button": "example" })).await;
        let state = page.outcomes(&["fresh", "fresh", "fresh"]).await;
        assert_eq!((deeds(&state).len(), page.charges().await), (2, 3));
        page.stop();
    }
}

#[tokio::test]
async fn a_killed_sandbox_is_a_conflict_until_its_lease_is_over() {
    for (policy, then) in [("rerun", "fresh"), ("reject", "uncertain")] {
        let page = Page::open(&["--on-abandoned", policy]).await;
        page.pressed(json!({ "button": "kill_at", "write": "completion" })).await;
        page.pressed(json!({ "button": "example" })).await;
        let state = page.outcomes(&["crashed"]).await;
        assert_eq!(deeds(&state), ["Killed the busy sandbox at a completion, before the store had it."]);
        assert_eq!(state["table"]["rows"][0]["state"], "in-flight");
        page.pressed(json!({ "button": "duplicate", "entry": 1 })).await;
        page.outcomes(&["crashed", "conflict"]).await;
        page.pressed(json!({ "button": "end_leases" })).await;
        assert_eq!(page.state().await["table"]["rows"][0]["state"], "uncertain");
        page.pressed(json!({ "button": "duplicate", "entry": 1 })).await;
        page.outcomes(&["crashed", "conflict", then]).await;
        assert_eq!(page.charges().await, 1, "the provider honours the key");
        // Once more: what the rule of the first one left must not keep the second from its request.
        page.pressed(json!({ "button": "kill_at", "write": "completion" })).await;
        page.pressed(json!({ "button": "example" })).await;
        let state = page.outcomes(&["crashed", "conflict", then, "crashed"]).await;
        assert_eq!(state["table"]["rows"][0]["state"], "in-flight", "the store never got the completion: {state:#}");
        page.stop();
    }
}

#[tokio::test]
async fn an_idle_sandbox_is_killed_by_its_button() {
    let page = Page::open(&[]).await;
    page.pressed(json!({ "button": "example" })).await;
    let state = page.outcomes(&["fresh"]).await;
    let sandbox = state["sandboxes"][0]["id"].clone();
    page.pressed(json!({ "button": "kill", "sandbox": sandbox })).await;
    let gone = async || (page.state().await["sandboxes"] == json!([])).then_some(());
    eventually(PATIENCE, gone).await.unwrap();
    let (status, answer) = page.press(json!({ "button": "kill", "sandbox": sandbox })).await;
    assert_eq!(status, 404);
    assert!(answer["error"].as_str().unwrap().ends_with(": it has ended"), "{answer}");
    page.stop();
}

#[tokio::test]
async fn what_is_not_there_is_told_in_words() {
    let page = Page::open(&[]).await;
    let rows = [
        (
            json!({ "button": "duplicate", "entry": 7 }),
            404,
            "there is no invocation 7 on the timeline, or not any more",
        ),
        (json!({ "button": "kill", "sandbox": "x" }), 404, "there is no sandbox x: it has ended"),
        (json!({ "button": "shout" }), 400, "this is no button: unknown variant `shout`"),
        (json!("x"), 400, "this is no button: "),
    ];
    for (press, status, said) in rows {
        let (answered, answer) = page.press(press).await;
        assert_eq!(answered, status, "{answer}");
        assert!(answer["error"].as_str().unwrap().starts_with(said), "{answer}");
    }
    let answer = page.request(Method::GET, "api/entries/7").send().await.unwrap();
    assert_eq!(answer.status(), 404);
    page.stop();
}

#[tokio::test]
async fn other_sites_may_neither_look_nor_press() {
    let page = Page::open(&[]).await;
    let host = page.address("page").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let own = [("host", host.clone()), ("origin", format!("http://{host}")), ("x-page-token", page.token.clone())];
    let with = |name: &'static str, value: &str| {
        own.clone().map(|(own, kept)| if own == name { (own, value.to_owned()) } else { (own, kept) })
    };
    let rows = [
        (own.clone(), 200),
        (with("host", "evil.example"), 403),
        (with("origin", "http://evil.example"), 403),
        (with("origin", "null"), 403),
        (with("x-page-token", ""), 403),
        (with("x-page-token", "00000000000000000000000000000000"), 403),
    ];
    for (headers, expected) in rows {
        for (method, path) in [(Method::GET, "api/state"), (Method::POST, "api/press")] {
            let request = page.client.request(method.clone(), format!("{}{path}", page.address("page")));
            let request = request.body(json!({ "button": "example" }).to_string());
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), expected, "{method} {headers:?}");
            assert!(answer.headers().get("access-control-allow-origin").is_none());
        }
    }
    // One was sent: by the page itself.
    let state = page.outcomes(&["fresh"]).await;
    assert_eq!(state["entries"].as_array().unwrap().len(), 1);
    page.stop();
}

#[tokio::test]
async fn the_document_runs_nothing_but_its_own_script_and_is_in_nobodys_frame() {
    let page = Page::open(&[]).await;
    for path in ["", "page.js", "page.css", "nowhere"] {
        let answer = page.client.get(format!("{}{path}", page.address("page"))).send().await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        for directive in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(directive) && !policy.contains("unsafe"), "{policy}");
        }
        assert_eq!((&*header("x-content-type-options"), &*header("cache-control")), ("nosniff", "no-store"));
    }
    let rebound = page.client.get(page.address("page")).header("host", "evil.example").send().await.unwrap();
    assert_eq!(rebound.status(), 403);
    assert!(!rebound.text().await.unwrap().contains(&page.token));
    page.stop();
}

#[test]
fn the_page_is_on_loopback_or_not_at_all() {
    let refused = command(&["--page", "0.0.0.0:0"]).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && told.contains("expected a loopback address, such as 127.0.0.1:4000"),
        "{told}"
    );
    let mut local = command(&["--json", "--no-page"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(local.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    kill_process(Pid::from_child(&local), Signal::TERM).unwrap();
    assert!(local.wait().unwrap().success());
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["page"], Value::Null);
}
