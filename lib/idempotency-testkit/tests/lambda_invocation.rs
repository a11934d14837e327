//! Goal: what one invocation comes to. Method: a real function binary, started by the host, that does
//! what its event says.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::{Duration, UNIX_EPOCH};

use idempotency_testkit::lambda::{Exit, Function, FunctionConfig, FunctionError, FunctionEvent, InvokeError, Logs};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

fn config() -> FunctionConfig {
    FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function"))
        .logs(Logs::Discard)
        .timeout(Duration::from_secs(60))
}

fn function() -> Function {
    Function::new(config()).unwrap()
}

async fn invoke(function: &Function, event: Value) -> Result<Value, InvokeError> {
    let response = function.invoke(event.to_string()).await?;
    Ok(serde_json::from_slice(&response).unwrap())
}

async fn pid(function: &Function) -> u64 {
    invoke(function, json!({ "do": "pid" })).await.unwrap()["pid"].as_u64().unwrap()
}

#[tokio::test]
async fn a_response_comes_back_and_the_process_is_used_again() {
    let function = function();

    let event = json!({ "do": "echo", "text": "Grüße", "number": 1 });
    assert_eq!(invoke(&function, event.clone()).await.unwrap(), event);

    assert_eq!(pid(&function).await, pid(&function).await);
    assert_eq!(function.sandboxes().len(), 1);
    function.shutdown().await;
}

#[tokio::test]
async fn the_environment_is_lambdas_and_nothing_else() {
    let function = Function::new(config().env("TABLE_NAME", "records").env("TZ", "UTC").memory_mb(256)).unwrap();
    let before = UNIX_EPOCH.elapsed().unwrap().as_millis();

    let described = invoke(&function, json!({ "do": "describe" })).await.unwrap();

    let variables = described["environment"].as_object().unwrap();
    for (name, value) in [
        ("AWS_LAMBDA_FUNCTION_NAME", "fixture"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("_HANDLER", "bootstrap"),
        ("TABLE_NAME", "records"),
        // The function's own variables win.
        ("TZ", "UTC"),
    ] {
        assert_eq!(variables[name], value, "{name}");
    }
    // Nothing is inherited: only names that Lambda or the function's configuration sets.
    let expected = |name: &String| {
        ["AWS_", "LAMBDA_"].iter().any(|prefix| name.starts_with(prefix))
            || ["_HANDLER", "LANG", "PATH", "TZ", "TABLE_NAME", "LLVM_PROFILE_FILE"].contains(&name.as_str())
            // The runtime sets this one in its own process.
            || name == "_X_AMZN_TRACE_ID"
    };
    let inherited: Vec<_> = variables.keys().filter(|name| !expected(name)).collect();
    assert!(inherited.is_empty(), "{inherited:?}");

    let deadline = u128::from(described["deadline_ms"].as_u64().unwrap());
    assert!(deadline >= before + 60_000, "{deadline} is before {before} + 60 s");
    assert!(deadline <= UNIX_EPOCH.elapsed().unwrap().as_millis() + 60_000);
    assert_eq!(described["arn"], "arn:aws:lambda:us-east-1:123456789012:function:fixture");
    assert_eq!(described["request_id"].as_str().unwrap().len(), 36);
    assert!(described["trace_id"].as_str().unwrap().starts_with("Root=1-"));
    function.shutdown().await;
}

#[tokio::test]
async fn a_handler_error_leaves_the_process_alive() {
    let function = function();
    let before = pid(&function).await;

    let error = invoke(&function, json!({ "do": "fail" })).await.unwrap_err();

    let InvokeError::Handler { message, .. } = error else { panic!("{error:?}") };
    assert_eq!(message, "the handler says no");
    assert_eq!(pid(&function).await, before);
    function.shutdown().await;
}

#[tokio::test]
async fn a_panic_that_the_runtime_catches_is_a_handler_error() {
    let function = function();
    let before = pid(&function).await;

    let error = invoke(&function, json!({ "do": "panic" })).await.unwrap_err();

    let InvokeError::Handler { message, .. } = error else { panic!("{error:?}") };
    assert_eq!(message, "Lambda panicked: the handler panics");
    assert_eq!(pid(&function).await, before);
    function.shutdown().await;
}

#[tokio::test]
async fn a_process_that_ends_is_a_crash_and_the_next_invocation_gets_a_new_one() {
    let function = function();
    for (what, expected) in [("exit", Exit::Code(3)), ("abort", Exit::Signal(6))] {
        let before = pid(&function).await;

        let error = invoke(&function, json!({ "do": what })).await.unwrap_err();

        let InvokeError::Crashed { exit } = error else { panic!("{error:?}") };
        assert_eq!(exit, expected);
        assert!(function.sandboxes().is_empty());
        assert_ne!(pid(&function).await, before);
    }
    function.shutdown().await;
}

#[tokio::test]
async fn an_init_that_fails_or_hangs_is_an_init_error() {
    let exits = Function::new(config().env("FIXTURE_INIT", "exit")).unwrap();
    // The invocation's own timeout does not count yet.
    let hangs = config().env("FIXTURE_INIT", "hang").init_timeout(Duration::from_millis(200));
    let hangs = Function::new(hangs.timeout(Duration::from_millis(50))).unwrap();
    let event = || json!({ "do": "pid" });

    let error = invoke(&exits, event()).await.unwrap_err();
    let InvokeError::Init { error_type, message } = error else { panic!("{error:?}") };
    assert_eq!(error_type, "Runtime.ExitError");
    assert_eq!(message, "the process ended before it asked for an event: exit status 7");

    let error = invoke(&hangs, event()).await.unwrap_err();
    let InvokeError::Init { error_type, .. } = error else { panic!("{error:?}") };
    assert_eq!(error_type, "Sandbox.Timedout");
    assert!(hangs.sandboxes().is_empty());
}

#[tokio::test]
async fn payloads_over_lambdas_limits_are_refused() {
    let function = function();

    let error = function.invoke(vec![b' '; 6_291_457]).await.unwrap_err();
    assert!(matches!(error, InvokeError::PayloadTooLarge { size: 6_291_457, limit: 6_291_456 }), "{error:?}");
    assert!(function.sandboxes().is_empty(), "no process has seen it");

    // JSON quotes make two bytes.
    let limit = 6_291_556;
    let largest = invoke(&function, json!({ "do": "large", "bytes": limit - 2 })).await.unwrap();
    assert_eq!(largest.as_str().unwrap().len(), limit - 2);
    let error = invoke(&function, json!({ "do": "large", "bytes": limit - 1 })).await.unwrap_err();
    assert!(matches!(error, InvokeError::ResponseTooLarge { size, .. } if size == limit + 1), "{error:?}");
    assert_eq!(function.sandboxes().len(), 1);
    pid(&function).await;
    function.shutdown().await;
}

#[tokio::test]
async fn output_is_captured_line_by_line() {
    let function = Function::new(config().logs(Logs::Captured)).unwrap();

    invoke(&function, json!({ "do": "print" })).await.unwrap();
    let sandbox = function.sandboxes()[0].id().to_owned();
    invoke(&function, json!({ "do": "exit" })).await.unwrap_err();

    let logs = function.logs();
    // A crash is reported after the last words of the process.
    assert_eq!(logs.last().unwrap().text, "last words 1999");
    for text in ["to stdout", "to stderr"] {
        let line = logs.iter().find(|line| line.text == text).unwrap();
        assert_eq!(line.sandbox, sandbox);
    }
}

#[tokio::test]
async fn a_missing_binary_says_how_to_build_it() {
    let error = Function::new(FunctionConfig::new("missing", "/nowhere/function")).unwrap_err();
    assert!(matches!(error, FunctionError::NoBinary { .. }));
    assert!(error.to_string().contains("cargo build --workspace"), "{error}");

    let error = Function::new(FunctionConfig::new("directory", "/")).unwrap_err();
    assert!(matches!(error, FunctionError::NotAFile { .. }));
}

/// What an observer is told next, but for lines.
async fn told(events: &mut UnboundedReceiver<FunctionEvent>) -> FunctionEvent {
    loop {
        match tokio::time::timeout(Duration::from_secs(30), events.recv()).await.unwrap().unwrap() {
            FunctionEvent::Line(_) => {}
            event => return event,
        }
    }
}

#[tokio::test]
async fn an_observer_is_told_of_every_invocation_and_its_end_even_if_nobody_waits_for_it() {
    let (observer, mut events) = unbounded_channel();
    let function = Function::new(config().observe(observer)).unwrap();
    let event = json!({ "do": "echo" });
    invoke(&function, event.clone()).await.unwrap();
    let FunctionEvent::Invoked { invocation, payload, request_id } = told(&mut events).await else { panic!() };
    assert_eq!((serde_json::from_slice::<Value>(&payload).unwrap(), request_id.len()), (event, 36));
    let FunctionEvent::Ended { invocation: ended, result } = told(&mut events).await else { panic!() };
    assert_eq!((ended, result.unwrap()), (invocation, payload));

    assert!(invoke(&function, json!({ "do": "fail" })).await.is_err());
    assert!(matches!(told(&mut events).await, FunctionEvent::Invoked { .. }));
    let FunctionEvent::Ended { result: Err(failure), .. } = told(&mut events).await else { panic!() };
    assert_eq!(failure.word, "failed");

    // The caller goes away before the function has answered.
    let caller = tokio::spawn({
        let function = function.clone();
        async move { function.invoke(json!({ "do": "echo" }).to_string()).await }
    });
    assert!(matches!(told(&mut events).await, FunctionEvent::Invoked { .. }));
    caller.abort();
    assert!(matches!(told(&mut events).await, FunctionEvent::Ended { result: Ok(_), .. }));
    function.shutdown().await;
}

#[tokio::test]
async fn an_observer_is_told_of_the_lines_which_go_where_they_went_before() {
    let (observer, mut events) = unbounded_channel();
    let function = Function::new(config().logs(Logs::Captured).observe(observer)).unwrap();
    invoke(&function, json!({ "do": "print" })).await.unwrap();
    let mut lines = Vec::new();
    while lines.len() < 2 {
        if let FunctionEvent::Line(line) = events.recv().await.unwrap() {
            lines.push(line.text);
        }
    }
    // They are two pipes, so neither comes first.
    lines.sort_unstable();
    assert_eq!(lines, ["to stderr", "to stdout"]);
    // A sandbox has ended once its lines are read.
    for sandbox in function.sandboxes() {
        sandbox.kill();
        sandbox.exited().await;
    }
    assert_eq!(function.logs().len(), 2);
    function.shutdown().await;
}
