//! One case of the sweep: which fault, where, on the way of which request.

use std::fmt;

/// What an operation does about lost attempts. Every function is swept under each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Rerun,
    Reject,
    Probe,
}

/// A request's way: what is stored under its key when it comes, and what the provider will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// Nothing is stored, the provider charges.
    Fresh,
    /// Nothing is stored, the provider declines: a result like any other.
    Declined,
    /// Nothing is stored, the provider turns the first request away: the claim is released.
    TurnedAway,
    /// Nothing is stored, the provider refuses for good: a permanent failure.
    Refused,
    /// An attempt was released.
    Resume,
    /// An attempt was lost before its effect, and its lease is over.
    Abandoned,
    /// An attempt may be running.
    InFlight,
    /// The charge was made and its record has expired.
    Expired,
    /// The charge was made.
    Replay,
    /// The key was used with another amount.
    Mismatch,
}

/// Whose request a fault is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    /// DynamoDB: records, and the function's own table.
    Store,
    /// The payment provider.
    Provider,
}

/// The `nth` request to this callee on the way, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) callee: Callee,
    pub(super) nth: u64,
}

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// The request is lost.
    DropBefore,
    /// The request is applied and its reply is lost.
    DropAfter,
    /// The connection is reset; the request is lost.
    ResetBefore,
    /// The connection is reset when the request has been applied.
    ResetAfter,
    /// A 500, not applied.
    ErrorBefore,
    /// A 500, applied all the same.
    ErrorAfter,
    /// Throttled, not applied.
    Throttle,
    /// The request is applied long after its sender has given up on it.
    Late,
    /// SIGKILL, and the request is never applied.
    KillBefore,
    /// SIGKILL when the request has been applied, before its reply.
    KillAfter,
    /// SIGKILL, and the request is applied after everything else.
    KillLate,
    /// SIGSTOP when the request has been applied; SIGCONT when another attempt has the answer.
    FreezeAfter,
    /// SIGSTOP; when another attempt has the answer, the request is applied and SIGCONT follows.
    FreezeLate,
}

/// One case. Its text is its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) policy: Policy,
    pub(super) path: Path,
    pub(super) step: Step,
    pub(super) blow: Blow,
}

impl Policy {
    pub(super) const ALL: [Self; 3] = [Self::Rerun, Self::Reject, Self::Probe];

    /// As the function's variable `ON_ABANDONED` spells it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Reject => "reject",
            Self::Probe => "probe",
        }
    }
}

impl Path {
    pub(super) const ALL: [Self; 10] = [
        Self::Fresh,
        Self::Declined,
        Self::TurnedAway,
        Self::Refused,
        Self::Resume,
        Self::Abandoned,
        Self::InFlight,
        Self::Expired,
        Self::Replay,
        Self::Mismatch,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Declined => "declined",
            Self::TurnedAway => "turned-away",
            Self::Refused => "refused",
            Self::Resume => "resume",
            Self::Abandoned => "abandoned",
            Self::InFlight => "in-flight",
            Self::Expired => "expired",
            Self::Replay => "replay",
            Self::Mismatch => "mismatch",
        }
    }
}

impl Blow {
    pub(super) const ALL: [Self; 13] = [
        Self::DropBefore,
        Self::DropAfter,
        Self::ResetBefore,
        Self::ResetAfter,
        Self::ErrorBefore,
        Self::ErrorAfter,
        Self::Throttle,
        Self::Late,
        Self::KillBefore,
        Self::KillAfter,
        Self::KillLate,
        Self::FreezeAfter,
        Self::FreezeLate,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::DropBefore => "drop-before",
            Self::DropAfter => "drop-after",
            Self::ResetBefore => "reset-before",
            Self::ResetAfter => "reset-after",
            Self::ErrorBefore => "error-before",
            Self::ErrorAfter => "error-after",
            Self::Throttle => "throttle",
            Self::Late => "late",
            Self::KillBefore => "kill-before",
            Self::KillAfter => "kill-after",
            Self::KillLate => "kill-late",
            Self::FreezeAfter => "freeze-after",
            Self::FreezeLate => "freeze-late",
        }
    }

    /// Whether it can happen on the way to this callee. The provider's own way of throttling is the path `turned-away`, and
    /// a provider that answers late is an attempt that meets its deadline.
    pub(super) const fn hits(self, callee: Callee) -> bool {
        matches!(callee, Callee::Store) || !matches!(self, Self::Throttle | Self::Late)
    }

    /// Whether the process is killed or frozen.
    pub(super) const fn hits_the_process(self) -> bool {
        matches!(self, Self::KillBefore | Self::KillAfter | Self::KillLate | Self::FreezeAfter | Self::FreezeLate)
    }
}

impl Case {
    /// Whether the attempt may be lost by it. Otherwise nobody may notice anything.
    pub(super) const fn may_lose_the_attempt(&self) -> bool {
        self.blow.hits_the_process() || matches!(self.step.callee, Callee::Provider)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callee = match self.callee {
            Callee::Store => "store",
            Callee::Provider => "provider",
        };
        write!(f, "{callee}-{}", self.nth)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.policy.name(), self.path.name(), self.step, self.blow.name())
    }
}
