//! A claim that should not have been made.

use tracing::Instrument;

use super::{Completion, Engine};
use crate::{AttemptNumber, Claim, EpochSeconds, Record, Status, Store};

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
}
