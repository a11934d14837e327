//! What the protocol asks of a function's types.

use idempotency_core::{Outcome, Refused, Replay};

use super::{Classify, Done, Error, Failure, Storable, stored};

/// What the protocol does with a function's value and error. It is made where the types are known to be fit, and what is made of it
/// asks nothing more of them, so that the compiler complains once about a type that is not.
#[doc(hidden)]
#[derive(Debug)]
pub struct Types<R, E> {
    pub(super) store: fn(R) -> (R, Outcome),
    pub(super) replay: fn(&Replay) -> Result<Done<R>, Error<E>>,
    pub(super) classify: fn(&E) -> Failure,
    pub(super) refused: fn(Refused) -> Option<E>,
}

/// Asks. (A function, because of an associated one the compiler would not say what is asked.)
#[doc(hidden)]
pub const fn types<R: Storable, E: Classify>() -> Types<R, E> {
    Types { store: stored::value, replay: stored::replay, classify: E::classify, refused: E::refused }
}

impl<R, E> Clone for Types<R, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, E> Copy for Types<R, E> {}
