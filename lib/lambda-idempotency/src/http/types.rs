//! What the protocol asks of a handler's types.

use std::future::Future;

use idempotency_core::{Policy, Refused};
use lambda_http::{Body, IntoResponse, Response};

use super::{Classify, Failure, Reply};

type Converting = std::pin::Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What the protocol does with a handler's value and error. It is made where the types are known to be fit, and what is made of it
/// asks nothing more of them, so that the compiler complains once about a type that is not.
#[doc(hidden)]
#[derive(Debug)]
pub struct Types<R, E> {
    convert: fn(R) -> Converting,
    pub(super) classify: fn(E) -> Failure,
    refused: fn(Refused) -> Option<E>,
}

/// Asks. (A function, because of an associated one the compiler would not say what is asked.)
#[doc(hidden)]
pub const fn types<R: IntoResponse, E: Classify>() -> Types<R, E> {
    Types { convert: R::into_response, classify: E::classify, refused: E::refused }
}

impl<R, E> Types<R, E> {
    pub(super) async fn convert(self, value: R) -> Reply {
        (self.convert)(value).await.into()
    }

    /// What it means that a staged write's condition does not hold. Where nothing is said, what was staged is not written; what the
    /// handler did besides, nobody knows.
    pub(super) fn refused(self, refused: Refused, policy: &Policy) -> Failure {
        match (self.refused)(refused.clone()) {
            Some(error) => (self.classify)(error),
            None if !policy.may_repeat() => Failure::Abandoned(refused.into()),
            None => Failure::Retryable { retry_after: None, source: refused.into() },
        }
    }
}

impl<R, E> Clone for Types<R, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, E> Copy for Types<R, E> {}
