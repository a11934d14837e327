//! Asking the outside world what became of a lost attempt.

use std::future::{Ready, ready};

use idempotency_core::Attempt;
use lambda_http::{Error, Request};

use super::Reply;

/// What the outside world says about the effect of a lost attempt, under
/// [`OnAbandoned::Probe`](crate::OnAbandoned::Probe).
///
/// "Did not happen" must stay true. A lost attempt is killed at its deadline, and the question is asked only after that; but a
/// request that it sent may still be on its way. Ask for what cannot change any more (an object under the attempt's key), or
/// answer `Unknown` while the effect is younger than such a request can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed<R> {
    /// The effect happened: this is the operation's response. It is stored and replayed.
    Happened(R),
    /// The effect did not happen: the handler runs again.
    DidNotHappen,
    /// Nobody can say. The answer is 500, `outcome-unknown`, and the next request asks again.
    Unknown,
}

/// The probe of an operation that has none: nobody can say.
pub(super) fn nobody_can_say(_: Attempt, _: Request) -> Ready<Result<Probed<Reply>, Error>> {
    ready(Ok(Probed::Unknown))
}
