//! A claim that should not have been made.

use tracing::Instrument;

use super::{Completion, Engine};
use crate::{Abandoned, AttemptNumber, Claim, EpochSeconds, Record, Status, Store};

impl<S: Store> Engine<S> {
    /// Takes a claim back of which nothing has run: the key is new again, for any request. (A [release](Self::release) keeps the key for the
    /// request that claimed it.) A claim that follows another attempt is released, for that one's request and steps still count. An atomic
    /// claim has written nothing, and nothing is written.
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn withdraw(&self, claim: Claim) -> Completion {
        if claim.asks().is_some() {
            claim.attempt().effects.staged().take();
            return Completion::Stored;
        }
        if claim.record().attempt > AttemptNumber::FIRST {
            return self.release(claim).await;
        }
        claim.attempt().effects.staged().take();
        let now = self.now();
        let record = Record {
            status: Status::Released,
            lease_until: now.min(claim.record().lease_until),
            // An expired record counts for nothing.
            expires_at: EpochSeconds::new(now.get().div_euclid(1000)),
            ..claim.record().clone()
        };
        let span = tracing::info_span!("withdraw", record = %record.key);
        Box::pin(self.end_as(&claim, record).instrument(span)).await
    }
    /// Leaves a claim of which nothing has run, because another system is known to have lost an attempt at the same operation: the claim
    /// counts as that attempt, and its lease is over at once. So whoever asks next is told that an attempt was lost, and not that one may be
    /// running. Of an atomic claim nothing is written.
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn lose(&self, claim: Claim) -> Completion {
        claim.attempt().effects.staged().take();
        if claim.asks().is_some() {
            return Completion::Stored;
        }
        let record = Record { lease_until: self.now().min(claim.record().lease_until), ..claim.record().clone() };
        let span = tracing::info_span!("lose", record = %record.key);
        Box::pin(self.end_as(&claim, record).instrument(span)).await
    }

    /// Leaves a lost attempt of which nobody can say now what became of its effect: whoever asks next asks again. Nothing is written, but
    /// for [another system's](Claim::after_a_lost_attempt) attempt, whose claim is [lost](Self::lose).
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn still_unknown(&self, abandoned: Abandoned) -> Completion {
        match abandoned.is_stored() {
            true => self.lose(abandoned.happened()).await,
            false => Completion::Stored,
        }
    }
}
