use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use super::FunctionEvent;

/// What Lambda knows about a function.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FunctionConfig {
    /// The function's name.
    pub name: String,
    /// The executable.
    pub binary: PathBuf,
    /// Environment variables, on top of those that Lambda sets. Nothing is inherited from the host.
    pub environment: BTreeMap<String, String>,
    /// How long an invocation may take. Default: 10 s.
    pub timeout: Duration,
    /// How long a process may take from its start until it asks for its first event. Default: 10 s,
    /// as in Lambda.
    pub init_timeout: Duration,
    /// The memory size that the function is told. It is not enforced. Default: 128.
    pub memory_mb: u32,
    /// How many sandboxes may run at once. Default: 10.
    pub concurrency: usize,
    /// Whether an invocation that reaches its deadline is killed, as Lambda does. Default: true.
    ///
    /// With `false` the caller still gets [`super::InvokeError::TimedOut`] at the deadline, but the
    /// process goes on. This is how a test makes a zombie: an attempt that everybody has given up on and
    /// that still acts. Its sandbox is used again only after its late answer has come.
    pub kill_at_deadline: bool,
    /// Where the function's output goes. Default: [`Logs::Inherit`].
    pub logs: Logs,
    /// Who is told what happens to the function. Default: nobody.
    pub observer: Option<mpsc::UnboundedSender<FunctionEvent>>,
}

/// Where the standard output and standard error of a function go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Logs {
    /// To the standard error of the host, so that the host's own output stays clean.
    #[default]
    Inherit,
    /// Nowhere.
    Discard,
    /// Into memory, for [`super::Function::logs`].
    Captured,
}

impl FunctionConfig {
    /// A function with Lambda's defaults.
    pub fn new(name: impl Into<String>, binary: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            binary: binary.into(),
            environment: BTreeMap::new(),
            timeout: Duration::from_secs(10),
            init_timeout: Duration::from_secs(10),
            memory_mb: 128,
            concurrency: 10,
            kill_at_deadline: true,
            logs: Logs::default(),
            observer: None,
        }
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Sets [`Self::timeout`](field@Self::timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets [`Self::init_timeout`](field@Self::init_timeout).
    #[must_use]
    pub fn init_timeout(mut self, timeout: Duration) -> Self {
        self.init_timeout = timeout;
        self
    }

    /// Sets [`Self::memory_mb`](field@Self::memory_mb).
    #[must_use]
    pub fn memory_mb(mut self, megabytes: u32) -> Self {
        self.memory_mb = megabytes;
        self
    }

    /// Sets [`Self::concurrency`](field@Self::concurrency).
    #[must_use]
    pub fn concurrency(mut self, sandboxes: usize) -> Self {
        self.concurrency = sandboxes;
        self
    }

    /// Sets [`Self::kill_at_deadline`](field@Self::kill_at_deadline).
    #[must_use]
    pub fn kill_at_deadline(mut self, kill: bool) -> Self {
        self.kill_at_deadline = kill;
        self
    }

    /// Sets [`Self::logs`](field@Self::logs).
    #[must_use]
    pub fn logs(mut self, logs: Logs) -> Self {
        self.logs = logs;
        self
    }

    /// Sets [`Self::observer`](field@Self::observer): every invocation, its end, and every line that the function writes are sent there,
    /// for as long as somebody receives. The lines still go where [`Self::logs`](field@Self::logs) says.
    #[must_use]
    pub fn observe(mut self, observer: mpsc::UnboundedSender<FunctionEvent>) -> Self {
        self.observer = Some(observer);
        self
    }
}
