//! What the protocol asks of a handler's types.

use std::future::Future;

use lambda_http::{Body, IntoResponse, Response};

use super::{Classify, Failure, Reply};

type Converting = std::pin::Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What the protocol does with a handler's value and error. It is made where the types are known to be fit, and what is made of it
/// asks nothing more of them, so that the compiler complains once about a type that is not.
#[doc(hidden)]
#[derive(Debug)]
pub struct Types<R, E> {
    convert: fn(R) -> Converting,
    classify: fn(E) -> Failure,
}

/// Asks. (A function, because of an associated one the compiler would not say what is asked.)
#[doc(hidden)]
pub const fn types<R: IntoResponse, E: Classify>() -> Types<R, E> {
    Types { convert: R::into_response, classify: E::classify }
}

impl<R, E> Types<R, E> {
    /// What the handler returns, converted once.
    ///
    /// # Errors
    ///
    /// The handler's error, classified.
    pub async fn answered(self, handler: impl Future<Output = Result<R, E>>) -> Result<Reply, Failure> {
        match handler.await {
            Ok(value) => Ok((self.convert)(value).await.into()),
            Err(error) => Err((self.classify)(error)),
        }
    }
}
