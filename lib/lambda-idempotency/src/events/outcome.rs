//! What became of a record.

use std::time::Duration;

use crate::function::{self, Done};

/// What became of one record. Its name counts and logs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It was carried out.
    Fresh,
    /// It was carried out, and nobody knows whether that is stored. It is done, because another delivery would carry it out again;
    /// but nothing that has to come after it begins.
    Unconfirmed,
    /// It had been carried out before: nothing ran.
    Replay,
    /// Another attempt may be carrying it out: nothing ran. It must come again.
    Conflict {
        /// The rest of the other attempt's lease: after that it cannot be running any more.
        lease_left: Duration,
    },
    /// The key was used for another record: nothing ran.
    Mismatch,
    /// It has no usable key or scope: nothing ran.
    InvalidKey,
    /// It cannot be read: nothing ran.
    Undecodable,
    /// An attempt was lost and nobody knows whether its effect happened: nothing ran.
    Uncertain,
    /// It failed for good, now or before. It never runs again.
    Failed,
    /// It failed, and nothing happened. It may run again at once.
    Retryable {
        /// When to try again, if the handler's error says so.
        retry_after: Option<Duration>,
    },
    /// It failed, and nobody knows what happened: then as after a lost attempt.
    Abandoned,
    /// It failed for good, and what it did before is not undone yet. Another delivery goes on with that.
    Undoing,
    /// It failed for good, and something that it did before could not be undone. It never runs again.
    Stuck,
    /// It was carried out, and nobody knows whether what it staged was written: all of it or nothing. Another delivery tells.
    Uncommitted,
    /// It was carried out, and the store refuses for good what it staged: nothing of it was written. Another delivery comes to the same
    /// until the function is corrected.
    CommitRefused,
    /// The store gave no answer: nothing ran.
    NotProtected,
    /// Its key is claimed in another region: nothing ran. Another delivery comes to the same until this region is its home.
    Misdirected,
    /// It was not looked at, because a record before it failed or the time is over: nothing ran.
    NotReached,
}

impl Outcome {
    /// The name, for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Unconfirmed => "unconfirmed",
            Self::Replay => "replay",
            Self::Conflict { .. } => "conflict",
            Self::Mismatch => "mismatch",
            Self::InvalidKey => "key-invalid",
            Self::Undecodable => "undecodable",
            Self::Uncertain => "uncertain",
            Self::Failed => "failed",
            Self::Retryable { .. } => "retryable",
            Self::Abandoned => "abandoned",
            Self::Undoing => "undoing",
            Self::Stuck => "stuck",
            Self::Uncommitted => "uncommitted",
            Self::CommitRefused => "commit-refused",
            Self::NotProtected => "not-protected",
            Self::Misdirected => "misdirected",
            Self::NotReached => "not-reached",
        }
    }

    /// Whether the record is done with, so that it needs no further delivery.
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Fresh | Self::Unconfirmed | Self::Replay)
    }

    /// Whether the record would end the same way each time, whoever delivers it and when.
    pub const fn is_poison(self) -> bool {
        matches!(
            self,
            Self::Mismatch | Self::InvalidKey | Self::Undecodable | Self::Uncertain | Self::Failed | Self::Stuck
        )
    }

    /// When the source may deliver the record again with a chance of another outcome, if that is known.
    pub const fn again_after(self) -> Option<Duration> {
        match self {
            Self::Conflict { lease_left } => Some(lease_left),
            Self::Retryable { retry_after } => retry_after,
            _ => None,
        }
    }

    /// The outcome of a record's call.
    pub(super) fn of<R, E>(result: &Result<Done<R>, function::Error<E>>) -> Self {
        use function::Error;
        match result {
            Ok(done) if done.replayed => Self::Replay,
            Ok(done) if !done.confirmed => Self::Unconfirmed,
            Ok(_) => Self::Fresh,
            Err(Error::Conflict { lease_left, .. }) => Self::Conflict { lease_left: *lease_left },
            Err(Error::Mismatch) => Self::Mismatch,
            Err(Error::Key(_) | Error::Scope(_) | Error::Argument { .. }) => Self::InvalidKey,
            Err(Error::Uncertain) => Self::Uncertain,
            Err(Error::Failed(_)) => Self::Failed,
            Err(Error::Retryable { retry_after, .. }) => Self::Retryable { retry_after: *retry_after },
            Err(Error::Refused(_)) => Self::Retryable { retry_after: None },
            Err(Error::Uncommitted) => Self::Uncommitted,
            Err(Error::CommitRefused) => Self::CommitRefused,
            Err(Error::Undoing) => Self::Undoing,
            Err(Error::Stuck) => Self::Stuck,
            Err(Error::Abandoned(_)) => Self::Abandoned,
            Err(Error::NotProtected(_)) => Self::NotProtected,
            Err(Error::Misdirected(_)) => Self::Misdirected,
            // It took effect. That its value is not there does not matter to a source that wants none.
            Err(Error::ResultOmitted | Error::ResultUnreadable) => Self::Replay,
        }
    }
}

/// What a source does about records that would end the same way each time: a mismatch, no usable key, not decodable, uncertain,
/// failed for good, stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnPoison {
    /// They fail, and go where the source sends what fails: after its retries to a dead-letter queue or an on-failure
    /// destination. Nothing is lost. A shard or partition stands still until then.
    #[default]
    Report,
    /// They are counted and logged by their outcome, and then count as done: the source goes on **and forgets them**. For streams
    /// where a record that cannot be used must not hold up what comes after it.
    Skip,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_other_delivery_can_change_is_poison() {
        let seconds = Duration::from_secs(1);
        let changes = [
            Outcome::Conflict { lease_left: seconds },
            Outcome::Retryable { retry_after: None },
            Outcome::Abandoned,
            Outcome::NotProtected,
            Outcome::NotReached,
            Outcome::Undoing,
            Outcome::Uncommitted,
            // A corrected function carries it out.
            Outcome::CommitRefused,
            // It must not be lost: this region may become its home.
            Outcome::Misdirected,
        ];
        assert!(changes.iter().all(|outcome| !outcome.is_poison() && !outcome.is_done()));
        let stays = [
            Outcome::Mismatch,
            Outcome::InvalidKey,
            Outcome::Undecodable,
            Outcome::Uncertain,
            Outcome::Failed,
            Outcome::Stuck,
        ];
        assert!(stays.iter().all(|outcome| outcome.is_poison() && !outcome.is_done()));
        assert!(
            [Outcome::Fresh, Outcome::Unconfirmed, Outcome::Replay]
                .iter()
                .all(|done| done.is_done() && !done.is_poison())
        );
    }
}
