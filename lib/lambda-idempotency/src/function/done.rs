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
    /// Whether it is known to be stored. If not, the effect happened all the same, and another call may carry it out again.
    pub confirmed: bool,
}

impl<R> Done<R> {
    /// The value of this call.
    pub(super) const fn now(value: R) -> Self {
        Self { value, replayed: false, confirmed: true }
    }

    /// The value of an earlier call.
    pub(super) const fn before(value: R) -> Self {
        Self { value, replayed: true, confirmed: true }
    }

    /// The same value, of which nobody knows whether it is stored.
    pub(super) fn unconfirmed(self) -> Self {
        Self { confirmed: false, ..self }
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
