//! The engine: claims a key before the effect and ends the claim after it.

mod claim;
mod compensate;
mod complete;
mod desk;
mod look_up;
mod operator;
mod outcome;
mod pauses;
#[cfg(test)]
mod tests;
mod timeouts;
mod undo_beside;
mod unprotected;
mod waiting;
mod withdraw;

use std::{fmt, sync::Arc, time::Duration};

pub use self::{
    claim::{ClaimError, Claimed, Request},
    compensate::Compensated,
    complete::{Applied, Completion, Refusal},
    look_up::LookedUp,
    outcome::{Outcome, Replay},
    timeouts::Timeouts,
};
use crate::{Batched, Clock, EpochMillis, HomeRegion, NotHome, RandomTokens, Scope, SystemClock, TokenSource};

/// Runs the protocol over a store.
///
/// Cloning is cheap and clones share the store.
pub struct Engine<S> {
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    tokens: Arc<dyn TokenSource>,
    timeouts: Timeouts,
    home: Option<HomeRegion>,
}

impl<S> Engine<S> {
    /// An engine over `store`, with the system's clock and randomness.
    pub fn new(store: S) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(SystemClock),
            tokens: Arc::new(RandomTokens),
            timeouts: Timeouts::default(),
            home: None,
        }
    }

    /// The same engine with another clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// The same engine with another source of tokens.
    #[must_use]
    pub fn with_tokens(self, tokens: impl TokenSource) -> Self {
        Self { tokens: Arc::new(tokens), ..self }
    }

    /// The same engine with other limits on waiting for the store.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// The same engine, which claims keys in their home region only. Without this it claims all, as is right for a table in one region.
    #[must_use]
    pub fn with_home_region(self, home: HomeRegion) -> Self {
        Self { home: Some(home), ..self }
    }

    /// Whether keys of this scope may be claimed here. [`claim`](Self::claim) asks this itself.
    ///
    /// # Errors
    ///
    /// [`NotHome`] when this is not their [home region](HomeRegion).
    pub fn at_home(&self, scope: &Scope) -> Result<(), NotHome> {
        self.home.as_ref().map_or(Ok(()), |home| home.check(scope))
    }

    /// The same engine for messages that are carried out side by side: their calls reach the store together, and the end of one
    /// claim waits for others for `linger` at the longest. See [`Batched`].
    pub fn batched(&self, linger: Duration) -> Engine<Batched<S>> {
        Engine {
            store: Arc::new(Batched::new(Arc::clone(&self.store), linger)),
            clock: Arc::clone(&self.clock),
            tokens: Arc::clone(&self.tokens),
            timeouts: self.timeouts,
            home: self.home.clone(),
        }
    }

    /// The current time by the engine's clock.
    pub fn now(&self) -> EpochMillis {
        self.clock.now()
    }

    /// How long a call of the store may take for an attempt that the platform ends at `deadline`.
    pub fn time_for_call(&self, deadline: EpochMillis) -> Duration {
        self.timeouts.for_call(deadline, self.now())
    }

    /// The store.
    pub const fn store(&self) -> &Arc<S> {
        &self.store
    }
}

impl<S> Clone for Engine<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            tokens: Arc::clone(&self.tokens),
            timeouts: self.timeouts,
            home: self.home.clone(),
        }
    }
}

impl<S> fmt::Debug for Engine<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("timeouts", &self.timeouts).field("home", &self.home).finish_non_exhaustive()
    }
}
