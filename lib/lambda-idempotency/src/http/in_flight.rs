//! What a duplicate gets while the first request is being carried out.

use std::time::Duration;

/// What a duplicate gets while the first request is being carried out.
///
/// | choice | answer | cost |
/// |---|---|---|
/// | `Conflict` | 409 and `Retry-After` | one write unit per duplicate |
/// | `Wait(max)` | the result, if it comes in time; else 409 | the duplicate's function is billed while it waits, and reads the record up to twice a second |
/// | `Accepted` | 202, `Location` of a status resource, `Retry-After` | one write unit per duplicate, one read per question |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InFlight {
    /// 409 and `Retry-After`: the client asks again.
    #[default]
    Conflict,
    /// The duplicate waits for the result of the first request, for this long at the longest and never beyond its own
    /// invocation's end. Then it gets 409. It writes nothing while it waits.
    Wait(Duration),
    /// 202, with the `Location` of a status resource that answers 202 until there is a result, and then the result. The
    /// resource is `GET {path}/idempotency/{operation}/{key}`; route it to the same handler.
    Accepted,
}
