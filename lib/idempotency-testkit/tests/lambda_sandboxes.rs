//! Goal: sandboxes are killed, frozen, timed out, limited and ended as promised, and no process stays
//! behind. Method: a real function binary; `/proc` says whether a process exists.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use idempotency_testkit::eventually;
use idempotency_testkit::lambda::{Exit, Function, FunctionConfig, InvokeError, Logs, Sandbox};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(30);

fn config() -> FunctionConfig {
    FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function"))
        .logs(Logs::Captured)
        .timeout(Duration::from_secs(60))
}

fn start(function: &Function, event: Value) -> JoinHandle<Result<Value, InvokeError>> {
    let function = function.clone();
    tokio::spawn(async move {
        let response = function.invoke(event.to_string()).await?;
        Ok(serde_json::from_slice(&response).unwrap())
    })
}

/// Invocations that last until the test lets them end: no test depends on how fast anything is.
struct Held {
    file: PathBuf,
}

impl Held {
    fn new() -> Self {
        Self { file: env::temp_dir().join(format!("testkit-{}", uuid::Uuid::new_v4())) }
    }

    /// Starts an invocation and waits until `running` of them are inside the handler.
    async fn start(&self, function: &Function, running: usize) -> JoinHandle<Result<Value, InvokeError>> {
        let invocation = start(function, json!({ "do": "wait_for_file", "path": self.file }));
        let inside = || function.logs().iter().filter(|line| line.text == "waiting").count();
        eventually(PATIENCE, async || (inside() >= running).then_some(())).await.unwrap();
        invocation
    }

    fn release(&self) {
        fs::write(&self.file, "").unwrap();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

async fn pid(function: &Function) -> u32 {
    let response = start(function, json!({ "do": "pid" })).await.unwrap().unwrap();
    u32::try_from(response["pid"].as_u64().unwrap()).unwrap()
}

fn exists(pid: u32) -> bool {
    // A zombie has an entry too, so absence means that it was reaped.
    Path::new(&format!("/proc/{pid}")).exists()
}

fn is_stopped(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/status")).unwrap().contains("State:\tT")
}

fn only(function: &Function) -> Sandbox {
    let mut sandboxes = function.sandboxes();
    assert_eq!(sandboxes.len(), 1);
    sandboxes.remove(0)
}

#[tokio::test]
async fn a_kill_in_the_middle_of_an_invocation_is_a_crash() {
    let function = Function::new(config().concurrency(1)).unwrap();
    let invocation = Held::new().start(&function, 1).await;
    let sandbox = only(&function);
    assert!(sandbox.is_busy());

    assert!(sandbox.kill());

    let error = invocation.await.unwrap().unwrap_err();
    assert!(matches!(error, InvokeError::Crashed { exit: Exit::Signal(9) }), "{error:?}");
    assert_eq!(sandbox.exit(), Some(Exit::Signal(9)));
    assert!(!exists(sandbox.pid()));
    // A handle to an ended process signals nobody.
    assert!(!sandbox.kill() && !sandbox.pause() && !sandbox.resume());
    assert_ne!(pid(&function).await, sandbox.pid());
}

#[tokio::test]
async fn a_killed_idle_sandbox_gets_no_further_invocation() {
    let function = Function::new(config().concurrency(1)).unwrap();
    let mut before = pid(&function).await;
    for pause in [0, 0, 50, 50] {
        // Killed on its way to its next call, and killed while that call waits.
        tokio::time::sleep(Duration::from_millis(pause)).await;
        only(&function).kill();

        // At once, without waiting for the process to be reaped, and with no place for a second one.
        let now = pid(&function).await;

        assert_ne!(now, before);
        before = now;
    }
}

#[tokio::test]
async fn a_deadline_kills_the_process_before_the_caller_hears_of_it() {
    let function = Function::new(config().timeout(Duration::from_secs(1))).unwrap();
    let invocation = Held::new().start(&function, 1).await;
    let sandbox = only(&function);

    let error = invocation.await.unwrap().unwrap_err();

    assert!(matches!(error, InvokeError::TimedOut { after } if after == Duration::from_secs(1)), "{error:?}");
    assert!(!exists(sandbox.pid()));
    assert_ne!(pid(&function).await, sandbox.pid());
}

#[tokio::test]
async fn without_a_kill_at_the_deadline_the_process_goes_on_and_is_used_again_after_its_late_answer() {
    let config = config().timeout(Duration::from_secs(1)).kill_at_deadline(false).concurrency(2);
    let function = Function::new(config).unwrap();
    let held = Held::new();
    let invocation = held.start(&function, 1).await;
    let zombie = only(&function);

    let error = invocation.await.unwrap().unwrap_err();

    assert!(matches!(error, InvokeError::TimedOut { .. }), "{error:?}");
    assert!(exists(zombie.pid()) && zombie.is_busy());
    let other = pid(&function).await;
    assert_ne!(other, zombie.pid(), "a sandbox that has not answered is not used");

    held.release();
    eventually(PATIENCE, async || (!zombie.is_busy()).then_some(())).await.unwrap();
    assert_eq!(pid(&function).await, zombie.pid(), "the oldest free sandbox");
    function.shutdown().await;
}

#[tokio::test]
async fn concurrent_invocations_get_a_sandbox_each_and_the_next_one_is_throttled() {
    let function = Function::new(config().concurrency(3)).unwrap();
    let held = Held::new();
    let mut invocations = Vec::new();
    for running in 1..=3 {
        invocations.push(held.start(&function, running).await);
        assert_eq!(function.sandboxes().len(), running);
    }
    let throttled = start(&function, json!({ "do": "pid" })).await.unwrap().unwrap_err();
    assert!(matches!(throttled, InvokeError::Throttled { concurrency: 3 }), "{throttled:?}");

    held.release();
    let mut pids = Vec::new();
    for invocation in invocations {
        pids.push(invocation.await.unwrap().unwrap()["pid"].as_u64().unwrap());
    }
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 3);
    pid(&function).await;
    assert_eq!(function.sandboxes().len(), 3, "an idle one was used");
    function.shutdown().await;
}

#[tokio::test]
async fn many_at_once_all_get_their_own_answer() {
    let function = Function::new(config().concurrency(4)).unwrap();
    let answered = |invocations: Vec<JoinHandle<Result<Value, InvokeError>>>| async {
        let mut answered = 0;
        for (number, invocation) in invocations.into_iter().enumerate() {
            match invocation.await.unwrap() {
                Ok(response) => {
                    assert_eq!(response["number"], number);
                    answered += 1;
                }
                Err(InvokeError::Throttled { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        answered
    };
    for _ in 0..20 {
        let events = (0..4).map(|number| start(&function, json!({ "do": "echo", "number": number })));
        assert_eq!(answered(events.collect()).await, 4);
    }
    assert!(function.sandboxes().len() <= 4);
    function.shutdown().await;
}

#[tokio::test]
async fn a_paused_sandbox_answers_when_it_is_resumed() {
    let function = Function::new(config()).unwrap();
    let paused = pid(&function).await;
    let sandbox = only(&function);
    assert!(sandbox.pause());
    assert!(is_stopped(paused));

    let invocation = start(&function, json!({ "do": "pid" }));
    eventually(PATIENCE, async || sandbox.is_busy().then_some(())).await.unwrap();
    assert!(!invocation.is_finished());
    assert!(is_stopped(paused));

    assert!(sandbox.resume());
    assert_eq!(invocation.await.unwrap().unwrap()["pid"], paused);
    function.shutdown().await;
}

#[tokio::test]
async fn a_sandbox_that_stays_paused_times_out() {
    let function = Function::new(config().timeout(Duration::from_secs(1))).unwrap();
    let paused = pid(&function).await;
    assert!(only(&function).pause());
    assert!(is_stopped(paused));

    let error = start(&function, json!({ "do": "pid" })).await.unwrap().unwrap_err();

    assert!(matches!(error, InvokeError::TimedOut { .. }), "{error:?}");
    assert!(!exists(paused));
}

#[tokio::test]
async fn an_invocation_whose_caller_went_away_goes_on() {
    let function = Function::new(config().concurrency(1)).unwrap();
    let held = Held::new();
    let caller = held.start(&function, 1).await;
    let sandbox = only(&function);

    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());

    assert!(sandbox.is_busy());
    held.release();
    eventually(PATIENCE, async || (!sandbox.is_busy()).then_some(())).await.unwrap();
    assert_eq!(pid(&function).await, sandbox.pid());
    function.shutdown().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_while_the_function_starts_does_not_stop_it_either() {
    let function = Function::new(config()).unwrap();
    let caller = start(&function, json!({ "do": "print" }));
    // Not `eventually`: the process would have the event before it looks again.
    while function.sandboxes().is_empty() {
        tokio::task::yield_now().await;
    }

    caller.abort();

    let printed = || function.logs().iter().any(|line| line.text == "to stdout");
    eventually(PATIENCE, async || printed().then_some(())).await.unwrap();
    function.shutdown().await;
}

#[tokio::test]
async fn shutdown_ends_idle_busy_and_paused_sandboxes_and_refuses_further_invocations() {
    let function = Function::new(config()).unwrap();
    let busy = Held::new().start(&function, 1).await;
    let paused = Held::new().start(&function, 2).await;
    pid(&function).await;
    let sandboxes = function.sandboxes();
    assert_eq!(sandboxes.len(), 3);
    assert!(sandboxes[1].pause());

    function.clone().shutdown().await;

    for sandbox in &sandboxes {
        assert!(!exists(sandbox.pid()), "{}", sandbox.pid());
    }
    // SIGTERM for those that could run, SIGKILL for the one that could not.
    assert_eq!(sandboxes[0].exit(), Some(Exit::Signal(15)));
    assert_eq!(sandboxes[1].exit(), Some(Exit::Signal(9)));
    for invocation in [busy, paused] {
        let error = invocation.await.unwrap().unwrap_err();
        assert!(matches!(error, InvokeError::ShutDown), "{error:?}");
    }
    let error = start(&function, json!({ "do": "pid" })).await.unwrap().unwrap_err();
    assert!(matches!(error, InvokeError::ShutDown), "{error:?}");
    assert!(function.sandboxes().is_empty());
}

#[tokio::test]
async fn dropping_the_last_clone_ends_the_processes() {
    let function = Function::new(config()).unwrap();
    let pid = pid(&function).await;
    let sandbox = only(&function);
    let clone = function.clone();

    drop(function);
    assert!(exists(pid));
    drop(clone);

    assert_eq!(sandbox.exited().await, Exit::Signal(9));
    assert!(!exists(pid));
}

#[test]
fn a_runtime_that_ends_takes_the_processes_with_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (function, pid) = runtime.block_on(async {
        let function = Function::new(config()).unwrap();
        let pid = pid(&function).await;
        (function, pid)
    });

    drop(runtime);
    drop(function);

    // Killed for sure; reaped by Tokio when it next handles a child, so a zombie may still be listed.
    let gone =
        || !exists(pid) || fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|s| s.contains("State:\tZ"));
    let deadline = std::iter::repeat_n((), 1000).any(|()| {
        std::thread::sleep(Duration::from_millis(10));
        gone()
    });
    assert!(deadline);
}
