use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use super::invocation::{Invocation, Message, REQUEST_LIMIT, Reply};
use super::logs::LogBuffer;
use super::observed::Observed;
use super::process::Process;
use super::runtime_api::RuntimeApi;
use super::sandbox::SandboxShared;
use super::supervisor::{State, Supervisor};
use super::{FunctionConfig, FunctionError, InvokeError, LogLine, Sandbox};
use crate::locked::lock;

/// A function and its sandboxes. Clones are the same function.
///
/// Dropping the last clone kills the sandboxes; [`Function::shutdown`] ends them in order and waits.
#[derive(Debug, Clone)]
pub struct Function {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: Arc<FunctionConfig>,
    sandboxes: Mutex<Vec<Arc<SandboxShared>>>,
    logs: LogBuffer,
    shut_down: AtomicBool,
}

impl Function {
    /// A function that starts its first process at its first invocation.
    ///
    /// # Errors
    ///
    /// When the binary is not there; the message says how to build it.
    pub fn new(mut config: FunctionConfig) -> Result<Self, FunctionError> {
        // Absolute, because the process gets another working directory.
        let binary = fs::canonicalize(&config.binary)
            .map_err(|source| FunctionError::NoBinary { path: config.binary.clone(), source })?;
        if !binary.is_file() {
            return Err(FunctionError::NotAFile { path: binary });
        }
        config.binary = binary;
        let inner = Inner {
            logs: LogBuffer::new(&config),
            config: Arc::new(config),
            sandboxes: Mutex::default(),
            shut_down: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Invokes the function as a synchronous caller does, in an idle sandbox or a new one.
    ///
    /// Must run inside a Tokio runtime, which then also runs the sandboxes' supervisors. There are no
    /// retries: every error is the caller's to handle, as in Lambda.
    ///
    /// Dropping the future is a caller that went away: the invocation goes on, and its sandbox is used
    /// again afterwards.
    ///
    /// # Errors
    ///
    /// [`InvokeError`] says what happened. After [`InvokeError::Crashed`], [`InvokeError::TimedOut`] and
    /// [`InvokeError::Init`] the sandbox is gone, and the next invocation gets another one (a timed-out one
    /// goes on with [`FunctionConfig::kill_at_deadline`](field@FunctionConfig::kill_at_deadline)` = false`).
    pub async fn invoke(&self, payload: impl Into<Bytes>) -> Result<Bytes, InvokeError> {
        self.invoke_as(&Uuid::new_v4().to_string(), payload).await
    }

    /// Invokes the function under a request id of the caller's, as a retry of an asynchronous invocation has that of the first
    /// attempt. Everything else is as for [`Self::invoke`].
    ///
    /// Dropping the future is a caller that went away: the invocation goes on, and its sandbox is used again afterwards.
    ///
    /// # Errors
    ///
    /// As [`Self::invoke`].
    pub async fn invoke_as(&self, request_id: &str, payload: impl Into<Bytes>) -> Result<Bytes, InvokeError> {
        let payload = payload.into();
        let observed = Observed::invoked(self.inner.config.observer.as_ref(), request_id, &payload);
        let refused = |error| {
            let refused = Err(error);
            observed.ended(&refused);
            refused
        };
        if payload.len() > REQUEST_LIMIT {
            return refused(InvokeError::PayloadTooLarge { size: payload.len(), limit: REQUEST_LIMIT });
        }
        loop {
            let sandbox = match self.inner.reserve() {
                Ok(sandbox) => sandbox,
                Err(error) => return refused(error),
            };
            let (caller, answer) = oneshot::channel();
            let reply = Reply { caller, observed: observed.clone() };
            let invocation = Invocation { request_id: request_id.to_owned(), payload: payload.clone(), reply };
            // A sandbox that ends before its process has got the event drops the reply. The function has
            // seen nothing then, so this is not a retry.
            if sandbox.messages.send(Message::Invoke(invocation)).is_ok()
                && let Ok(result) = answer.await
            {
                return result;
            }
        }
    }

    /// The running sandboxes, oldest first.
    #[must_use]
    pub fn sandboxes(&self) -> Vec<Sandbox> {
        let sandboxes = lock(&self.inner.sandboxes);
        let running = sandboxes.iter().filter(|sandbox| sandbox.exit.borrow().is_none());
        running.map(|sandbox| Sandbox::new(Arc::clone(sandbox))).collect()
    }

    /// What the sandboxes wrote, with [`super::Logs::Captured`]. The last 10,000 lines are kept.
    #[must_use]
    pub fn logs(&self) -> Vec<LogLine> {
        self.inner.logs.lines()
    }

    /// The configuration, with the binary's absolute path.
    #[must_use]
    pub fn config(&self) -> &FunctionConfig {
        &self.inner.config
    }

    /// Ends all sandboxes with `SIGTERM`, and 500 ms later with `SIGKILL`, and waits until all are reaped.
    ///
    /// Running invocations get [`InvokeError::ShutDown`], and so do later ones through other clones.
    /// Dropping the future early ends the sandboxes all the same, as long as the Tokio runtime lives.
    pub async fn shutdown(self) {
        let sandboxes = self.inner.close();
        for sandbox in &sandboxes {
            // A closed inbox means that the process has ended.
            let _ = sandbox.messages.send(Message::Shutdown);
        }
        for sandbox in sandboxes {
            Sandbox::new(sandbox).exited().await;
        }
    }
}

impl Inner {
    /// Finds or starts a sandbox and takes it for one invocation.
    fn reserve(&self) -> Result<Arc<SandboxShared>, InvokeError> {
        let mut sandboxes = lock(&self.sandboxes);
        // Under the lock, so that nothing is started after `close` has taken the list.
        if self.shut_down.load(Ordering::Acquire) {
            return Err(InvokeError::ShutDown);
        }
        sandboxes.retain(|sandbox| sandbox.exit.borrow().is_none());
        if let Some(idle) = sandboxes.iter().find(|sandbox| sandbox.reserve()) {
            return Ok(Arc::clone(idle));
        }
        let concurrency = self.config.concurrency;
        if sandboxes.iter().filter(|sandbox| !sandbox.is_doomed()).count() >= concurrency {
            return Err(InvokeError::Throttled { concurrency });
        }
        let started = self.start().map_err(InvokeError::Spawn)?;
        sandboxes.push(Arc::clone(&started));
        Ok(started)
    }

    /// Starts a process with its Runtime API and supervisor, already taken by the caller.
    fn start(&self) -> std::io::Result<Arc<SandboxShared>> {
        let id = Uuid::new_v4().simple().to_string();
        let (listener, address) = RuntimeApi::bind()?;
        let (process, output) = Process::start(&self.config, &id, address)?;
        let logs = self.logs.follow(&id, output);
        let (messages, inbox) = mpsc::unbounded_channel();
        let sandbox = Arc::new(SandboxShared {
            id,
            process,
            messages: messages.clone(),
            busy: AtomicBool::new(true),
            doomed: AtomicBool::new(false),
            exit: watch::Sender::new(None),
        });
        let supervisor = Supervisor {
            config: Arc::clone(&self.config),
            sandbox: Arc::clone(&sandbox),
            inbox,
            runtime_api: RuntimeApi::serve(listener, messages),
            logs,
            state: State::starting(self.config.init_timeout),
        };
        tokio::spawn(supervisor.run());
        Ok(sandbox)
    }

    /// Refuses new invocations and returns the sandboxes that are there.
    fn close(&self) -> Vec<Arc<SandboxShared>> {
        let sandboxes = lock(&self.sandboxes);
        self.shut_down.store(true, Ordering::Release);
        sandboxes.clone()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Their supervisors reap them. If the runtime is gone too, dropping the last handle does.
        for sandbox in lock(&self.sandboxes).iter() {
            sandbox.kill();
        }
    }
}
