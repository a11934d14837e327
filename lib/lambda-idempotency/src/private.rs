//! What the expansion of [`idempotent`](crate::idempotent) needs. Not for hand-written code.

use std::{future::Future, marker::PhantomData};

use idempotency_core::{Attempt, Undo, Undone};
pub use lambda_http::{Error, LambdaEvent, Request, http::Method};
use serde::Serialize;

use crate::Probed;

pub use crate::{probed::nobody_can_say, undo::no_undo};

/// The halves of a result, whatever it is called.
pub trait Returned {
    /// The value.
    type Value;
    /// The error.
    type Error;
}

impl<R, E> Returned for Result<R, E> {
    type Value = R;
    type Error = E;
}

/// Asks for what a function's probe must be, where it is written.
pub fn probe<R, F, P>(probe: P) -> P
where
    P: FnOnce(Attempt) -> F,
    F: Future<Output = Result<Probed<R>, Error>>,
{
    probe
}

/// Asks for what an operation's undoing must be, where it is written.
pub fn undo<F, U>(undo: U) -> U
where
    U: Fn(Undo) -> F,
    F: Future<Output = Result<Undone, Error>>,
{
    undo
}

/// Whether a type is data: something that could be part of a call.
pub struct IsData<T: ?Sized>(PhantomData<T>);

/// What is no data.
pub trait NoData {
    /// Taken where there is no inherent constant.
    const VALUE: bool = false;
}

impl<T: ?Sized> NoData for IsData<T> {}

impl<T: Serialize + ?Sized> IsData<T> {
    /// Taken where its bound holds.
    pub const VALUE: bool = true;
}
