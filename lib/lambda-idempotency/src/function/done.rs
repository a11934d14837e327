//! What a call gives when the operation is done.

use std::ops::Deref;

/// The value of an operation that is done, by this call or by an earlier one. It dereferences to the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done<R> {
    /// The function's value, as it was stored: the same for the first caller and for all others.
    pub value: R,
    /// Whether it was stored by an earlier call, so that this one has had no effect.
    pub replayed: bool,
}

impl<R> Done<R> {
    /// The value of this call.
    pub(super) const fn now(value: R) -> Self {
        Self { value, replayed: false }
    }

    /// The value of an earlier call.
    pub(super) const fn before(value: R) -> Self {
        Self { value, replayed: true }
    }

    /// The value.
    pub fn into_value(self) -> R {
        self.value
    }
}

impl<R> Deref for Done<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.value
    }
}
