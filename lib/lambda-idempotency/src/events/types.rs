//! What the protocol asks of the types of a function of records.

use std::fmt::Display;

use idempotency_core::Operation;

use super::{FromRecord, Payload, Undecodable};
use crate::function::{self, Classify, Storable, Types};

/// An error of a function of records: it says what it means for the effect, and can be written to the log, for nobody else gets it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a function of records",
    label = "this error must implement `lambda_idempotency::function::Classify` and `std::fmt::Display`",
    note = "`impl Classify for {Self} {{}}` counts as abandoned: nobody knows whether the effect happened; implement `classify` to say `Retryable` or `Permanent`",
    note = "for an error of another crate, return `Box<dyn std::error::Error + Send + Sync>`, which counts as abandoned, or wrap it"
)]
pub trait RecordError: Classify + Display {}

#[diagnostic::do_not_recommend]
impl<E: Classify + Display> RecordError for E {}

/// What the protocol does with the value and the error of a function of records. See [`Types`].
#[doc(hidden)]
#[derive(Debug)]
pub struct EventTypes<R, E> {
    pub(super) function: Types<R, E>,
    pub(super) log: fn(&Operation, &E),
}

/// Asks.
#[doc(hidden)]
pub const fn types<R: Storable, E: RecordError>() -> EventTypes<R, E> {
    EventTypes { function: function::types(), log: log::<E> }
}

/// How a record is read. It is made where the message's type is known to be fit, as [`EventTypes`] is.
#[doc(hidden)]
#[derive(Debug)]
pub struct Reader<R, T>(pub(super) fn(&R, &Payload) -> Result<T, Undecodable>);

/// Asks.
#[doc(hidden)]
pub const fn reader<R, T: FromRecord<R>>() -> Reader<R, T> {
    Reader(T::from_record)
}

impl<R, T> Clone for Reader<R, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, T> Copy for Reader<R, T> {}

fn log<E: Display>(operation: &Operation, error: &E) {
    tracing::error!(%operation, %error, "the handler of a record failed");
}

impl<R, E> Clone for EventTypes<R, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, E> Copy for EventTypes<R, E> {}
