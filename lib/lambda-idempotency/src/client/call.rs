//! One request of a caller, over all of its attempts.

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Next};
use tokio::time::sleep;

use super::{
    ClientError, LastAnswer, Stopped, Unresolved,
    attempt::attempt,
    circuit_breaker::Open,
    idempotent::Shared,
    kind::Kind,
    pace::Pace,
    step::{Last, Step},
};

/// One request of a caller, over all of its attempts.
pub(super) struct Call<'a> {
    shared: &'a Shared,
    /// `None` once it was sent and cannot be sent again.
    request: Option<Request>,
    kind: Kind,
    pace: Pace,
}

impl<'a> Call<'a> {
    /// Gives the request its key, before anything is sent.
    pub(super) fn begin(shared: &'a Shared, mut request: Request) -> Result<Self, Error> {
        let kind = Kind::of(&mut request, &shared.policy.methods).map_err(Error::middleware)?;
        let attempts = if matches!(kind, Kind::Once) { 1 } else { shared.policy.attempts };
        shared.retries.deposit();
        let pace = Pace::begin(&shared.policy, attempts, shared.clock.clone());
        Ok(Self { shared, request: Some(request), kind, pace })
    }

    /// Makes attempts until one is answered definitely, or there may be no more.
    pub(super) async fn run(mut self, extensions: &mut Extensions, next: Next<'_>) -> Result<Response, Error> {
        let mut last = None;
        while let Some(request) = self.next_request() {
            match self.attempt(request, extensions, next.clone()).await {
                Err(Open) => return self.give_up(Stopped::CircuitOpen, last),
                Ok(Step::End(end)) => return end,
                Ok(Step::Again(again)) => {
                    self.pace.count();
                    let paused = self.pause(&again).await;
                    last = Some(again);
                    if let Err(stopped) = paused {
                        return self.give_up(stopped, last);
                    }
                }
            }
        }
        // Not reached: what can be sent only once has one attempt.
        self.give_up(Stopped::Attempts, last)
    }

    /// The same request again, byte for byte.
    fn next_request(&mut self) -> Option<Request> {
        let copy = self.request.as_ref()?.try_clone();
        copy.or_else(|| self.request.take())
    }

    async fn attempt(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Step, Open> {
        let (shared, number) = (self.shared, self.pace.made().saturating_add(1));
        let whole = matches!(self.kind, Kind::Keyed(_));
        let attempt = async {
            let outcome = attempt(request, extensions, next, shared.policy.attempt_timeout, whole).await;
            Step::after(outcome, &self.kind, shared.policy.other_conflict, number, shared.clock.now())
        };
        shared.circuit.attempt(attempt, Step::failed).await
    }

    /// Waits until the next attempt is due.
    async fn pause(&mut self, last: &Last) -> Result<(), Stopped> {
        let wait = self.pace.wait(last.asked)?;
        if last.failed() && !self.shared.retries.withdraw() {
            return Err(Stopped::RetryBudget);
        }
        tracing::debug!(attempts = self.pace.made(), last = %last.answer, ?wait, "no definite answer, the request will be repeated");
        sleep(wait).await;
        self.pace.check()
    }

    /// The error of a caller with a key. Without one, what came last is all that there is to say.
    fn give_up(self, stopped: Stopped, last: Option<Last>) -> Result<Response, Error> {
        let key = self.kind.key().cloned();
        let (key, last) = match (key, last) {
            (key, None) => return Err(Error::middleware(ClientError::CircuitOpen { key })),
            (Some(key), Some(last)) => (key, last),
            (None, Some(Last { response: Some(response), .. })) => return Ok(response),
            (None, Some(Last { answer: LastAnswer::None(error), .. })) => return Err(*error),
            (None, Some(_)) => return Err(Error::middleware(ClientError::TimedOut)),
        };
        let unresolved = Unresolved { key, attempts: self.pace.made(), last: last.answer, stopped };
        Err(Error::middleware(ClientError::Unresolved(Box::new(unresolved))))
    }
}
