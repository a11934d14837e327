use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use tokio::sync::{mpsc, watch};

use super::Exit;
use super::invocation::Message;
use super::process::Process;

/// A handle to one sandbox: a process of a function. Clones are the same sandbox.
///
/// A handle stays valid when the process has ended; then nothing is signalled any more.
#[derive(Debug, Clone)]
pub struct Sandbox {
    shared: Arc<SandboxShared>,
}

impl Sandbox {
    pub(super) fn new(shared: Arc<SandboxShared>) -> Self {
        Self { shared }
    }

    /// An id that is unique among all sandboxes, as in the function's log stream name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.shared.process.pid()
    }

    /// Whether it starts, or works on an invocation.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire)
    }

    /// How the process ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        *self.shared.exit.borrow()
    }

    /// Waits until the process has ended and is reaped.
    ///
    /// Dropping the future changes nothing.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.shared.exit.subscribe();
        loop {
            if let Some(exit) = *exit.borrow_and_update() {
                return exit;
            }
            // The sender is in `self`, so it outlives the wait and the error cannot happen.
            let _ = exit.changed().await;
        }
    }

    /// Kills the process with `SIGKILL`: a crash at a moment that the test chooses. Works on a paused
    /// one too.
    ///
    /// The sandbox gets no new invocations from now on. Returns false when the process had ended.
    pub fn kill(&self) -> bool {
        self.shared.kill()
    }

    /// Stops the process with `SIGSTOP`, as Lambda freezes a sandbox. When it returns, the process does
    /// not run any more.
    ///
    /// Deadlines go on. Returns false when the process had ended.
    pub fn pause(&self) -> bool {
        self.shared.process.stop()
    }

    /// Lets a paused process go on (`SIGCONT`). Returns false when the process had ended.
    pub fn resume(&self) -> bool {
        self.shared.process.signal(Signal::CONT)
    }
}

/// What a sandbox's handles, its supervisor and the pool share.
#[derive(Debug)]
pub(super) struct SandboxShared {
    pub(super) id: String,
    pub(super) process: Process,
    pub(super) messages: mpsc::UnboundedSender<Message>,
    /// Set by whoever hands it an invocation, cleared by the supervisor when that has ended.
    pub(super) busy: AtomicBool,
    /// Set when the process will end soon: it must not get another invocation.
    pub(super) doomed: AtomicBool,
    pub(super) exit: watch::Sender<Option<Exit>>,
}

impl SandboxShared {
    pub(super) fn doom(&self) {
        self.doomed.store(true, Ordering::Release);
    }

    pub(super) fn is_doomed(&self) -> bool {
        self.doomed.load(Ordering::Acquire)
    }

    /// Takes it for an invocation, if it is free.
    pub(super) fn reserve(&self) -> bool {
        !self.is_doomed() && self.busy.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(super) fn kill(&self) -> bool {
        // First, so that no invocation goes to a process that is about to die.
        self.doom();
        self.process.signal(Signal::KILL)
    }
}
