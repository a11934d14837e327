//! What a user chose for an operation.

use std::time::Duration;

use crate::Window;

/// What happens to an abandoned attempt: one that crashed, timed out, panicked or failed without saying how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnAbandoned {
    /// The next request takes the key over once the lease is over and runs the handler again, with the same key to pass
    /// on. Effects: at most one per attempt, and one in all when the callee honours keys.
    #[default]
    Rerun,
    /// The outcome is *uncertain* and stays so until an operator resolves it. Effects: at most one, whatever clocks,
    /// freezes and networks do.
    Reject,
    /// The next request after the end of the lease asks the outside world whether the effect happened. If it did, that is the
    /// result; if it did not, the handler runs again; if nobody can say, the outcome is *uncertain*. Effects: at most one, as
    /// long as "it did not happen" stays true, which a lost attempt that still acts can break.
    Probe,
}

/// The policy of an operation.
///
/// ```
/// use idempotency_core::{OnAbandoned, Policy, Window};
///
/// let policy = Policy::new(Window::http()).on_abandoned(OnAbandoned::Reject);
/// assert_eq!(policy.abandoned(), OnAbandoned::Reject);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    window: Window,
    on_abandoned: OnAbandoned,
    wait: Option<Duration>,
    looks_first: bool,
    is_atomic: bool,
    undoes: bool,
}

impl Policy {
    /// How far a lease reaches beyond the platform's deadline, and so how far two machines' clocks may differ.
    ///
    /// Three seconds are far above what the Amazon Time Sync Service leaves, and far below the minute after which
    /// Lambda repeats a failed asynchronous invocation ("How Lambda handles errors and retries with asynchronous
    /// invocation", AWS Lambda Developer Guide).
    pub const MARGIN: Duration = Duration::from_secs(3);

    /// The longest `Retry-After` that a conflict advises. Most handlers are done long before their lease is over, so a
    /// caller should ask again sooner than that; each question costs one write unit.
    pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(5);

    /// The policy with this window and [`OnAbandoned::Rerun`].
    pub const fn new(window: Window) -> Self {
        Self {
            window,
            on_abandoned: OnAbandoned::Rerun,
            wait: None,
            looks_first: false,
            is_atomic: false,
            undoes: false,
        }
    }

    /// The same policy with another window.
    #[must_use]
    pub const fn with_window(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// The same policy, by which a duplicate of an attempt in flight waits for its result, for `max` at the longest; `None`
    /// does not wait.
    #[must_use]
    pub const fn wait(self, max: Option<Duration>) -> Self {
        Self { wait: max, ..self }
    }

    /// The same policy for a request that is probably a duplicate, such as a message that a queue delivers again: its claim begins
    /// with a read, which costs a fraction of the write that would be refused. If it is none, the read was in vain.
    #[must_use]
    pub const fn look_first(self, looks_first: bool) -> Self {
        Self { looks_first, ..self }
    }

    /// The same policy with another choice for abandoned attempts.
    #[must_use]
    pub const fn on_abandoned(self, on_abandoned: OnAbandoned) -> Self {
        Self { on_abandoned, ..self }
    }

    /// The same policy for an operation whose whole effect is what it stages: nothing is claimed before it runs, and record and
    /// effect commit together. Duplicates may run it side by side; one of them commits, and the others get its result.
    #[must_use]
    pub const fn atomic(self, is_atomic: bool) -> Self {
        Self { is_atomic, ..self }
    }

    /// The same policy for an operation that can undo its steps when it fails for good.
    #[must_use]
    pub const fn undo(self, undoes: bool) -> Self {
        Self { undoes, ..self }
    }

    /// The window.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// What happens to an abandoned attempt.
    pub const fn abandoned(&self) -> OnAbandoned {
        self.on_abandoned
    }

    /// How long a duplicate waits for the result of an attempt in flight; `None` when it does not.
    pub const fn longest_wait(&self) -> Option<Duration> {
        self.wait
    }

    /// Whether a claim begins with a read.
    pub const fn looks_first(&self) -> bool {
        self.looks_first
    }

    /// Whether nothing is claimed before the operation runs.
    pub const fn is_atomic(&self) -> bool {
        self.is_atomic
    }

    /// Whether a handler may run again although it may have had effects: under [`OnAbandoned::Rerun`], whose callees honour keys, and in
    /// an atomic operation, which has no effect but what commits.
    pub const fn may_repeat(&self) -> bool {
        self.is_atomic || matches!(self.on_abandoned, OnAbandoned::Rerun)
    }

    /// Whether the operation can undo its steps.
    pub const fn undoes(&self) -> bool {
        self.undoes
    }

    /// How far a lease reaches beyond the platform's deadline.
    pub const fn margin(&self) -> Duration {
        Self::MARGIN
    }
}
