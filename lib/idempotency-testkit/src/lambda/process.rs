use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::environment::variables;
use super::{FunctionConfig, Logs};
use crate::locked::lock;

/// A stop is seen at the first or second poll; the number only bounds the wait.
const STOP_POLL: Duration = Duration::from_micros(100);
const STOP_POLLS: usize = 10_000;

/// A child process that is never signalled after it was reaped.
///
/// A process id is free for reuse as soon as its process is reaped, so signalling by number can hit a
/// stranger. Here reaping and signalling take the same lock, and a reaped child has no id any more.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    child: Mutex<Child>,
}

/// The child's output, when it is captured.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl Process {
    pub(super) fn start(config: &FunctionConfig, id: &str, runtime_api: SocketAddr) -> io::Result<(Self, Output)> {
        let mut command = Command::new(&config.binary);
        command
            .env_clear()
            .envs(variables(config, id, runtime_api))
            .current_dir(config.binary.parent().unwrap_or(Path::new("/")))
            .stdin(Stdio::null())
            .stdout(sink(config))
            .stderr(sink(config))
            // Ctrl-C in a terminal goes to the whole foreground group; the host alone decides when a
            // function ends. If the host dies, the kernel wakes the stopped members of such a group.
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let output = Output { stdout: child.stdout.take(), stderr: child.stderr.take() };
        // A child that was not waited for always has an id.
        let pid = child.id().ok_or_else(|| io::Error::other("the process has no id"))?;
        Ok((Self { pid, child: Mutex::new(child) }, output))
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends `signal`, unless the process was reaped. Says whether it was sent.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let child = lock(&self.child);
        pid_of(&child).is_some_and(|pid| kill_process(pid, signal).is_ok())
    }

    /// Stops the process and waits until it does not run any more. Says whether it was stopped.
    pub(super) fn stop(&self) -> bool {
        let child = lock(&self.child);
        let Some(pid) = pid_of(&child).filter(|pid| kill_process(*pid, Signal::STOP).is_ok()) else {
            return false;
        };
        // The signal takes effect some microseconds after it was sent; until then the process goes on.
        // Looking at the child does not reap it, and one that ends instead is noticed too.
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let stopped = std::iter::repeat_with(|| waitid(WaitId::Pid(pid), options)).take(STOP_POLLS).find_map(|state| {
            let status = state.ok().flatten();
            if status.is_none() {
                std::thread::sleep(STOP_POLL);
            }
            status
        });
        stopped.is_some_and(|status| status.stopped())
    }

    /// Waits for the process to end and reaps it. Can be dropped and called again.
    pub(super) async fn wait(&self) -> io::Result<ExitStatus> {
        // The lock is held during a poll only, so that signals can be sent while this waits.
        poll_fn(|context| {
            let mut child = lock(&self.child);
            let wait = pin!(child.wait());
            wait.poll(context)
        })
        .await
    }
}

/// The id of a child that was not reaped yet.
fn pid_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

fn sink(config: &FunctionConfig) -> Stdio {
    match config.logs {
        _ if config.observer.is_some() => Stdio::piped(),
        Logs::Inherit => Stdio::from(io::stderr()),
        Logs::Discard => Stdio::null(),
        Logs::Captured => Stdio::piped(),
    }
}
