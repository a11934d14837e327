//! What a call's key may come from.

use idempotency_core::{IdempotencyKey, KeyError, KeyPartError};

/// What a call's key may come from: a key, or the attempt to make one.
///
/// ```
/// use lambda_idempotency::{IdempotencyKey, function::{IntoKey, InvalidKey}};
///
/// assert!(IdempotencyKey::new("8f1e0c1e").into_key().is_ok());
/// assert!(matches!(IdempotencyKey::new(" ").into_key(), Err(InvalidKey::Text(_))));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no idempotency key",
    label = "expected a key",
    note = "what identifies the call makes a key: `key = [invoice.id, invoice.number]`",
    note = "a key that the caller brought is an `IdempotencyKey`, a reference to one, or what `IdempotencyKey::new(text)` gives"
)]
pub trait IntoKey {
    /// The key.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when there is none. A call without a key does not run.
    fn into_key(self) -> Result<IdempotencyKey, InvalidKey>;
}

/// Why a call has no usable key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The text is no key.
    #[error(transparent)]
    Text(#[from] KeyError),
    /// A part of a derived key has no value.
    #[error(transparent)]
    Parts(#[from] KeyPartError),
    /// A record carries no key, declares none, and its source gives it none.
    #[error("the record has no idempotency key: it carries none, and what its source tells of it makes none")]
    Missing,
    /// A record carries several keys.
    #[error("the record carries several idempotency keys; send exactly one")]
    Several,
    /// A record carries a key that is no text.
    #[error("the record carries an idempotency key that is no text")]
    NoText,
}

impl IntoKey for IdempotencyKey {
    fn into_key(self) -> Result<IdempotencyKey, InvalidKey> {
        Ok(self)
    }
}

impl IntoKey for &IdempotencyKey {
    fn into_key(self) -> Result<IdempotencyKey, InvalidKey> {
        Ok(self.clone())
    }
}

/// What [`IdempotencyKey::new`] and [`KeyBuilder::finish`](crate::KeyBuilder::finish) give.
#[diagnostic::do_not_recommend]
impl<E: Into<InvalidKey>> IntoKey for Result<IdempotencyKey, E> {
    fn into_key(self) -> Result<IdempotencyKey, InvalidKey> {
        self.map_err(Into::into)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Clone + Into<InvalidKey>> IntoKey for &Result<IdempotencyKey, E> {
    fn into_key(self) -> Result<IdempotencyKey, InvalidKey> {
        self.clone().map_err(Into::into)
    }
}
