use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::process::Output;
use super::{FunctionConfig, FunctionEvent, Logs};
use crate::locked::lock;

/// Old lines make room for new ones: a looping function must not eat the host's memory.
const KEPT_LINES: usize = 10_000;
/// A grandchild can hold the pipe open after the function's end; it is not waited for longer.
const DRAIN: Duration = Duration::from_millis(250);

/// A line that a function wrote to its standard output or standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLine {
    /// The sandbox that wrote it.
    pub sandbox: String,
    /// The line without its end.
    pub text: String,
}

/// The captured lines of all sandboxes of a function, and where else they go.
#[derive(Debug, Clone)]
pub(super) struct LogBuffer {
    captured: Arc<Mutex<VecDeque<LogLine>>>,
    logs: Logs,
    observer: Option<mpsc::UnboundedSender<FunctionEvent>>,
}

impl LogBuffer {
    pub(super) fn new(config: &FunctionConfig) -> Self {
        Self { captured: Arc::default(), logs: config.logs, observer: config.observer.clone() }
    }

    pub(super) fn lines(&self) -> Vec<LogLine> {
        lock(&self.captured).iter().cloned().collect()
    }

    fn push(&self, line: LogLine) {
        let mut lines = lock(&self.captured);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Reads a process's output in the background.
    pub(super) fn follow(&self, sandbox: &str, output: Output) -> LogReaders {
        let stdout = output.stdout.map(|pipe| tokio::spawn(self.clone().read(sandbox.to_owned(), pipe)));
        let stderr = output.stderr.map(|pipe| tokio::spawn(self.clone().read(sandbox.to_owned(), pipe)));
        LogReaders(stdout.into_iter().chain(stderr).collect())
    }

    async fn read(self, sandbox: String, pipe: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        // Bytes, not `lines()`: output that is not UTF-8 must not end the capture.
        while reader.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            let told = LogLine { sandbox: sandbox.clone(), text };
            if let Some(observer) = &self.observer {
                let _ = observer.send(FunctionEvent::Line(told.clone()));
            }
            match self.logs {
                Logs::Captured => self.push(told),
                Logs::Inherit => forward(std::mem::take(&mut line)).await,
                Logs::Discard => {}
            }
            line.clear();
        }
    }
}

/// Writes a line where the function would have written it by itself. Whoever stops reading there stops the function, as without an
/// observer, and not the host.
async fn forward(line: Vec<u8>) {
    // A host whose standard error is closed has nobody to tell.
    let _ = spawn_blocking(move || io::stderr().lock().write_all(&line)).await;
}

/// The background readers of one process.
#[derive(Debug)]
pub(super) struct LogReaders(Vec<JoinHandle<()>>);

impl LogReaders {
    /// After the process's end: reads what is left, so that a crash is reported after its last words.
    pub(super) async fn drain(self) {
        for mut reader in self.0 {
            if tokio::time::timeout(DRAIN, &mut reader).await.is_err() {
                reader.abort();
            }
        }
    }
}
