//! Asking the outside world what became of a lost attempt.

use std::{
    error::Error,
    future::{Ready, ready},
};

use idempotency_core::Attempt;

/// What the outside world says about the effect of a lost attempt, under
/// [`OnAbandoned::Probe`](crate::OnAbandoned::Probe).
///
/// "Did not happen" must stay true. A lost attempt is killed at its deadline, and the question is asked only after that; but a
/// request that it sent may still be on its way. Ask for what cannot change any more (an object under the attempt's key), or
/// answer `Unknown` while the effect is younger than such a request can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed<R> {
    /// The effect happened: this is the operation's result. It is stored and replayed.
    Happened(R),
    /// The effect did not happen: the handler runs again.
    DidNotHappen,
    /// Nobody can say. The outcome is uncertain, and the next request asks again.
    Unknown,
}

/// The probe of an operation that has none: nobody can say what became of a lost attempt.
pub fn nobody_can_say<R>(_: Attempt) -> Ready<Result<Probed<R>, Box<dyn Error + Send + Sync>>> {
    ready(Ok(Probed::Unknown))
}

/// What a probe says; what it cannot say, nobody can.
pub(crate) fn said<R>(said: Result<Probed<R>, Box<dyn Error + Send + Sync>>) -> Probed<R> {
    said.unwrap_or_else(|error| {
        tracing::error!(error = error.as_ref() as &dyn Error, "the probe of a lost attempt failed");
        Probed::Unknown
    })
}
