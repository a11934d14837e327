//! What a derived key may be made of.

mod error;
mod slot;
mod standard;
#[cfg(feature = "uuid")]
mod uuid;

pub use error::KeyPartError;
pub(crate) use slot::NamedParts;
pub use slot::{EncodedPart, PartSlot};

/// A value that may be part of a derived key ([`key!`](crate::key)) or of a content id
/// ([`content_id!`](crate::content_id)): it says *what* is acted on, and is the same on every retry.
///
/// | type | rule |
/// |---|---|
/// | text: `str`, `String`, `char`, [`IdempotencyKey`](crate::IdempotencyKey), with the feature `uuid` also `Uuid` | counts as it is: no trimming, no case folding, no Unicode normalisation. Empty or all-blank text is refused |
/// | all integers, also `NonZero` ones | count by their value, so that widening a type keeps keys: `7_u32`, `7_i64` and `7_u128` are equal. `0` is a value like any other |
/// | `bool` | `false` is a value like any other |
/// | slices, arrays, `Vec`, `BTreeSet`, tuples of parts | count by their elements in order. An empty one is refused |
/// | `Option` | `Some(value)` counts as the value, `None` is refused |
/// | `&T`, `Box`, `Rc`, `Arc`, `Cow` | count as what is inside |
///
/// Values of two kinds are never equal: the number `1` is not the text `"1"`, nor `true`.
///
/// What differs between retries of one request is no part and does not compile: `SystemTime`, `Instant`, `Duration`, the
/// times of other crates, floats, attempt numbers, and `HashMap` and `HashSet`, which have no order. What a compiler cannot
/// see is up to you: no text made of a time, and no id that was drawn at random inside the handler.
///
/// ```compile_fail
/// # use idempotency_core::{Operation, key};
/// # const CHARGE: Operation = Operation::declare("create-charge", 1);
/// let minted = key!(CHARGE; user_id = 7, at = std::time::SystemTime::UNIX_EPOCH);
/// ```
///
/// # Types of your own
///
/// Delegate to the identity inside. The slot can be filled only once and only by a part, so nothing can be left out:
///
/// ```
/// use idempotency_core::{EncodedPart, KeyPart, KeyPartError, Operation, PartSlot, key};
///
/// struct UserId(u64);
///
/// impl KeyPart for UserId {
///     fn encode(&self, slot: PartSlot<'_>) -> Result<EncodedPart, KeyPartError> {
///         self.0.encode(slot)
///     }
/// }
///
/// const CHARGE: Operation = Operation::declare("create-charge", 1);
/// assert_eq!(key!(CHARGE; user = UserId(7)), key!(CHARGE; user = 7));
/// ```
///
/// A type of several fields is a tuple of them: `(&self.country, &self.number).encode(slot)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "may differ between retries of one request, or does not identify anything",
    note = "a key made of a point in time, a duration, a float or an attempt number changes from retry to retry and protects nothing: use the id of what is acted on (an order, an invoice, a message)",
    note = "an amount or a calendar date that belongs to the request can be a part as an integer or as text, such as `amount_in_cents` or `date.to_string()`",
    note = "`HashMap` and `HashSet` have no order: collect into a `BTreeSet` or a sorted `Vec` of parts",
    note = "for a type of your own, implement `KeyPart` and delegate to the id inside it"
)]
pub trait KeyPart {
    /// Writes the value into its place in the key.
    ///
    /// # Errors
    ///
    /// [`KeyPartError`], naming the part, when there is no value: `None`, empty or all-blank text, an empty list.
    fn encode(&self, slot: PartSlot<'_>) -> Result<EncodedPart, KeyPartError>;
}

#[cfg(test)]
mod tests;
