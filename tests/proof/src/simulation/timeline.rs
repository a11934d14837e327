//! What happened, in its order, if it is to be told.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// What happened, in its order.
#[derive(Debug)]
pub(super) struct Timeline {
    begin: Instant,
    /// `None` if it is not to be told.
    lines: Option<Mutex<Vec<String>>>,
}

impl Timeline {
    pub(super) fn new(begin: Instant, is_told: bool) -> Self {
        Self { begin, lines: is_told.then(Mutex::default) }
    }

    /// When the run began.
    pub(super) const fn begin(&self) -> Instant {
        self.begin
    }

    pub(super) fn say(&self, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let line = format!("{:>8.3} s  {}", self.begin.elapsed().as_secs_f64(), line());
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    pub(super) fn take(&self) -> Vec<String> {
        let lines = self.lines.as_ref().map(|lines| lines.lock().unwrap_or_else(PoisonError::into_inner));
        lines.map(|mut lines| std::mem::take(&mut *lines)).unwrap_or_default()
    }
}
