//! After the effect: how a claim ends.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Engine, Outcome, Replay};
use crate::{Claim, EndConflict, Record, Replaced, Status, Store, explain_end};

/// The first pause before a completion is tried again; it doubles every time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// What became of the end of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Completion {
    /// The end is stored.
    Stored,
    /// Another attempt took the key over. Its result, if it has one, is the operation's result.
    Superseded(Option<Replay>),
    /// The record was deleted while the attempt ran. Nothing was written: half a record would be worse than none.
    Vanished,
    /// Nobody knows whether the end is stored. The effect stands; an error to the caller would invite a second one.
    Unconfirmed,
}

impl<S: Store> Engine<S> {
    /// Ends a claim whose effect happened, with its result. For a claim by [`Abandoned::happened`](crate::Abandoned::happened)
    /// this is the first write.
    ///
    /// Repeats while the store gives no answer and time is left. Dropping the future may leave the record in flight; the
    /// attempt then counts as abandoned, although its effect happened.
    pub async fn complete(&self, claim: Claim, outcome: Outcome) -> Completion {
        Box::pin(self.end(claim, Status::Completed, Some(outcome))).await
    }

    /// Ends a claim whose operation failed for good, with the failure to replay.
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn fail(&self, claim: Claim, outcome: Outcome) -> Completion {
        Box::pin(self.end(claim, Status::Failed, Some(outcome))).await
    }

    /// Ends a claim whose effect did not happen, so that the next attempt may claim at once.
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn release(&self, claim: Claim) -> Completion {
        Box::pin(self.end(claim, Status::Released, None)).await
    }

    async fn end(&self, claim: Claim, status: Status, outcome: Option<Outcome>) -> Completion {
        let deadline = claim.attempt().deadline;
        // Tokio's clock: it measures waits, which the wall clock does not.
        let give_up_at = Instant::now() + self.timeouts.for_completion(deadline, self.now());
        let result = match &outcome {
            None => None,
            // Parts may take half of the time, so that the record itself is never left without any.
            Some(outcome) => {
                let within = give_up_at.saturating_duration_since(Instant::now()) / 2;
                self.prepare(claim.record(), outcome, within).await
            }
        };
        let record = claim.ended(status, result);
        let mut pause = FIRST_PAUSE;
        loop {
            let left = give_up_at.saturating_duration_since(Instant::now());
            let within = self.timeouts.for_call(deadline, self.now()).min(left);
            let error = match self.store.replace(claim.expected(), &record, within).await {
                Ok(Replaced::Replaced) => return Completion::Stored,
                Ok(Replaced::Differs(stored)) => return self.explain(&record, stored, within).await,
                Err(error) => error,
            };
            if !error.is_transient() || Instant::now() + pause >= give_up_at {
                tracing::error!(
                    record = %record.key,
                    operation = %claim.attempt().operation(),
                    %status,
                    error = &error as &dyn std::error::Error,
                    "CompletionUnconfirmed: the attempt ended and its end could not be stored"
                );
                return Completion::Unconfirmed;
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    /// What it means that the claim's record was not found in flight.
    async fn explain(&self, ended: &Record, stored: Option<Record>, within: Duration) -> Completion {
        let conflict = explain_end(ended, stored.as_ref());
        match (conflict, stored) {
            (EndConflict::AlreadyStored, _) => Completion::Stored,
            (EndConflict::Vanished, _) | (_, None) => {
                tracing::warn!(record = %ended.key, "the record was deleted while its attempt ran");
                Completion::Vanished
            }
            (EndConflict::Superseded | EndConflict::SupersededByResult, Some(stored)) => {
                tracing::warn!(
                    record = %ended.key,
                    epoch = ended.epoch.get(),
                    by_epoch = stored.epoch.get(),
                    "Superseded: another attempt took the key over before this one ended"
                );
                match conflict {
                    EndConflict::SupersededByResult => Completion::Superseded(self.replay(stored, within).await.ok()),
                    _ => Completion::Superseded(None),
                }
            }
        }
    }
}
